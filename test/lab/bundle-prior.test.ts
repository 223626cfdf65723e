/** The prior of a bundle: found again from rules alone, whatever training left. */
import { expect, test } from 'vitest';
import { mirroredMatrix, refittedPrior } from '../../src/lab/bundle-prior.js';
import { Random } from '../../src/matrix/index.js';
import { adjustedRandIndex } from '../../src/models/index.js';
import { RuleClassifier, type RuleMixture } from '../../src/solver/index.js';

const CENTRES = [
  [1.4, -1.9],
  [0.75, -0.05],
  [0.9, -0.7],
  [-0.8, 0.4],
];

/** All four components at one place: the worst that training can leave. */
const useless = {
  weights: [0.25, 0.25, 0.25, 0.25],
  means: CENTRES.map(() => [0.7, -0.3]),
  covariances: CENTRES.map(() => [
    [1, 0],
    [0, 1],
  ]),
};

const random = new Random(5, 6);
const uniform = (): number => random.next() / 2 ** 32;
/** Roughly normal, deviation 0.05. */
const noise = (): number =>
  0.05 * (uniform() + uniform() + uniform() + uniform() - 2) * Math.sqrt(3);
const labels = Array.from({ length: 400 }, () => Math.floor(4 * uniform()));
const rules = labels.map((label) => [
  CENTRES[label].map((at) => at + noise()),
  [noise(), noise()], // a concept without clusters
]);

/** Their own mirror images: nothing is joined that lies apart. */
const alike = rules;

test('clusters are found from rules alone, from a prior that knew none', () => {
  const [prior, single] = refittedPrior(rules, alike, [useless, useless]);
  expect(adjustedRandIndex(labels, categoriesBy(prior, 0))).toBe(1);
  const shares = [0, 1, 2, 3].map((c) => weightOf(prior, c));
  expect(shares).toEqual([...shares].sort((a, b) => b - a));
  expect(single.means.flat().every((mean) => Math.abs(mean) < 0.2)).toBe(true);
});

/** Most likely category of rules of a concept. */
function categoriesBy(prior: RuleMixture, m: number, of = rules): number[] {
  const classifier = new RuleClassifier(prior);
  return of.map((ofProblem) => classifier.categoryOf(ofProblem[m]));
}

const weightOf = ({ weights, categories }: RuleMixture, category: number): number =>
  weights.reduce((sum, weight, k) => sum + (categories?.[k] === category ? weight : 0), 0);

test('rules that are mirror images of each other are one category, far apart as they lie', () => {
  // Six clouds of which 0 and 1, and 2 and 3, mirror each other: four kinds of rules.
  const clouds = [...CENTRES, [0.1, 1.5], [-1.2, -1.2]];
  const kinds = [0, 0, 1, 1, 2, 3];
  const mirrorOf = [1, 0, 3, 2, 4, 5];
  const drawn = Array.from({ length: 900 }, () => Math.floor(6 * uniform()));
  const at = (cloud: number): number[][] => [clouds[cloud].map((value) => value + noise())];
  const own = drawn.map(at);
  const mirrored = drawn.map((cloud) => at(mirrorOf[cloud]));
  const truth = drawn.map((cloud) => kinds[cloud]);
  const [prior] = refittedPrior(own, mirrored, [useless]);
  expect(adjustedRandIndex(truth, categoriesBy(prior, 0, own))).toBe(1);
  // Without mirrors no four clusters can be those.
  const [apart] = refittedPrior(own, own, [useless]);
  expect(adjustedRandIndex(truth, categoriesBy(apart, 0, own))).toBeLessThan(0.9);
});

test('a mirrored matrix has its columns in reverse', () => {
  const matrix = Array.from({ length: 9 }, (_, i) => [[i]]);
  const order = mirroredMatrix(matrix as never).flat(2);
  expect(order).toEqual([2, 1, 0, 5, 4, 3, 8, 7, 6]);
});

test('the same rules give the same prior', () => {
  expect(refittedPrior(rules, alike, [useless, useless])).toEqual(
    refittedPrior(rules, alike, [useless, useless]),
  );
});

test('rules that never differ keep a prior that can be drawn and sampled', () => {
  const still = rules.map(() => [[0.5, 0.5]]);
  const [{ covariances, weights }] = refittedPrior(still, still, [useless]);
  expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 9);
  for (const [[a, b], [c, d]] of covariances) expect(a * d - b * c).toBeGreaterThan(0);
});
