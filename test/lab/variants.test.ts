/** Which candidates problems are evaluated on: asked for, or told by the name of the data. */
import { expect, test } from 'vitest';
import { freshData, variantOf } from '../../src/lab/index.js';
import type { SubjectFacts } from '../../src/lab/index.js';
import { VARIANTS } from '../../src/matrix/index.js';
import { failureOf } from '../cli/crab-in-process.js';

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

test('fresh problems: RAVEN and I-RAVEN unless told, the same matrices for all', async () => {
  const facts = { configuration: 'center', noisy: false, imageSize: 64 } as SubjectFacts;
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
