/** Coalescing of calls that come faster than they are answered. */

/**
 * A function that runs one call at a time and, of those asked for meanwhile, only the newest: for
 * sliders and drags, which ask faster than a model answers. Superseded calls never settle.
 */
export function newestOnly<Given extends readonly unknown[], Value>(
  run: (...given: Given) => Promise<Value>,
): (...given: Given) => Promise<Value> {
  let busy = false;
  let next: (() => void) | null = null;
  const start = (begin: () => Promise<void>): void => {
    busy = true;
    void begin().finally(() => {
      busy = false;
      const following = next;
      next = null;
      following?.();
    });
  };
  return (...given) =>
    new Promise<Value>((resolve, reject) => {
      const begin = (): void => start(() => run(...given).then(resolve, reject));
      if (busy) next = begin;
      else begin();
    });
}
