/** Which panels of a problem a measurement hides: the last one, or some at random. */
import { MATRIX_PANELS, Random } from '../matrix/index.js';
import type { StatisticsKey } from '../solver/index.js';

/** The one panel that RAVEN's problems ask for. */
export const LAST = MATRIX_PANELS;

/** As many random positions, 1..9, rising. */
export const drawMissing = (random: Random, targets: number): number[] =>
  random
    .subset(MATRIX_PANELS, targets)
    .map((place) => place + 1)
    .sort((a, b) => a - b);

/** What statistics are made for: the last panel, and each of some numbers of random ones. */
export const statisticsKeys = (targetCounts: readonly number[]): StatisticsKey[] => [
  'last',
  ...targetCounts.map((count): StatisticsKey => `targets${count}`),
];

/** What is hidden of a problem for these statistics. */
export function missingFor(key: StatisticsKey, seed: number, problem: number): number[] {
  if (key === 'last') return [LAST];
  const targets = Number(key.slice('targets'.length));
  return drawMissing(new Random(seed, problem, targets), targets);
}
