/** Second thoughts: of entries that the model is unsure of, the one with which it finds the other panels. */
import { expect, test } from 'vitest';
import { ConceptLayout } from '../../src/solver/concept-layout.js';
import { imagine } from '../../src/solver/imagining.js';
import { withSecondThoughts, type Trial } from '../../src/solver/second-thoughts.js';
import { Vocabulary, type Answer, type EntryStatistics } from '../../src/solver/index.js';

/** One concept of one value, whose entries are 0, 10, 20 and 30; predictions err by 5. */
const sizes = { concepts: 1, conceptSize: 1, ruleSize: 2 };
const statistics: EntryStatistics = {
  gates: Float32Array.of(0, 0),
  scale: Float32Array.of(1, 1),
  weights: Float32Array.of(1),
  whitening: Float32Array.of(1 / 5),
  temperature: 1,
  least: -1e9,
};
const group = {
  concepts: [0],
  mean: Float32Array.of(0),
  basis: Float32Array.of(1),
  entries: Float32Array.of(0, 10, 20, 30),
  counts: Float32Array.of(1, 1, 1, 1),
  statistics: new Map([
    ['last', statistics],
    ['targets1', statistics],
  ] as const),
  attributes: [],
};
const vocabulary = new Vocabulary({ groups: [group], shared: [], still: [] }, sizes, 1);
const layout = new ConceptLayout(sizes);

const rule = { concept: 1, name: null, vector: [0, 0], parsed: [0, 0], deviation: [0, 0] };

/** An answer whose missing panels were predicted as `predicted`; all others show 30. */
function answerOf(predicted: number, missing = [9], imposed = false): Answer {
  const concepts = Array.from({ length: 9 }, (_, i) => [
    Float32Array.of(missing.includes(i + 1) ? predicted : 30),
  ]);
  const rules = [{ ...rule, imposed, categories: null }];
  const answer = { missing, images: [], concepts, rules };
  return { ...answer, ...imagine(vocabulary, layout, answer) };
}

/** A model that finds the other panels of a row only if the tried one is 0. */
const rightIfZero = (asked: Trial[]) => (trials: readonly Trial[]) => {
  asked.push(...trials);
  return Promise.resolve(
    trials.map(({ concepts }) => ({
      predicted: Float32Array.of(concepts[8][0][0] === 0 ? 30 : 0),
      rules: [[0, 0]],
    })),
  );
};

test('the entry with which the others are found wins, and is painted', async () => {
  const asked: Trial[] = [];
  const before = answerOf(6);
  expect(before.imagined?.[0].foretold[0].best).toBe(1);
  const [after] = await withSecondThoughts(vocabulary, layout, [before], rightIfZero(asked));
  // Four entries, each with panel 7 and panel 8 hidden.
  expect(asked.map(({ hidden }) => hidden)).toEqual([7, 8, 7, 8, 7, 8, 7, 8]);
  const [{ foretold, concepts }] = after.imagined ?? [];
  expect(foretold[0].best).toBe(0);
  expect(concepts[0][0]).toBe(0);
  expect(after.symbols?.[8][0].entry).toBe(1);
  expect(foretold[0].probabilities.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 9);
  expect(after.concepts).toEqual(before.concepts);
});

test('what is sure, has several missing panels or an imposed rule is left alone', async () => {
  const asked: Trial[] = [];
  const given = [answerOf(10.1 - 35), answerOf(6, [3, 9]), answerOf(6, [9], true)];
  expect(await withSecondThoughts(vocabulary, layout, given, rightIfZero(asked))).toEqual(given);
  expect(asked).toEqual([]);
});
