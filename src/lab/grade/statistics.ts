/**
 * Classical test theory on a table of right (1) and wrong (0) answers, respondents down, items across.
 * Statistics that do not exist for the data (no variance, too few) are null rather than numbers.
 */
import { Random } from '../../matrix/index.js';
import type { Measured } from '../evaluation.js';
import { meanOf, sumOf } from '../numbers.js';

/** [respondent][item], 0 or 1. */
export type ScoreTable = readonly (readonly number[])[];

/** With n - 1 in the denominator; null for fewer than two values. */
export function varianceOf(values: readonly number[]): number | null {
  if (values.length < 2) return null;
  const mean = meanOf(values);
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
}

/** Pearson's correlation; with one variable of 0 and 1 it is the point-biserial one. */
export function correlation(x: readonly number[], y: readonly number[]): number | null {
  const [mx, my] = [meanOf(x), meanOf(y)];
  let [xy, xx, yy] = [0, 0, 0];
  x.forEach((value, i) => {
    xy += (value - mx) * (y[i] - my);
    xx += (value - mx) ** 2;
    yy += (y[i] - my) ** 2;
  });
  // Rounding leaves a trace where nothing varies.
  const least = 1e-12 * x.length;
  return xx < least || yy < least ? null : xy / Math.sqrt(xx * yy);
}

export const totalsOf = (table: ScoreTable): number[] => table.map(sumOf);

/** Scores of the respondents on one item. */
export const columnOf = (table: ScoreTable, item: number): number[] =>
  table.map((row) => row[item]);

/** Variances of all items at once, for tables of any size. */
function itemVariances(table: ScoreTable): number[] {
  const count = table.length;
  const sums = new Float64Array(table[0].length);
  const squares = new Float64Array(table[0].length);
  for (const row of table) {
    row.forEach((score, i) => {
      sums[i] += score;
      squares[i] += score * score;
    });
  }
  return Array.from(sums, (sum, i) => (squares[i] - (sum * sum) / count) / (count - 1));
}

function alphaOf(items: number, parts: number, total: number | null): number | null {
  if (items < 2 || total === null || total < 1e-12) return null;
  return (items / (items - 1)) * (1 - parts / total);
}

/**
 * Cronbach's alpha, k / (k - 1) (1 - sum of item variances / variance of totals); for items scored 0 or
 * 1 it is Kuder and Richardson's formula 20. Null for fewer than two items or equal totals.
 */
export function cronbachAlpha(table: ScoreTable): number | null {
  const total = varianceOf(totalsOf(table));
  return total === null ? null : alphaOf(table[0].length, sumOf(itemVariances(table)), total);
}

/** For each item, alpha of the test without it. */
export function alphasWithout(table: ScoreTable): (number | null)[] {
  if (table.length < 2) return table[0].map(() => null);
  const variances = itemVariances(table);
  const parts = sumOf(variances);
  const totals = totalsOf(table);
  return variances.map((variance, item) => {
    const rest = totals.map((total, r) => total - table[r][item]);
    return alphaOf(variances.length - 1, parts - variance, varianceOf(rest));
  });
}

/** Scores on all items but one. */
export const restOf = (table: ScoreTable, totals: readonly number[], item: number): number[] =>
  totals.map((total, r) => total - table[r][item]);

/**
 * Corrected item-total correlation: of an item's scores with the scores on all other items, so that the
 * item does not agree with itself.
 */
export const discrimination = (
  table: ScoreTable,
  totals: readonly number[],
  item: number,
): number | null => correlation(columnOf(table, item), restOf(table, totals, item));

const RESAMPLES = 1000;
const FEWEST_RESAMPLES = 100;
/** Scores looked at in all resamples together: large tables need fewer, and get fewer. */
const MOST_WORK = 1e8;
const BOOTSTRAP_SEED = 20_231;

/**
 * Alpha of as many respondents drawn again, by sums alone: with a table of its own for each resample, a
 * hundred thousand respondents would take minutes. Scores are 0 or 1, so their squares are themselves.
 */
function resamplerOf(table: ScoreTable): (draw: () => number) => number | null {
  const [count, items] = [table.length, table[0].length];
  const scores = Uint8Array.from(table.flat());
  const totals = totalsOf(table);
  const variance = (sum: number, squares: number): number =>
    (squares - (sum * sum) / count) / (count - 1);
  return (draw) => {
    const sums = new Float64Array(items);
    let [sum, squares] = [0, 0];
    for (let r = 0; r < count; r++) {
      const drawn = draw();
      for (let i = 0; i < items; i++) sums[i] += scores[drawn * items + i];
      sum += totals[drawn];
      squares += totals[drawn] * totals[drawn];
    }
    const parts = sums.reduce((all, right) => all + variance(right, right), 0);
    return alphaOf(items, parts, variance(sum, squares));
  };
}

/** Alpha with its 95% interval by bootstrap over respondents. */
export function reliability(table: ScoreTable): Measured | null {
  const value = cronbachAlpha(table);
  if (value === null) return null;
  const random = new Random(BOOTSTRAP_SEED);
  const found: number[] = [];
  const affordable = Math.floor(MOST_WORK / (table.length * table[0].length));
  const resamples = Math.min(RESAMPLES, Math.max(FEWEST_RESAMPLES, affordable));
  const resample = resamplerOf(table);
  for (let i = 0; i < resamples; i++) {
    const alpha = resample(() => random.between(0, table.length - 1));
    if (alpha !== null) found.push(alpha);
  }
  found.sort((a, b) => a - b);
  const at = (share: number): number => found[Math.round(share * (found.length - 1))];
  return found.length === 0
    ? { value, low: value, high: value }
    : { value, low: at(0.025), high: at(0.975) };
}
