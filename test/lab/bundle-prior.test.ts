/** The prior of a bundle: clouds of rules, joined by how alike the panels of their matrices are. */
import { expect, test } from 'vitest';
import { plainMixture, refittedPrior } from '../../src/lab/bundle-prior.js';
import { mirroredMatrix } from '../../src/lab/metrics/rule-agreement.js';
import { Random } from '../../src/matrix/index.js';
import { adjustedRandIndex } from '../../src/models/index.js';
import { RuleClassifier, type RuleMixture } from '../../src/solver/index.js';

const CENTRES = [
  [1.4, -1.9],
  [0.75, -0.05],
  [0.9, -0.7],
  [-0.8, 0.4],
];

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

/** Likeness of matrices whose rule is of a kind: two numbers in five say which one it is. */
const likenessOf = (kind: number): number[] => [kind & 1, 0.3, 0.1, kind >> 1, 0.2];
const likeness = [labels.map(likenessOf), labels.map(likenessOf)];
const COUNTS = [4, 4];

test('clusters are found from rules and likeness', () => {
  const [prior, single] = refittedPrior(rules, likeness, COUNTS);
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

test('rules of matrices whose panels are alike in the same way are one category, far apart as they lie', () => {
  // Six clouds of which 0 and 1, and 2 and 3, are of one kind: four kinds of rules.
  const clouds = [...CENTRES, [0.1, 1.5], [-1.2, -1.2]];
  const kinds = [0, 0, 1, 1, 2, 3];
  const drawn = Array.from({ length: 900 }, () => Math.floor(6 * uniform()));
  const own = drawn.map((cloud) => [clouds[cloud].map((value) => value + noise())]);
  const truth = drawn.map((cloud) => kinds[cloud]);
  const [prior] = refittedPrior(own, [truth.map(likenessOf)], [4]);
  expect(adjustedRandIndex(truth, categoriesBy(prior, 0, own))).toBe(1);
  // Without likeness no four clusters can be those.
  const plain = plainMixture(
    own.map(([rule]) => rule),
    4,
  );
  expect(adjustedRandIndex(truth, categoriesBy(plain, 0, own))).toBeLessThan(0.9);
});

test('a mirrored matrix has its columns in reverse', () => {
  const matrix = Array.from({ length: 9 }, (_, i) => i);
  expect(mirroredMatrix(matrix)).toEqual([2, 1, 0, 5, 4, 3, 8, 7, 6]);
});

test('the same rules give the same prior', () => {
  expect(refittedPrior(rules, likeness, COUNTS)).toEqual(refittedPrior(rules, likeness, COUNTS));
});

test('rules that never differ keep a prior that can be drawn and sampled', () => {
  const still = rules.map(() => [[0.5, 0.5]]);
  const [{ covariances, weights }] = refittedPrior(still, likeness, [4]);
  expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 9);
  for (const [[a, b], [c, d]] of covariances) expect(a * d - b * c).toBeGreaterThan(0);
});
