/**
 * Generated problems against the data sets' own: 2,000 of ours and 400 reference ones for each layout
 * and variant, compared by chi-square tests of homogeneity, quantity by quantity.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  ALL_LAYOUTS,
  answerOf,
  layoutOf,
  parseRavenXml,
  sampleProblem,
  type Problem,
} from '../../src/matrix/index.js';
import { KINDS } from './arbitrary.js';
import { homogeneity } from './chi-square.js';
import { addObservations, observe, type Tallies } from './observe.js';
import { hasReference, REFERENCE } from './reference-files.js';
import { hasReferenceSets, recognisedProblems } from './reference-sets.js';

const COUNT = 2000;
const SEED = 20240101;

const REFERENCE_STATISTICS = JSON.parse(
  readFileSync(join(import.meta.dirname, 'reference-statistics.json'), 'utf8'),
) as Record<string, Tallies>;

/** The reference has the two that the paper reports; `candidates.test.ts` has the others. */
const REFERENCE_KINDS = KINDS.filter(([name]) => name in REFERENCE_STATISTICS);

test('the reference has RAVEN and I-RAVEN of every layout', () => {
  expect(REFERENCE_KINDS).toHaveLength(2 * ALL_LAYOUTS.length);
});

describe.each(REFERENCE_KINDS)('%s', (name, layout, variant) => {
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
    ([kind]) => kind === 'i-raven distribute_four_uniform',
  )!;
  const tallies: Tallies = {};
  let index = 0;
  for (const problem of recognisedProblems(layout, variant)) {
    addObservations(tallies, observe(problem, index++));
  }
  expect(index).toBe(400);
  expect(tallies).toEqual(REFERENCE_STATISTICS[name]);
});

/** What only the descriptions say, pooled over all layouts as there are ten of each. */
function describedStatistics(problems: Iterable<Problem>): Tallies {
  const tallies: Tallies = {};
  let index = 0;
  for (const problem of problems) {
    const { configuration, noisy, context, candidates } = problem;
    const changed = candidates.map(({ changes }) => changes.length).sort();
    addObservations(tallies, { 'changes of the candidates': changed.join('') });
    layoutOf(configuration, noisy).components.forEach(({ uniformity }, component) => {
      if (uniformity.min === uniformity.max) return;
      const panel = context[index % 8].components[component];
      addObservations(tallies, { uniformity: panel.uniformity });
    });
    index++;
  }
  return tallies;
}

function* describedProblems(): Generator<Problem> {
  for (const layout of ALL_LAYOUTS) {
    const folder = join(REFERENCE, 'files', 'iraven', layout.folder);
    for (const file of readdirSync(folder).filter((entry) => entry.endsWith('.xml'))) {
      yield parseRavenXml(readFileSync(join(folder, file), 'utf8'), { noisy: layout.noisy });
    }
  }
}

function* generatedProblems(): Generator<Problem> {
  for (const { configuration, noisy } of ALL_LAYOUTS) {
    for (let index = 0; index < 500; index++) {
      yield sampleProblem({ configuration, noisy, variant: 'i-raven', seed: SEED, index });
    }
  }
}

test.skipIf(!hasReference)(
  'generated descriptions have the statistics of the reference files',
  () => {
    const reference = describedStatistics(describedProblems());
    const generated = describedStatistics(generatedProblems());
    for (const quantity of ['changes of the candidates', 'uniformity']) {
      const pair = [reference, generated].map((one) => new Map(Object.entries(one[quantity])));
      expect(homogeneity(pair[0], pair[1]), quantity).toBeGreaterThan(0.001);
    }
  },
);
