/**
 * ONNX Runtime in Node, loaded when first needed: the native one if it is installed and loads, else the
 * WebAssembly one of this package, which runs anywhere and takes about five times as long.
 */
import { firstLineOf } from '../../base/index.js';
import { ortBackend, type Backend, type OrtModule } from '../backend.js';
import { ArgumentError } from '../../matrix/index.js';
import { webRuntime } from '../web-runtime.js';

/** What the environment may ask for: `native` or `wasm`; nothing takes the best there is. */
export const RUNTIME_VARIABLE = 'CRAB_ONNX_RUNTIME';

export interface NodeRuntime {
  readonly kind: 'native' | 'wasm';
  readonly version: string;
  readonly ort: OrtModule;
  /** Why the native one is not used; null if it is, or if another was asked for. */
  readonly nativeFault: string | null;
}

async function nativeRuntime(): Promise<NodeRuntime> {
  const ort = await import('onnxruntime-node');
  const version = ort.env.versions.node ?? ort.env.versions.common;
  return { kind: 'native', version, ort, nativeFault: null };
}

async function wasmRuntime(nativeFault: string | null): Promise<NodeRuntime> {
  const glueUrl = new URL('../../../dist/runtime/wasm-glue.mjs', import.meta.url).href;
  const ort = await webRuntime('wasm', { threads: 1, glueUrl });
  return { kind: 'wasm', version: ort.env.versions.common, ort, nativeFault };
}

/** Why the native one cannot be had, in a few words. */
function faultOf(error: unknown): string {
  const isAbsent =
    error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
  return isAbsent ? 'it is not installed' : firstLineOf(error);
}

async function chooseRuntime(): Promise<NodeRuntime> {
  const asked = process.env[RUNTIME_VARIABLE] || undefined;
  if (asked === 'wasm') return wasmRuntime(null);
  if (asked !== undefined && asked !== 'native') {
    throw new ArgumentError(`${RUNTIME_VARIABLE}=${asked}: expected native or wasm`);
  }
  try {
    return await nativeRuntime();
  } catch (error) {
    if (asked === 'native') throw error;
    return wasmRuntime(faultOf(error));
  }
}

let chosen: Promise<NodeRuntime> | null = null;

/** The ONNX Runtime of this process. */
export const nodeRuntime = (): Promise<NodeRuntime> => (chosen ??= chooseRuntime());

export async function nodeBackend(threads?: number): Promise<Backend> {
  const { kind, ort } = await nodeRuntime();
  if (kind === 'wasm') return ortBackend('wasm', ort, { executionProviders: ['wasm'] });
  const options = {
    executionProviders: ['cpu'],
    ...(threads === undefined ? {} : { intraOpNumThreads: threads }),
    logSeverityLevel: 3,
  } as const;
  // Threads sleep while they have nothing to do: spinning ones take the cores that other work needs,
  // and if those are busy a network takes twice as long.
  return ortBackend('node', ort, options, { intra_op: { allow_spinning: '0' } });
}
