/**
 * Adjusted Rand index (Hubert and Arabie 1985): agreement of two partitions of the same items,
 * 1 for equal partitions whatever their labels, about 0 for independent ones.
 */
import { ModelError } from '../errors.js';

const pairs = (count: number): number => (count * (count - 1)) / 2;

function tally(keys: Iterable<string | number>): Map<string | number, number> {
  const counts = new Map<string | number, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

const sumOfPairs = (counts: Map<string | number, number>): number =>
  [...counts.values()].reduce((sum, count) => sum + pairs(count), 0);

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
  const a = Array.from(first, (label) => `${label}`);
  const b = Array.from(second, (label) => `${label}`);
  const together = sumOfPairs(tally(a.map((label, i) => JSON.stringify([label, b[i]]))));
  const inFirst = sumOfPairs(tally(a));
  const inSecond = sumOfPairs(tally(b));
  const all = pairs(a.length);
  const expected = all === 0 ? 0 : (inFirst * inSecond) / all;
  const greatest = (inFirst + inSecond) / 2;
  // Both partitions trivial (all alone or all together): they are equal.
  return greatest === expected ? 1 : (together - expected) / (greatest - expected);
}
