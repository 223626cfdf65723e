/** The prior of a bundle: found again from rules alone, whatever training left. */
import { expect, test } from 'vitest';
import { refittedPrior } from '../../src/lab/bundle-prior.js';
import { Random } from '../../src/matrix/index.js';
import { adjustedRandIndex, categories, mixturesOf, pointsOf } from '../../src/models/index.js';

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

test('clusters are found from rules alone, from a prior that knew none', () => {
  const [prior, single] = mixturesOf(refittedPrior(rules, [useless, useless]));
  const points = pointsOf(Float64Array.from(rules.flatMap(([first]) => first)), 2);
  expect(adjustedRandIndex(labels, categories(prior, points))).toBe(1);
  expect([...prior.weights]).toEqual([...prior.weights].sort((a, b) => b - a));
  expect(single.means.every((mean) => Math.abs(mean) < 0.2)).toBe(true);
});

test('the same rules give the same prior', () => {
  expect(refittedPrior(rules, [useless, useless])).toEqual(
    refittedPrior(rules, [useless, useless]),
  );
});

test('rules that never differ keep a prior that can be drawn and sampled', () => {
  const still = rules.map(() => [[0.5, 0.5]]);
  const [{ covariances }] = refittedPrior(still, [useless]);
  for (const [[a, b], [c, d]] of covariances) expect(a * d - b * c).toBeGreaterThan(0);
});
