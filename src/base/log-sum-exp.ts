/** log of the sum of exp(value): numbers that are too large or too small for exp by themselves are fine. */
export function logSumExp(values: ArrayLike<number>): number {
  let most = -Infinity;
  for (let i = 0; i < values.length; i++) most = Math.max(most, values[i]);
  if (most === -Infinity) return most;
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += Math.exp(values[i] - most);
  return most + Math.log(sum);
}
