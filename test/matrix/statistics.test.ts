/**
 * Generated problems against the data sets' own: 2,000 of ours and 400 reference ones for each layout
 * and variant, compared by chi-square tests of homogeneity, quantity by quantity.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { answerOf, sampleProblem } from '../../src/matrix/index.js';
import { KINDS } from './arbitrary.js';
import { homogeneity } from './chi-square.js';
import { addObservations, observe, type Tallies } from './observe.js';
import { hasReferenceSets, recognisedProblems } from './reference-sets.js';

const COUNT = 2000;
const SEED = 20240101;

const REFERENCE_STATISTICS = JSON.parse(
  readFileSync(join(import.meta.dirname, 'reference-statistics.json'), 'utf8'),
) as Record<string, Tallies>;

describe.each(KINDS)('%s', (name, layout, variant) => {
  test('generated problems have the statistics of the reference', () => {
    const { configuration, noisy } = layout;
    const tallies: Tallies = {};
    for (let index = 0; index < COUNT; index++) {
      const problem = sampleProblem({ configuration, noisy, variant, seed: SEED, index });
      const { context, candidates, target, rules } = problem;
      const panels = [...context, answerOf(problem)];
      const seen = {
        layout,
        panels,
        candidates: candidates.map(({ panel }) => panel),
        target,
        rules,
      };
      addObservations(tallies, observe(seen, index));
    }
    const reference = REFERENCE_STATISTICS[name];
    expect(Object.keys(tallies).sort()).toEqual(Object.keys(reference).sort());
    const unlike = Object.entries(reference)
      .map(([quantity, counts]) => {
        const pair = [counts, tallies[quantity]].map((one) => new Map(Object.entries(one)));
        return { quantity, p: homogeneity(pair[0], pair[1]) };
      })
      .filter(({ p }) => !(p > 0.001));
    expect(unlike).toEqual([]);
  });
});

test.skipIf(!hasReferenceSets)('the stored statistics are those of the reference sets', () => {
  // One set, as recognising all takes long; make-reference-statistics.ts does them all.
  const [name, layout, variant] = KINDS.find(
    ([kind]) => kind === 'i-raven distribute_nine_uniform',
  )!;
  const tallies: Tallies = {};
  let index = 0;
  for (const problem of recognisedProblems(layout, variant)) {
    addObservations(tallies, observe(problem, index++));
  }
  expect(index).toBe(400);
  expect(tallies).toEqual(REFERENCE_STATISTICS[name]);
});
