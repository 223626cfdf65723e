/** What is asked of a list of numbers. */

/** The index of the largest value, the first of several. */
export function indexOfLargest(values: ArrayLike<number>): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
}

/** Whether two lists of one length hold the same numbers. */
export function areEqual(a: Int32Array, b: Int32Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** How many values a shape has. */
export const productOf = (sizes: readonly number[]): number =>
  sizes.reduce((product, size) => product * size, 1);

/** The middle value; of an even number of values the mean of the two in the middle, of none NaN. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

/** log of the sum of exp(value): numbers that are too large or too small for exp by themselves are fine. */
export function logSumExp(values: ArrayLike<number>): number {
  let most = -Infinity;
  for (let i = 0; i < values.length; i++) most = Math.max(most, values[i]);
  if (most === -Infinity) return most;
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += Math.exp(values[i] - most);
  return most + Math.log(sum);
}
