/**
 * Draws the figures that docs/paper.md shows, into docs/images/paper (or another folder):
 *
 *     npx tsx scripts/paper-figures.ts [FOLDER]
 *
 * Problems are made from fixed seeds; what a model has measured is read from docs/measured, so that only
 * its pictures are made anew.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  configurationsFigure,
  noiseFigure,
  otherAnswers,
  rasterize,
  toSvg,
  type Figure,
} from '../src/lab/figures/index.js';
import { drawModel, exampleProblems, openSubject } from '../src/lab/index.js';
import { allFigures } from '../src/lab/report/model-figures.js';
import { readMeasured } from '../src/lab/results/measured.js';
import { CONFIGURATIONS, sampleProblem, type Configuration } from '../src/matrix/index.js';

const root = path.resolve(import.meta.dirname, '..');
const folder = path.resolve(process.argv[2] ?? path.join(root, 'docs/images/paper'));

/** A model of the zoo, and which of its figures are shown. */
const SHOWN: readonly (readonly [Configuration, readonly string[]])[] = [
  [
    'center',
    [
      'arbitrary-positions',
      'gsa',
      'concepts-interpolation',
      'answer-selection-1',
      'rule-maps',
      'rule-prior-4',
    ],
  ],
  ['grid-2x2', ['concepts-interpolation']],
];

async function write(name: string, figure: Figure): Promise<void> {
  await writeFile(path.join(folder, `${name}.png`), await rasterize(toSvg(figure), 1.5));
  console.log(`${name}.png`);
}

await mkdir(folder, { recursive: true });
const instances = CONFIGURATIONS.map((configuration) =>
  sampleProblem({ configuration, seed: 12, index: 0 }),
);
await write('configurations', configurationsFigure(instances));
// Two objects in the answer, whose place, size and colour no rule decides.
const noisy = sampleProblem({ configuration: 'grid-2x2', noisy: true, seed: 1, index: 2143 });
await write('noise', noiseFigure(noisy, otherAnswers(noisy, 8, 1)));
const measured = await readMeasured(path.join(root, 'docs/measured'));
for (const [name, shown] of SHOWN) {
  const kept = measured.find((each) => each.name === name);
  if (!kept) throw new Error(`docs/measured has no ${name}.json`);
  const model = await openSubject(path.join(root, 'zoo', name));
  const examples = await exampleProblems(model);
  const evaluation = { ...kept, examples, history: [], seconds: {} };
  const figures = allFigures(await drawModel(evaluation, { model }));
  await model.dispose();
  for (const id of shown) {
    const found = figures.find((each) => each.id === id);
    if (!found) throw new Error(`${name} has no figure ${id}: ${figures.map((f) => f.id).join()}`);
    await write(`${name}-${id}`, found.figure);
  }
}
