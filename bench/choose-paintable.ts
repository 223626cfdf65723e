/**
 * What choosing gains if candidates that are tied by their descriptions are painted, and how often that is done:
 * by which `src/solver/ties.ts` is set.
 *
 *     npx tsx bench/choose-paintable.ts [--config grid-2x2,transformer/grid-3x3] [--count 1000] [--seed 31415926]
 *
 * For each model and variant: percent right if candidates at least so likely beside the best (1: none, 0: all) are
 * painted, and a unit of squared error (pixels 0 to 1) takes so much from the log of a probability; behind it the
 * percentage of problems that are painted. "At best" counts an answer that has twins, pixel for pixel, by its share
 * among them. "Time": solving and choosing, as a multiple of what it takes by plain L2, which paints nothing.
 */
import { parseArgs } from 'node:util';
import {
  CONFIGURATIONS,
  PAPER_VARIANTS,
  panelsOf,
  sampleProblem,
  type Configuration,
} from '../src/matrix/index.js';
import { nearest, Solver } from '../src/solver/node.js';

/** "From 0.1, weight 1" is what the solver does. */
const WAYS = [
  { tied: 1, weight: 0 },
  { tied: 1 / 2, weight: 1 },
  { tied: 1 / 100, weight: 1 },
  { tied: 0, weight: 1 },
  { tied: 1 / 10, weight: 0.3 },
  { tied: 1 / 10, weight: 1 },
  { tied: 1 / 10, weight: 3 },
  { tied: 1 / 10, weight: 10 },
];
/** Problems solved together. */
const AT_ONCE = 50;

const { values } = parseArgs({
  options: {
    config: { type: 'string', default: CONFIGURATIONS.join() },
    count: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '31415926' },
  },
});
const [count, seed] = [Number(values.count), Number(values.seed)];

const squaredError = (painted: Float32Array, given: Uint8Array): number =>
  painted.reduce((sum, value, i) => sum + (value - given[i] / 255) ** 2, 0);

async function timed<T>(work: () => Promise<T>): Promise<[T, milliseconds: number]> {
  const start = performance.now();
  return [await work(), performance.now() - start];
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.every((value, i) => value === b[i]);

const cells = (words: readonly string[]): void =>
  void process.stdout.write(`| ${words.join(' | ')} |\n`);
cells(['', ...WAYS.map(({ tied, weight }) => `from ${tied}, weight ${weight}`), 'at best', 'time']);
cells(['---', ...WAYS.map(() => '---:'), '---:', '---:']);
for (const name of values.config.split(',')) {
  const configuration = name.replace(/^.*\//, '') as Configuration;
  const solver = await Solver.load(name);
  const scale = 2 * (solver.metrics?.for([9])?.statistics.temperature ?? NaN);
  for (const variant of PAPER_VARIANTS) {
    const right = WAYS.map(() => 0);
    const paintings = WAYS.map(() => 0);
    const time = { own: 0, plain: 0 };
    let possible = 0;
    for (let first = 0; first < count; first += AT_ONCE) {
      const problems = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, i) =>
        panelsOf(sampleProblem({ configuration, variant, seed, index: first + i })),
      );
      const [answers, solving] = await timed(() => solver.solveAll(problems, { images: false }));
      const asked = answers.map((answer, n) => ({ answer, candidates: problems[n].candidates }));
      const [choices, painting] = await timed(() => solver.chooseAll(asked));
      const [, plain] = await timed(() => solver.chooseAll(asked, { distance: 'l2' }));
      time.own += solving + painting;
      time.plain += solving + plain;
      for (const [n, { candidates, answer }] of problems.entries()) {
        const described = choices[n].candidates.map(({ calibrated }) => calibrated ?? NaN);
        const painted = await solver.decode(await solver.encode(candidates));
        const errors = painted.map((panel, i) => squaredError(panel, candidates[i]));
        WAYS.forEach(({ tied, weight }, w) => {
          const most = Math.min(...described) - scale * Math.log(tied);
          const ties = [...described.keys()].filter((i) => described[i] <= most);
          const differ = ties.some((i) => !isSame(candidates[i], candidates[ties[0]]));
          const least = Math.min(...ties.map((i) => errors[i]));
          const added = errors.map((error, i) =>
            differ && ties.includes(i) ? weight * scale * (error - least) : 0,
          );
          paintings[w] += Number(differ);
          right[w] += Number(nearest(described.map((d, i) => d + added[i])) === answer);
        });
        possible += 1 / candidates.filter((each) => isSame(each, candidates[answer])).length;
      }
    }
    const percent = (many: number): string => ((100 * many) / count).toFixed(1);
    const shown = WAYS.map((_, w) => `${percent(right[w])} (${percent(paintings[w])})`);
    const times = (time.own / time.plain).toFixed(2);
    cells([`${name}, ${variant}`, ...shown, percent(possible), times]);
  }
  await solver.dispose();
}
