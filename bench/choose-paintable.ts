/**
 * What choosing would gain if candidates had to be paintable too. A model describes a candidate by concepts and
 * compares these with what it foretold; whatever it cannot describe is lost, such as one figure of a grid that is
 * unlike the others. Painting the description shows it: the picture is not the candidate.
 *
 *     npx tsx bench/choose-paintable.ts [--config grid-2x2,out-in-grid] [--count 1000] [--seed 31415926]
 *
 * For each configuration and variant, percent right by the model's own distance, and by this distance plus so
 * many times the squared error (pixels 0 to 1) of the painted description. "As well as possible" counts an answer
 * that has twins, pixel for pixel, by its share among them.
 */
import { parseArgs } from 'node:util';
import { CONFIGURATIONS, PAPER_VARIANTS, panelsOf, sampleProblem } from '../src/matrix/index.js';
import { Solver } from '../src/solver/node.js';

const WEIGHTS = [0, 1, 3, 10, 30];

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

const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.every((value, i) => value === b[i]);

const cells = (words: readonly string[]): void =>
  void process.stdout.write(`| ${words.join(' | ')} |\n`);
cells(['', ...WEIGHTS.map((weight) => `weight ${weight}`), 'as well as possible']);
cells(['---', ...WEIGHTS.map(() => '---:'), '---:']);
for (const configuration of CONFIGURATIONS.filter((name) =>
  values.config.split(',').includes(name),
)) {
  const solver = await Solver.load(configuration);
  for (const variant of PAPER_VARIANTS) {
    const right = WEIGHTS.map(() => 0);
    let possible = 0;
    for (let index = 0; index < count; index++) {
      const problem = sampleProblem({ configuration, variant, seed, index });
      const { panels, missing, candidates, answer } = panelsOf(problem);
      const found = await solver.solve(panels, { missing });
      const choice = await solver.choose(found, candidates);
      const painted = await solver.decode(await solver.encode(candidates));
      const errors = painted.map((panel, i) => squaredError(panel, candidates[i]));
      WEIGHTS.forEach((weight, w) => {
        const distances = choice.candidates.map(
          ({ calibrated }, i) => (calibrated ?? NaN) + weight * errors[i],
        );
        if (distances.indexOf(Math.min(...distances)) === answer) right[w]++;
      });
      possible += 1 / candidates.filter((each) => isSame(each, candidates[answer])).length;
    }
    const percent = (many: number): string => ((100 * many) / count).toFixed(1);
    cells([`${configuration}, ${variant}`, ...right.map(percent), percent(possible)]);
  }
  await solver.dispose();
}
