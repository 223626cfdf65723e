/**
 * Adjusted Rand index from counts, for resamples in which a problem may stand several times: the same
 * value as `adjustedRandIndex` of the labels, each repeated so often.
 */

/** Labels as numbers 0 .. kinds - 1, in the order they first appear. */
export interface Coded {
  readonly codes: Int32Array;
  readonly kinds: number;
}

export function codesOf(labels: readonly (string | number)[]): Coded {
  const known = new Map<string | number, number>();
  const codes = Int32Array.from(labels, (label) => {
    const code = known.get(label) ?? known.size;
    known.set(label, code);
    return code;
  });
  return { codes, kinds: known.size };
}

const pairs = (count: number): number => (count * (count - 1)) / 2;

function sumOfPairs(counts: Float64Array): number {
  let sum = 0;
  for (const count of counts) sum += pairs(count);
  return sum;
}

/** ARI of two partitions in which item i stands `times[i]` times. */
export function weightedRandIndex(a: Coded, b: Coded, times: ArrayLike<number>): number {
  const together = new Float64Array(a.kinds * b.kinds);
  const inFirst = new Float64Array(a.kinds);
  const inSecond = new Float64Array(b.kinds);
  let total = 0;
  for (let i = 0; i < times.length; i++) {
    const weight = times[i];
    together[a.codes[i] * b.kinds + b.codes[i]] += weight;
    inFirst[a.codes[i]] += weight;
    inSecond[b.codes[i]] += weight;
    total += weight;
  }
  const [first, second] = [sumOfPairs(inFirst), sumOfPairs(inSecond)];
  const expected = (first * second) / pairs(total);
  const greatest = (first + second) / 2;
  return greatest === expected ? 1 : (sumOfPairs(together) - expected) / (greatest - expected);
}
