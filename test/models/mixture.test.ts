/** The mixture learners against scikit-learn from the same start, and what must hold whatever the data. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  adjustedRandIndex,
  categories,
  explain,
  fitBayesianMixture,
  fitGaussianMixture,
  kMeans,
  kMeansFrom,
  pointsOf,
  sortedByWeight,
  type FittedMixture,
  type LearnerOptions,
} from '../../src/models/index.js';
import { digamma, logGamma } from '../../src/models/mixture/special-functions.js';
import { Random } from '../../src/matrix/index.js';

interface GoldenFit {
  weights: number[];
  means: number[];
  covariances: number[];
  objective: number;
  iterations: number;
  converged: boolean;
  responsibilities: number[];
}
interface GoldenCase {
  name: string;
  dimension: number;
  components: number;
  tolerance: number;
  maxIterations: number;
  points: number[];
  kMeans: { start: number[]; centres: number[]; labels: number[]; inertia: number };
  em: GoldenFit;
  dirichletProcess: GoldenFit;
}
const golden = JSON.parse(
  readFileSync(new URL('./golden/mixture.json', import.meta.url), 'utf8'),
) as {
  mixtures: GoldenCase[];
  rand: { first: number[]; second: number[]; index: number }[];
  special: { x: number; digamma: number; logGamma: number }[];
};

function expectClose(actual: ArrayLike<number>, expected: number[], tolerance = 1e-6): void {
  expect(actual.length).toBe(expected.length);
  const largest = Math.max(1, ...expected.map(Math.abs));
  expected.forEach((value, i) => {
    expect(Math.abs(actual[i] - value)).toBeLessThanOrEqual(tolerance * largest);
  });
}

function expectFit(fit: FittedMixture, expected: GoldenFit): void {
  expectClose(fit.mixture.weights, expected.weights);
  expectClose(fit.mixture.means, expected.means);
  expectClose(fit.mixture.covariances, expected.covariances);
  expectClose([fit.objective], [expected.objective]);
  expect(fit.iterations).toBe(expected.iterations);
  expect(fit.converged).toBe(expected.converged);
}

describe.each(golden.mixtures)('scikit-learn: $name', (entry) => {
  const points = pointsOf(entry.points, entry.dimension);
  const options: LearnerOptions = {
    components: entry.components,
    tolerance: entry.tolerance,
    maxIterations: entry.maxIterations,
    start: { kind: 'labels', labels: entry.kMeans.labels },
  };

  test('k-means', () => {
    const result = kMeansFrom(points, Float64Array.from(entry.kMeans.start));
    expectClose(result.centres, entry.kMeans.centres);
    expect([...result.labels]).toEqual(entry.kMeans.labels);
    expectClose([result.inertia], [entry.kMeans.inertia]);
  });

  test('expectation maximisation', () => {
    const fit = fitGaussianMixture(points, options);
    expectFit(fit, entry.em);
    const { responsibilities } = explain(fit.mixture, points);
    expectClose(responsibilities.subarray(0, 5 * entry.components), entry.em.responsibilities);
  });

  test('variational, Dirichlet process', () => {
    expectFit(fitBayesianMixture(points, options), entry.dirichletProcess);
  });
});

test('adjusted Rand index equals scikit-learn', () => {
  for (const { first, second, index } of golden.rand) {
    expect(adjustedRandIndex(first, second)).toBeCloseTo(index, 12);
  }
  expect(() => adjustedRandIndex([1, 2], [1])).toThrow(/2 labels beside 1/);
});

test('digamma and log-gamma equal SciPy', () => {
  for (const entry of golden.special) {
    const bound = (value: number): number => 1e-12 * Math.max(1, Math.abs(value));
    expect(Math.abs(digamma(entry.x) - entry.digamma)).toBeLessThan(bound(entry.digamma));
    expect(Math.abs(logGamma(entry.x) - entry.logGamma)).toBeLessThan(bound(entry.logGamma));
  }
});

/** Well-separated clusters on a circle, and which cluster each point is of. */
function ring(
  seed: number,
  count: number,
  clusters: number,
): { values: number[]; truth: number[] } {
  const random = new Random(seed);
  const truth = Array.from({ length: count }, () => Math.floor(random.uniform() * clusters));
  const values = truth.flatMap((cluster) => {
    const angle = (2 * Math.PI * cluster) / clusters;
    return [
      Math.cos(angle) + 0.1 * (random.uniform() - 0.5),
      Math.sin(angle) + 0.1 * (random.uniform() - 0.5),
    ];
  });
  return { values, truth };
}

