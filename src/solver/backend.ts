/**
 * Running a network, whatever runs it. One implementation over ONNX Runtime's common interface serves
 * its native build and its WebAssembly builds; the module is handed in.
 */
import type * as Ort from 'onnxruntime-common';
import { firstLineOf } from '../base/index.js';
import { BundleError, SolverError } from './errors.js';
import { checkOnnx } from './onnx-check.js';

/** A dense f32 tensor. */
export interface Tensor {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

/** A size that must be just so, or null for the size of the batch. */
export type ExpectedShape = readonly (number | null)[];

/** Names and shapes of a network's inputs and outputs. */
export interface Signature {
  readonly inputs: Readonly<Record<string, ExpectedShape>>;
  readonly outputs: Readonly<Record<string, ExpectedShape>>;
}

/** A loaded network. */
export interface Network {
  run(inputs: Readonly<Record<string, Tensor>>): Promise<Record<string, Tensor>>;
  dispose(): Promise<void>;
}

interface NetworkOptions {
  /** Whether it runs best on one thread. */
  readonly oneThread?: boolean;
}

/** Something that loads networks. */
export interface Backend {
  /** `node` (native), `wasm` or `webgpu`. */
  readonly name: string;
  load(
    name: string,
    bytes: Uint8Array,
    signature: Signature,
    options?: NetworkOptions,
  ): Promise<Network>;
}

export type OrtModule = Pick<typeof Ort, 'InferenceSession' | 'Tensor'>;

const fits = (shape: readonly (number | string)[], expected: ExpectedShape): boolean =>
  shape.length === expected.length &&
  expected.every((size, i) => (size === null ? typeof shape[i] !== 'number' : shape[i] === size));

function checkValues(
  name: string,
  kind: string,
  found: readonly Ort.InferenceSession.ValueMetadata[],
  expected: Readonly<Record<string, ExpectedShape>>,
): void {
  const wanted = Object.keys(expected);
  const names = found.map((value) => value.name);
  if (names.length !== wanted.length || wanted.some((each) => !names.includes(each))) {
    throw new BundleError(
      `${name}: its ${kind}s are ${names.join(', ')}, not ${wanted.join(', ')}`,
    );
  }
  for (const value of found) {
    const tensor = value.isTensor ? value : null;
    if (tensor?.type !== 'float32' || !fits(tensor.shape, expected[value.name])) {
      const shape = expected[value.name].map((size) => size ?? 'N').join(', ');
      throw new BundleError(`${name}: the ${kind} ${value.name} is not of f32 [${shape}]`);
    }
  }
}

/** A plain loop: `every` with a function takes ten times as long on pictures. */
function allFinite(values: Float32Array): boolean {
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) return false;
  return true;
}

class OrtNetwork implements Network {
  /** The call before; runs of one session are kept in order. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    readonly name: string,
    readonly ort: OrtModule,
    readonly session: Ort.InferenceSession,
  ) {}

  run(inputs: Readonly<Record<string, Tensor>>): Promise<Record<string, Tensor>> {
    const result = this.#last.then(() => this.#run(inputs));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #run(inputs: Readonly<Record<string, Tensor>>): Promise<Record<string, Tensor>> {
    const feeds: Record<string, Ort.Tensor> = {};
    for (const [key, { data, shape }] of Object.entries(inputs)) {
      feeds[key] = new this.ort.Tensor('float32', data, shape);
    }
    let results: Ort.InferenceSession.ReturnType;
    try {
      results = await this.session.run(feeds);
    } catch (cause) {
      throw new SolverError(`${this.name} failed: ${firstLineOf(cause)}`, { cause });
    }
    const outputs: Record<string, Tensor> = {};
    for (const [key, value] of Object.entries(results)) {
      const data = await value.getData();
      if (!(data instanceof Float32Array)) throw new SolverError(`${this.name}: ${key} is not f32`);
      if (!allFinite(data)) {
        throw new SolverError(`${this.name}: ${key} holds values that are not finite`);
      }
      outputs[key] = { data, shape: value.dims };
    }
    return outputs;
  }

  async dispose(): Promise<void> {
    await this.#last;
    await this.session.release();
  }
}

/** ONNX Runtime as a backend; `options`, and `settings` by the runtime's own keys, go to every session. */
export function ortBackend(
  name: string,
  ort: OrtModule,
  options: Omit<Ort.InferenceSession.SessionOptions, 'extra'>,
  settings: Readonly<Record<string, unknown>> = {},
): Backend {
  const sessionOptions: Ort.InferenceSession.SessionOptions = {
    graphOptimizationLevel: 'all',
    ...options,
    // Weights stored as int8 are turned to f32 once at loading, not at every run.
    extra: { session: { disable_quant_qdq: '1', ...settings } },
  };
  return {
    name,
    load: async (file, bytes, signature, { oneThread = false } = {}) => {
      checkOnnx(bytes);
      let session: Ort.InferenceSession;
      try {
        session = await ort.InferenceSession.create(bytes, {
          ...sessionOptions,
          ...(oneThread ? { intraOpNumThreads: 1 } : {}),
        });
      } catch (cause) {
        throw new BundleError(`${file} cannot be run: ${firstLineOf(cause)}`, { cause });
      }
      try {
        checkValues(file, 'input', session.inputMetadata, signature.inputs);
        checkValues(file, 'output', session.outputMetadata, signature.outputs);
      } catch (error) {
        await session.release();
        throw error;
      }
      return new OrtNetwork(file, ort, session);
    },
  };
}
