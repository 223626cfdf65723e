/**
 * How often the 95% interval of Cronbach's alpha holds the true alpha, by the number of respondents.
 *
 *     npx tsx bench/alpha-interval.ts [--tests 300] [--seed 1]
 *
 * Simulated tests of 6, 12 and 24 items with eight candidates: a respondent of ability a knows item i of
 * difficulty d with probability 1 / (1 + exp(d - a)), and guesses if not; a and d are standard normal. The true
 * alpha is that of 20,000 respondents. Answers that have no alpha, such as equal totals, are not counted.
 */
import { parseArgs } from 'node:util';
import { alphaInterval, cronbachAlpha, type ScoreTable } from '../src/lab/grade/statistics.js';
import { Random } from '../src/matrix/random.js';

const { values } = parseArgs({
  options: {
    tests: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
  },
});
const random = new Random(Number(values.seed), 0);
const uniform = (): number => (random.below(1 << 24) + 0.5) / (1 << 24);
const normal = (): number =>
  Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
const normals = (count: number): number[] => Array.from({ length: count }, normal);

function answers(respondents: number, difficulties: readonly number[]): ScoreTable {
  return normals(respondents).map((ability) =>
    difficulties.map((difficulty) => {
      const known = 1 / (1 + Math.exp(difficulty - ability));
      return Number(uniform() < known + (1 - known) / 8);
    }),
  );
}

console.log('| respondents | intervals | hold the true alpha |\n|---:|---:|---:|');
const tests = [6, 12, 24].map((items) => {
  const difficulties = normals(items);
  return { difficulties, alpha: cronbachAlpha(answers(20_000, difficulties)) ?? NaN };
});
for (const respondents of [2, 5, 10, 20, 50]) {
  let [intervals, held] = [0, 0];
  for (const { difficulties, alpha } of tests) {
    for (let n = 0; n < Number(values.tests); n++) {
      const table = answers(respondents, difficulties);
      const interval = cronbachAlpha(table) === null ? null : alphaInterval(table);
      if (interval === null) continue;
      intervals++;
      if (interval.low <= alpha && alpha <= interval.high) held++;
    }
  }
  console.log(`| ${respondents} | ${intervals} | ${((100 * held) / intervals).toFixed(0)}% |`);
}
