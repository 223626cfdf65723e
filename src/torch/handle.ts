/** The base of classes that hold a native object, and checks of arguments that should be such or options. */
import { TorchError } from './errors.js';
import type { GeneratorHandle, TensorHandle } from './native.js';

export abstract class Holder<Handle extends TensorHandle | GeneratorHandle> {
  #handle: Handle | null;

  protected constructor(handle: Handle) {
    this.#handle = handle;
  }

  /** The native object; throws if it was freed. `op` is named in the error. */
  handleFor(op: string): Handle {
    if (this.#handle === null) throw new TorchError(op, 'the tensor has been freed');
    return this.#handle;
  }

  /** Whether it was freed, by `dispose()` or by the end of its scope. */
  get isFreed(): boolean {
    return this.#handle === null;
  }

  /** Forgets the native object and returns it, or null if that was done before. */
  protected releaseHandle(): Handle | null {
    const handle = this.#handle;
    this.#handle = null;
    return handle;
  }
}

/** The native object of an argument that should be a tensor; throws, naming `op`, where it is none. */
export function tensorHandle(op: string, value: unknown): TensorHandle {
  if (!(value instanceof Holder)) throw new TorchError(op, 'expected a tensor');
  return (value as Holder<TensorHandle>).handleFor(op);
}

export function tensorHandles(op: string, values: unknown): TensorHandle[] {
  if (!Array.isArray(values)) throw new TorchError(op, 'expected an array of tensors');
  return values.map((value) => tensorHandle(op, value));
}

/** The named options of an operation; TorchError where something else stands in their place. */
export function optionsFor<T extends object>(op: string, options: T): T {
  if (typeof options === 'object' && (options as T | null) !== null) return options;
  throw new TorchError(op, 'expected its options as an object');
}

/** Options with defaults for those that are not given, or undefined. */
export function withDefaults<T extends object>(defaults: T, given: Partial<T>): T {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(entries) };
}

/** What a function returns, which must not be a promise: what surrounds the call would end too early. */
export function synchronous<T>(op: string, fn: () => T): T {
  const result = fn();
  if (typeof result === 'object' && result !== null && 'then' in result) {
    throw new TorchError(op, 'the function returned a promise; it must be synchronous');
  }
  return result;
}

/** Of an argument that is a chance. */
export function requireProbability(operation: string, p: number): void {
  const isProbability = typeof p === 'number' && p >= 0 && p <= 1;
  if (!isProbability) throw new TorchError(operation, `p = ${String(p)}: expected 0 to 1`);
}
