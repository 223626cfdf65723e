/** Alternatives and variations of an answer, with a vocabulary made by hand: no network is needed. */
import { describe, expect, test } from 'vitest';
import { alternativesTo } from '../../src/solver/alternatives.js';
import { ConceptLayout } from '../../src/solver/concept-layout.js';
import { Vocabulary, type Answer } from '../../src/solver/node.js';
import { variationsOf } from '../../src/solver/variations.js';

const SIZES = { concepts: 2, conceptSize: 1, ruleSize: 1 };
const layout = new ConceptLayout(SIZES);
const group = (concept: number, levels: number[], entries: number[]) => ({
  concepts: [concept],
  mean: Float32Array.of(0),
  basis: Float32Array.of(1),
  entries: Float32Array.from(entries),
  counts: Float32Array.from(entries, () => 1),
  statistics: new Map(),
  attributes: [
    { name: 'Type', component: 0, group: 'Type' as const, values: levels.map((level) => [level]) },
  ],
});
// Two squares turned differently and a circle; then a group of two values.
const vocabulary = new Vocabulary(
  { groups: [group(0, [2, 2, 5], [10, 20, 30]), group(1, [0, 1], [-1, 1])], shared: [], still: [] },
  SIZES,
  1,
);
const foretold = [
  { probabilities: [0.3, 0.3, 0.4], best: 2, known: true },
  { probabilities: [0.75, 0.25], best: 0, known: true },
];
const predicted = [Float32Array.of(7), Float32Array.of(7)];
const answer: Answer = {
  missing: [9],
  images: [],
  symbols: [],
  imagined: [{ foretold, concepts: predicted, known: true }],
  concepts: Array.from({ length: 9 }, () => predicted),
  rules: [],
};
const valuesOf = (means: readonly Float32Array[]): number[] => means.map(([value]) => value);

describe('alternatives', () => {
  const chances = (found: readonly { probability: number }[]): number[] =>
    found.map(({ probability }) => Number(probability.toFixed(6)));

  test('differ in an entry, come by falling probability and hold the concepts to paint', () => {
    const found = alternativesTo(answer, 10, vocabulary, layout);
    expect(chances(found)).toEqual([0.3, 0.225, 0.225, 0.1, 0.075, 0.075]);
    expect(found[0].symbols).toEqual([[3, 1]]);
    expect(valuesOf(found[0].concepts[0])).toEqual([30, -1]);
    expect(alternativesTo(answer, 2, vocabulary, layout)).toEqual(found.slice(0, 2));
  });

  test('that differ in a value count what people call the same once', () => {
    const found = alternativesTo(answer, 10, vocabulary, layout, 'value');
    expect(chances(found)).toEqual([0.45, 0.3, 0.15, 0.1]);
    expect(found.map(({ symbols }) => symbols[0])).toEqual([
      [1, 1],
      [3, 1],
      [1, 2],
      [3, 2],
    ]);
  });

  test.each([0, 1001, 1.5, NaN])('of a count of %d are refused', (count) => {
    expect(() => alternativesTo(answer, count, vocabulary, layout)).toThrow(
      `alternatives ${count}: expected 1 to 1000`,
    );
  });
});

test('variations change one group of the imagined panel, and refuse what it does not have', () => {
  const vary = (position: number, group: number, entries: number[]) =>
    variationsOf(answer, { position, group, entries }, vocabulary, layout).map(valuesOf);
  expect(vary(9, 1, [1, 2])).toEqual([
    [10, -1],
    [20, -1],
  ]);
  expect(vary(9, 2, [2])).toEqual([[30, 1]]);
  for (const [position, which, entries] of [
    [9, 1, [4]],
    [9, 3, [1]],
    [9, 0, [1]],
    [8, 1, [1]],
  ] as const) {
    expect(() => vary(position, which, [...entries])).toThrow('the vocabulary has none of these');
  }
});

test('an answer without a vocabulary has neither', () => {
  const plain = { ...answer, imagined: null };
  const message = 'this bundle has no vocabulary, so it has one answer only: the mean';
  expect(() => alternativesTo(plain, 2, null, layout)).toThrow(message);
  const asked = { position: 9, group: 1, entries: [1] };
  expect(() => variationsOf(plain, asked, null, layout)).toThrow(message);
});
