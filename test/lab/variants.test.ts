/** Which candidates problems are evaluated on: asked for, or told by the data or their name. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { closeData, openData } from '../../src/lab/evaluation-data.js';
import { freshData, variantOf } from '../../src/lab/index.js';
import type { SubjectFacts } from '../../src/lab/index.js';
import {
  encodeSet,
  joinBatches,
  layoutOf,
  problemToBatch,
  Random,
  sampleProblem,
  VARIANTS,
  type Configuration,
} from '../../src/matrix/index.js';
import { generate } from '../../src/matrix/node.js';
import { failureOf } from '../cli/crab-in-process.js';
import { scratchFolder } from '../scratch-folder.js';

test.each([
  ['iraven_center.npz', 'i-raven'],
  ['I-RAVEN/center_single', 'i-raven'],
  ['raven_center.npz', 'raven'],
  ['raven-fair_center.npz', 'raven-fair'],
  ['RAVEN-F/center_single', 'raven-fair'],
  ['raven-unique_center.npz', 'raven-unique'],
  ['center.npz', null],
])('%s tells of %s', (name, variant) => {
  expect(variantOf(`/data/${name}`)).toBe(variant);
});

const facts = { configuration: 'center', noisy: false, imageSize: 64 } as SubjectFacts;

test('what a set says of itself counts more than its name', async () => {
  const location = path.join(scratchFolder(), 'raven_center.npz');
  const problem = sampleProblem({
    configuration: 'center',
    variant: 'raven-fair',
    seed: 1,
    index: 0,
  });
  writeFileSync(location, encodeSet(problemToBatch(problem)));
  const data = await openData([{ location }], facts, 'all');
  expect(data.map(({ variant }) => variant)).toEqual(['raven-fair']);
  await closeData(data);
});

test.each(['npz', 'raven'] as const)('data with a mesh are called so: %s', async (format) => {
  const scratch = scratchFolder();
  for (const mesh of [true, false]) {
    const out = path.join(scratch, `${mesh ? 'mesh' : 'plain'}${format === 'npz' ? '.npz' : ''}`);
    const layouts = [layoutOf('center', false, mesh)];
    const asked = { layouts, count: 1, seed: 1, workers: 1, format, out } as const;
    await generate({ ...asked, variant: 'i-raven' });
    const data = await openData([{ location: out, name: 'mine' }], facts, 'all');
    const told = mesh ? ['mine (with a mesh)', null] : ['mine', 'i-raven'];
    expect(data.map(({ name, variant }) => [name, variant])).toEqual([told]);
    await closeData(data);
  }
});

test.each(['grid-2x2', 'grid-3x3', 'out-in-grid'] as const)(
  'data with noise are called so for a model without, whatever their name: %s',
  async (configuration) => {
    const scratch = scratchFolder();
    for (const noisy of [true, false]) {
      const location = path.join(scratch, `${noisy ? 'a' : 'b'}.npz`);
      const problems = Array.from({ length: 6 }, (_, index) =>
        problemToBatch(sampleProblem({ configuration, noisy, seed: 3, index })),
      );
      writeFileSync(location, encodeSet(joinBatches(problems)));
      for (const known of [true, false]) {
        const model = { configuration, noisy: known, imageSize: 64 } as SubjectFacts;
        const data = await openData([{ location, name: 'mine' }], model, 'all');
        expect(data.map(({ name }) => name)).toEqual([
          noisy && !known ? 'mine (with noise)' : 'mine',
        ]);
        await closeData(data);
      }
    }
  },
);

/** Problems of several configurations in turns, as somebody's own program would write them: without labels. */
const unlabelled = (configurations: readonly Configuration[], count: number) =>
  joinBatches(
    Array.from({ length: count }, (_, index) => {
      const configuration = configurations[index % configurations.length];
      const batch = problemToBatch(sampleProblem({ configuration, seed: 4, index }));
      return { ...batch, label: [[]], variant: undefined };
    }),
  );