test.each([
  ['EM', fitGaussianMixture],
  ['Bayesian', fitBayesianMixture],
] as const)('%s from a k-means++ start finds clusters that are there', (_, fit) => {
  for (let seed = 0; seed < 10; seed++) {
    const { values, truth } = ring(seed, 512, 4);
    const points = pointsOf(values, 2);
    const { mixture } = fit(points, { components: 4, start: { kind: 'k-means', seed } });
    expect(adjustedRandIndex(categories(mixture, points), truth)).toBe(1);
  }
});

test('points that coincide do not break a learner', () => {
  const points = pointsOf(new Array<number>(64).fill(0.25), 2);
  const start = { kind: 'k-means', seed: 3 } as const;
  for (const fit of [fitGaussianMixture, fitBayesianMixture]) {
    const { mixture } = fit(points, { components: 4, start });
    const finite = [...mixture.weights, ...mixture.means, ...mixture.covariances].every(
      Number.isFinite,
    );
    expect(finite).toBe(true);
    expect(explain(mixture, points).logDensity.every(Number.isFinite)).toBe(true);
  }
});

test('mixtures of any points are distributions', () => {
  const coordinate = fc.double({ min: -5, max: 5, noNaN: true });
  const input = fc.array(fc.tuple(coordinate, coordinate), { minLength: 4, maxLength: 60 });
  fc.assert(
    fc.property(
      input,
      fc.integer({ min: 1, max: 4 }),
      fc.boolean(),
      (rows, components, bayesian) => {
        const points = pointsOf(rows.flat(), 2);
        const fit = bayesian ? fitBayesianMixture : fitGaussianMixture;
        const fitted = fit(points, { components, start: { kind: 'k-means', seed: 1 } });
        const mixture = sortedByWeight(fitted.mixture);
        const total = mixture.weights.reduce((sum, weight) => sum + weight, 0);
        expect(total).toBeCloseTo(1, 9);
        expect(
          mixture.weights.every((weight, k) => k === 0 || weight <= mixture.weights[k - 1]),
        ).toBe(true);
        const { responsibilities } = explain(mixture, points);
        expect(responsibilities.reduce((sum, value) => sum + value, 0)).toBeCloseTo(
          points.count,
          6,
        );
      },
    ),
    { seed: 11, numRuns: 150 },
  );
});

test('k-means never ends worse than its k-means++ start, and repeats with its seed', () => {
  const points = pointsOf(ring(9, 200, 5).values, 2);
  const run = (seed: number): number => kMeans(points, 5, new Random(seed)).inertia;
  expect(run(4)).toBe(run(4));
  expect(run(4)).toBeLessThan(2);
});

test('wrong input is named', () => {
  expect(() => pointsOf([1, 2, 3], 2)).toThrow(/3 values are not rows of 2/);
  expect(() => pointsOf([1, NaN], 2)).toThrow(/NaN of row 1/);
  const points = pointsOf([1, 2, 3, 4], 2);
  const start = { kind: 'labels', labels: [0, 7] } as const;
  expect(() => fitGaussianMixture(points, { components: 2, start })).toThrow(/label 7/);
  expect(() => fitGaussianMixture(points, { components: 3, start })).toThrow(/3 components from 2/);
});
