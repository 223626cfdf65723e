/** Lets Ctrl-C be heard in the middle of a long computation. */

/** Longest time, in milliseconds, in which nothing else is heard. */
const MOST_UNHEARD = 50;

/** Called again and again in a long work: gives way to events now and then, and throws after Ctrl-C. */
export type Pause = () => Promise<void>;

export function pauseNowAndThen(signal: AbortSignal): Pause {
  let last = performance.now();
  return async () => {
    if (performance.now() - last < MOST_UNHEARD) return;
    await new Promise(setImmediate);
    signal.throwIfAborted();
    last = performance.now();
  };
}
