/** Values that are worked out elsewhere and take a while, as signals. */
import { effect, signal, type ReadonlySignal } from '@preact/signals';
import { messageOf } from '../../base/index.js';

export { messageOf };

export interface Resource<T> {
  /** Null until it is there. */
  readonly value: T | null;
  /** One sentence; null where nothing is wrong. */
  readonly fault: string | null;
  readonly pending: boolean;
}

const EMPTY = { value: null, fault: null, pending: false };

/**
 * Follows what `ask` reads: whenever a signal in it changes, the work it returns is started, and what
 * older work gives is dropped. Null means that there is nothing to work out. The last value stays until
 * the next is there as long as `subject` is the same, and goes at once when it changes.
 */
export function resource<T>(
  ask: () => (() => Promise<T>) | null,
  subject: () => unknown = () => Symbol(),
): ReadonlySignal<Resource<T>> {
  const result = signal<Resource<T>>(EMPTY);
  let current = 0;
  let about: unknown;
  effect(() => {
    const work = ask();
    const now = subject();
    const mine = ++current;
    const value = now === about ? result.peek().value : null;
    about = now;
    if (work === null) {
      result.value = EMPTY;
      return;
    }
    result.value = { value, fault: null, pending: true };
    work().then(
      (value) => {
        if (mine === current) result.value = { value, fault: null, pending: false };
      },
      (error: unknown) => {
        if (mine === current)
          result.value = { value: null, fault: messageOf(error), pending: false };
      },
    );
  });
  return result;
}
