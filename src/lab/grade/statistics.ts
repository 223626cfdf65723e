/**
 * Classical test theory on a table of right (1) and wrong (0) answers, respondents down, items across.
 * Statistics that do not exist for the data (no variance, too few) are null rather than numbers.
 */
import type { Interval } from '../../base/index.js';
import type { Reliability } from './result.js';
import { Bootstrap, sumOf, varianceOf } from '../statistics.js';

/** [respondent][item], 0 or 1. */
export type ScoreTable = readonly (readonly number[])[];

export const totalsOf = (table: ScoreTable): number[] => table.map(sumOf);

/** Scores of the respondents on one item. */
export const columnOf = (table: ScoreTable, item: number): number[] =>
  table.map((row) => row[item]);

/** Variances of all items. */
const itemVariances = (table: ScoreTable): number[] =>
  table[0].map((_, item) => varianceOf(columnOf(table, item)) ?? 0);

function alphaOf(items: number, parts: number, total: number | null): number | null {
  if (items < 2 || total === null || total < 1e-12) return null;
  return (items / (items - 1)) * (1 - parts / total);
}

/**
 * Cronbach's alpha, k / (k - 1) (1 - sum of item variances / variance of totals); for items scored 0 or
 * 1 it is Kuder and Richardson's formula 20. Null for fewer than two items or equal totals.
 */
export const cronbachAlpha = (table: ScoreTable): number | null =>
  alphaOf(table[0].length, sumOf(itemVariances(table)), varianceOf(totalsOf(table)));

/** For each item, alpha of the test without it. */
export function alphasWithout(table: ScoreTable): (number | null)[] {
  if (table.length < 2) return table[0].map(() => null);
  const variances = itemVariances(table);
  const parts = sumOf(variances);
  const totals = totalsOf(table);
  return variances.map((variance, item) => {
    const rest = restOf(table, totals, item);
    return alphaOf(variances.length - 1, parts - variance, varianceOf(rest));
  });
}

/** Scores on all items but one. */
export const restOf = (table: ScoreTable, totals: readonly number[], item: number): number[] =>
  totals.map((total, r) => total - table[r][item]);

const RESAMPLES = 1000;
const FEWEST_RESAMPLES = 100;
/** Scores looked at in all resamples together: large tables need fewer, and get fewer. */
const MOST_WORK = 1e8;

/**
 * Alpha if each respondent is drawn so many times, by sums alone: with a table of its own for each resample,
 * a hundred thousand respondents would take minutes. Scores are 0 or 1, so their squares are themselves.
 */
function alphaOfDraws(table: ScoreTable): (times: ArrayLike<number>) => number | null {
  const [count, items] = [table.length, table[0].length];
  const scores = Uint8Array.from(table.flat());
  const totals = totalsOf(table);
  const variance = (sum: number, squares: number): number =>
    (squares - (sum * sum) / count) / (count - 1);
  return (times) => {
    const sums = new Float64Array(items);
    let [sum, squares] = [0, 0];
    for (let r = 0; r < count; r++) {
      for (let i = 0; i < items; i++) sums[i] += times[r] * scores[r * items + i];
      sum += times[r] * totals[r];
      squares += times[r] * totals[r] * totals[r];
    }
    const parts = sums.reduce((all, right) => all + variance(right, right), 0);
    return alphaOf(items, parts, variance(sum, squares));
  };
}

/**
 * From so many respondents on alpha gets an interval. With fewer it misses the true alpha too often:
 * `bench/alpha-interval.ts` measures it.
 */
export const FEWEST_FOR_INTERVAL = 20;

/** The interval in words, or why there is none. */
export const intervalWords = ({ low, high }: Reliability): string =>
  low === null
    ? `no interval: it takes ${FEWEST_FOR_INTERVAL} respondents`
    : `95% interval ${low.toFixed(2)} to ${high.toFixed(2)}`;

/** The 95% interval of alpha by bootstrap over respondents; null if it is defined in no resample. */
export function alphaInterval(table: ScoreTable): Interval | null {
  const affordable = Math.floor(MOST_WORK / (table.length * table[0].length));
  const resamples = Math.min(RESAMPLES, Math.max(FEWEST_RESAMPLES, affordable));
  return new Bootstrap(table.length, resamples).interval(alphaOfDraws(table));
}

/** Alpha, with its interval if there are enough respondents for one. */
export function reliability(table: ScoreTable): Reliability | null {
  const value = cronbachAlpha(table);
  if (value === null) return null;
  if (table.length < FEWEST_FOR_INTERVAL) return { value, low: null, high: null };
  return { value, ...(alphaInterval(table) ?? { low: value, high: value }) };
}
