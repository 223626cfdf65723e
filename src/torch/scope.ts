/**
 * Who frees a tensor. `dispose()`, the end of the scope it was made in, or the collector, whichever comes
 * first. `scope(fn)` frees every tensor made while `fn` runs, except what `fn` returns (a tensor, or
 * arrays, sets, maps and objects of tensors) and what was given to `keep()`. Scopes nest: what an inner
 * one returns belongs to the outer one. Outside of any scope the collector alone frees tensors; it is
 * told their size, so that it acts in time.
 */
import { synchronous } from './handle.js';
import { native } from './native.js';

/** What a scope needs of a tensor. */
export interface Scoped {
  /** The scope that will free it. */
  owner: Scope | null;
  dispose(): void;
}

/** The tensors made in one run of a function, in order. */
export class Scope {
  readonly #tensors: Scoped[] = [];

  add(tensor: Scoped): void {
    tensor.owner = this;
    this.#tensors.push(tensor);
  }

  /** Frees what still belongs to this scope. */
  end(): void {
    for (const tensor of this.#tensors) if (tensor.owner === this) tensor.dispose();
  }
}

let current: Scope | null = null;

/** Every new tensor passes here. */
export function track(tensor: Scoped): void {
  current?.add(tensor);
}

/** Takes a tensor out of its scope: only `dispose()` or the collector frees it. */
export function keep<T extends Scoped>(tensor: T): T {
  tensor.owner = null;
  return tensor;
}

function isScoped(value: object): value is Scoped {
  return 'owner' in value && 'dispose' in value;
}

/** Calls `visit` for every tensor in a value: itself, or inside arrays, sets, maps and objects. */
function forEachTensor(value: unknown, visit: (tensor: Scoped) => void, seen: Set<object>): void {
  if (typeof value !== 'object' || value === null || seen.has(value) || ArrayBuffer.isView(value))
    return;
  seen.add(value);
  if (isScoped(value)) {
    visit(value);
    return;
  }
  const children =
    value instanceof Map || value instanceof Set ? value.values() : Object.values(value);
  for (const child of children) forEachTensor(child, visit, seen);
}

/**
 * Runs `fn` and frees the tensors it made, except those it returns or keeps; on an error, all of them.
 * `fn` must be synchronous: a returned promise is an error.
 */
export function scope<T>(fn: () => T): T {
  const outer = current;
  const inner = new Scope();
  current = inner;
  try {
    const result = synchronous('scope', fn);
    const handOver = (tensor: Scoped): void => {
      if (tensor.owner !== inner) return;
      if (outer) outer.add(tensor);
      else tensor.owner = null;
    };
    forEachTensor(result, handOver, new Set());
    return result;
  } finally {
    current = outer;
    inner.end();
  }
}

/** Tensors that JavaScript holds in this thread, and the bytes behind them (shared memory counted once). */
export function liveTensors(): { tensors: number; bytes: number } {
  return native().liveHandles();
}
