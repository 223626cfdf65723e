/**
 * Adjusted Rand index (Hubert and Arabie 1985): agreement of two partitions of the same items,
 * 1 for equal partitions whatever their labels, about 0 for independent ones.
 */
import { ModelError } from '../errors.js';

/** Labels as numbers 0 .. kinds - 1, in the order they first appear. */
export interface Coded {
  readonly codes: Int32Array;
  readonly kinds: number;
}

export function codesOf(labels: ArrayLike<string | number>): Coded {
  const known = new Map<string, number>();
  const codes = Int32Array.from(labels as ArrayLike<unknown>, (label) => {
    const code = known.get(String(label)) ?? known.size;
    known.set(String(label), code);
    return code;
  });
  return { codes, kinds: known.size };
}

const pairs = (count: number): number => (count * (count - 1)) / 2;

const sumOfPairs = (counts: Float64Array): number =>
  counts.reduce((sum, count) => sum + pairs(count), 0);

/** ARI of two partitions in which item i stands `times[i]` times, as in a resample; once unless told. */
export function codedRandIndex(a: Coded, b: Coded, times?: ArrayLike<number>): number {
  const together = new Float64Array(a.kinds * b.kinds);
  const inFirst = new Float64Array(a.kinds);
  const inSecond = new Float64Array(b.kinds);
  let total = 0;
  for (let i = 0; i < a.codes.length; i++) {
    const weight = times === undefined ? 1 : times[i];
    together[a.codes[i] * b.kinds + b.codes[i]] += weight;
    inFirst[a.codes[i]] += weight;
    inSecond[b.codes[i]] += weight;
    total += weight;
  }
  const [first, second] = [sumOfPairs(inFirst), sumOfPairs(inSecond)];
  const expected = total < 2 ? 0 : (first * second) / pairs(total);
  const greatest = (first + second) / 2;
  // Both partitions trivial (all alone or all together): they are equal.
  return greatest === expected ? 1 : (sumOfPairs(together) - expected) / (greatest - expected);
}

/** ARI of two label lists of equal length; labels may be any numbers or strings. */
export function adjustedRandIndex(
  first: ArrayLike<number | string>,
  second: ArrayLike<number | string>,
): number {
  if (first.length !== second.length) {
    throw new ModelError(
      `adjustedRandIndex: ${first.length} labels beside ${second.length}: the partitions must be of the same items`,
    );
  }
  return codedRandIndex(codesOf(first), codesOf(second));
}