test('a mixture of configurations is called so, also if it begins with the right one', async () => {
  const location = path.join(scratchFolder(), 'a.npz');
  const [own, other] = [unlabelled(['center'], 6), unlabelled(['grid-2x2', 'left-right'], 4)];
  writeFileSync(location, encodeSet(joinBatches([own, other])));
  const data = await openData([{ location, name: 'mine' }], facts, 'all');
  expect(data.map(({ name }) => name)).toEqual([
    'mine (of 8 problems looked at 1 of grid-2x2, 2 of left-right)',
  ]);
  await closeData(data);
  // One of all configurations knows them all.
  const joint = await openData([{ location, name: 'mine' }], { ...facts, mixed: true }, 'all');
  expect(joint.map(({ name }) => name)).toEqual(['mine']);
  await closeData(joint);
});

test('one of all configurations knows two components from a mesh', async () => {
  const location = path.join(scratchFolder(), 'a.npz');
  const problem = sampleProblem({ configuration: 'left-right', seed: 4, index: 0 });
  writeFileSync(location, encodeSet(problemToBatch(problem)));
  const data = await openData([{ location, name: 'mine' }], { ...facts, mixed: true }, 'all');
  expect(data.map(({ name, variant }) => [name, variant])).toEqual([['mine', 'raven']]);
  await closeData(data);
});

test('pictures that are no matrices are called so, and refused without labels', async () => {
  const location = path.join(scratchFolder(), 'a.npz');
  const random = new Random(5);
  const labelled = joinBatches(
    Array.from({ length: 3 }, (_, index) =>
      problemToBatch(sampleProblem({ configuration: 'center', seed: 4, index })),
    ),
  );
  labelled.panel.forEach((_, i) => (labelled.panel[i] = random.below(256)));
  writeFileSync(location, encodeSet(labelled));
  const data = await openData([{ location, name: 'mine' }], facts, 'all');
  expect(data.map(({ name }) => name)).toEqual([
    'mine (of 3 problems looked at 3 of no configuration that we know)',
  ]);
  await closeData(data);
  writeFileSync(location, encodeSet({ ...labelled, label: [[], [], []] }));
  await expect(openData([{ location }], facts, 'all')).rejects.toThrow(
    /the pictures are of no configuration that we know, and no rules are told/,
  );
});

test('fresh problems: RAVEN and I-RAVEN unless told, the same matrices for all', async () => {
  expect(freshData(facts, 3).map(({ variant }) => variant)).toEqual(['raven', 'i-raven']);
  const data = freshData(facts, 3, { variants: VARIANTS });
  const batches = await Promise.all(data.map(({ source }) => source.read(0, 3)));
  for (const { panel, answer } of batches) {
    expect(Buffer.compare(panel, batches[0].panel)).toBe(0);
    expect(answer).toEqual(batches[0].answer);
  }
  const [, iRaven, fair] = batches;
  expect(Buffer.compare(iRaven.selection, fair.selection)).not.toBe(0);
});

test('--variant is for fresh problems', async () => {
  const asked = ['evaluate', '--model', 'center', '--variant', 'raven-fair'];
  const { message } = await failureOf(...asked, '--data', 'x.npz');
  expect(message).toMatch(/--variant is of fresh problems/);
  const unknown = await failureOf('evaluate', '--model', 'center', '--variant', 'fair');
  expect(unknown.message).toMatch(/raven, i-raven, raven-fair, raven-unique/);
});

test('--seed is refused if nothing of given data is drawn at random', async () => {
  const asked = ['evaluate', '--model', 'center', '--data', 'x.npz', '--seed', '5'];
  for (const metrics of [[], ['--metrics', 'sa']]) {
    const { message, code } = await failureOf(...asked, ...metrics);
    expect(message).toMatch(/--seed: nothing is drawn at random for sa/);
    expect(code).toBe(2);
  }
  // Its positions are drawn.
  const gsa = await failureOf(...asked, '--metrics', 'sa,gsa');
  expect(gsa.message).toMatch(/x\.npz/);
});
