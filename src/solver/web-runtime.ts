/**
 * ONNX Runtime's WebAssembly builds, as this package ships them: dist/runtime, written by
 * scripts/build-runtime.mjs. Each is one module that holds everything, so bundlers and development
 * servers need no configuration, and nothing is fetched from an address of its own.
 */
import type * as Ort from 'onnxruntime-common';

interface RuntimeModule {
  readonly InferenceSession: typeof Ort.InferenceSession;
  readonly Tensor: typeof Ort.Tensor;
  readonly env: Ort.Env;
  /** The text of the script that starts the .wasm. */
  readonly glue: string;
  /** The .wasm, gzipped. */
  readonly compressed: Uint8Array<ArrayBuffer>;
}

/**
 * The distance to dist/ is the same from src/ and from dist/. `satisfies` keeps the compiler from looking for
 * types, which are not there; bundlers see the plain text.
 */
const MODULES = {
  wasm: () => import('../../dist/runtime/wasm.js' satisfies string) as Promise<RuntimeModule>,
  webgpu: () => import('../../dist/runtime/webgpu.js' satisfies string) as Promise<RuntimeModule>,
};
type WebRuntime = keyof typeof MODULES;

interface WebRuntimeOptions {
  /** More than one needs a cross-origin isolated page; 0 lets the runtime choose. */
  readonly threads: number;
  /** A folder with onnxruntime-web's own .mjs and .wasm files, to take instead of ours. */
  readonly wasmPaths?: string;
  /** The address of the glue; a browser makes one of its text. */
  readonly glueUrl?: string;
}

async function inflated(compressed: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

/** Threads start from the same address, so it is never revoked. */
const addressOf = (glue: string): string =>
  URL.createObjectURL(new Blob([glue], { type: 'text/javascript' }));

/** ONNX Runtime on WebAssembly. It is set up once; a later call gets the same one. */
export async function webRuntime(
  kind: WebRuntime,
  { threads, wasmPaths, glueUrl }: WebRuntimeOptions,
): Promise<RuntimeModule> {
  const runtime = await MODULES[kind]();
  const { env, glue, compressed } = runtime;
  env.logLevel = 'error';
  env.wasm.numThreads = threads;
  if (wasmPaths !== undefined) env.wasm.wasmPaths = wasmPaths;
  else if (env.wasm.wasmBinary === undefined) {
    env.wasm.wasmPaths = { mjs: glueUrl ?? addressOf(glue) };
    env.wasm.wasmBinary = await inflated(compressed);
  }
  return runtime;
}
