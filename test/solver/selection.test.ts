/** Distances by residual statistics, and the files they are stored in. */
import { describe, expect, test } from 'vitest';
import { invertPositive } from '../../src/base/index.js';
import { formatLabel, parseLabel, Random, samplePanels } from '../../src/matrix/index.js';
import { formatSelection, Metric, packTriangle, parseSelection } from '../../src/solver/index.js';
import type { CovarianceForm, ResidualStatistics } from '../../src/solver/index.js';
import { formatSafetensors, parseSafetensors } from '../../src/solver/safetensors.js';
import { formatRuleMap, parseRuleMap, RuleClassifier } from '../../src/solver/rule-map.js';
import type { RuleMap } from '../../src/solver/rule-map.js';

const M = 3;
const Z = 4;
const D = M * Z;

/** A random positive definite matrix [D, D]. */
function covariance(seed: number): Float64Array {
  const random = new Random(seed);
  const a = Float64Array.from({ length: D * D }, () => random.next() / 2 ** 31 - 1);
  const c = new Float64Array(D * D);
  for (let i = 0; i < D; i++) {
    for (let j = 0; j < D; j++) {
      for (let k = 0; k < D; k++) c[i * D + j] += a[i * D + k] * a[j * D + k];
    }
    c[i * D + i] += 0.5;
  }
  return c;
}

const statistics = (
  form: CovarianceForm,
  stored: Float32Array,
  mean = new Float32Array(D),
): ResidualStatistics => ({ form, shrinkage: 0.1, temperature: 2, mean, covariance: stored });

const residual = Float64Array.from({ length: D }, (_, i) => Math.sin(3 * i + 1));
const sum = (values: ArrayLike<number>): number => Array.from(values).reduce((a, b) => a + b, 0);

describe('the calibrated distance', () => {
  test('with a full covariance is d C^-1 d, solved independently', () => {
    const c = covariance(1);
    const shares = new Metric(statistics('full', packTriangle(c, D)), M, Z).shares(residual);
    // Gaussian elimination on [C | d], a way of its own to C^-1 d.
    const rows = Array.from({ length: D }, (_, i) => [
      ...c.subarray(i * D, i * D + D),
      residual[i],
    ]);
    for (let p = 0; p < D; p++) {
      for (let i = 0; i < D; i++) {
        if (i === p) continue;
        const factor = rows[i][p] / rows[p][p];
        rows[i] = rows[i].map((value, j) => value - factor * rows[p][j]);
      }
    }
    const solved = rows.map((row, i) => row[D] / row[i]);
    for (let m = 0; m < M; m++) {
      const expected = sum(solved.slice(m * Z, m * Z + Z).map((x, i) => x * residual[m * Z + i]));
      expect(shares[m]).toBeCloseTo(expected, 4);
    }
  });

  test('with blocks and with variances is that of the matrix they stand for', () => {
    const c = covariance(2);
    const asFull = (keep: (i: number, j: number) => boolean): Float64Array =>
      c.map((value, at) => (keep(Math.floor(at / D), at % D) ? value : 0));
    const blockOf = (i: number): number => Math.floor(i / Z);
    const blocks = Float32Array.from({ length: D * Z }, (_, at) => {
      const row = Math.floor(at / Z);
      return c[row * D + blockOf(row) * Z + (at % Z)];
    });
    const diagonal = Float32Array.from({ length: D }, (_, i) => c[i * (D + 1)]);
    const cases = [
      ['blocks', blocks, asFull((i, j) => blockOf(i) === blockOf(j))],
      ['diagonal', diagonal, asFull((i, j) => i === j)],
    ] as const;
    for (const [form, stored, full] of cases) {
      const own = new Metric(statistics(form, stored), M, Z).shares(residual);
      const same = new Metric(statistics('full', packTriangle(full, D)), M, Z).shares(residual);
      own.forEach((share, m) => expect(share).toBeCloseTo(same[m], 5));
    }
    const plain = new Metric(statistics('identity', Float32Array.of(4)), M, Z).shares(residual);
    expect(sum(plain)).toBeCloseTo(sum(residual.map((value) => value ** 2)) / 4, 9);
  });

  test('counts from the mean residual', () => {
    const mean = Float32Array.from(residual);
    const metric = new Metric(statistics('identity', Float32Array.of(1), mean), M, Z);
    expect(sum(metric.shares(residual))).toBeCloseTo(0, 9);
  });

  test('of a matrix that is no covariance is an error', () => {
    const broken = covariance(3);
    broken[0] = -1;
    expect(() => new Metric(statistics('full', packTriangle(broken, D)), M, Z)).toThrow(
      /not positive definite/,
    );
  });
});

test('an inverse times its matrix is the identity', () => {
  const c = covariance(4);
  const inverse = invertPositive(c, D);
  for (let i = 0; i < D; i++) {
    for (let j = 0; j < D; j++) {
      let product = 0;
      for (let k = 0; k < D; k++) product += c[i * D + k] * inverse[k * D + j];
      expect(product).toBeCloseTo(i === j ? 1 : 0, 8);
    }
  }
});

describe('selection.safetensors', () => {
  const full = statistics('full', packTriangle(covariance(5), D), Float32Array.from(residual));
  const diagonal = statistics('diagonal', new Float32Array(D).fill(2));

  test('comes back as it was', () => {
    const bytes = formatSelection(
      new Map([
        ['last', full],
        ['targets2', diagonal],
      ]),
    );
    const read = parseSelection(bytes, M, Z);
    expect([...read.keys()]).toEqual(['last', 'targets2']);
    expect(read.get('last')).toEqual(full);
    expect(read.get('targets2')).toEqual(diagonal);
  });

  test('of another size or with wild values is refused', () => {
    const bytes = formatSelection(new Map([['last', full]]));
    expect(() => parseSelection(bytes, M + 1, Z)).toThrow(/last.mean is not 16 numbers/);
    const wild = { ...full, mean: full.mean.map(() => NaN) };
    expect(() => parseSelection(formatSelection(new Map([['last', wild]])), M, Z)).toThrow(
      /numbers/,
    );
  });
});

describe('safetensors', () => {
  const tensors = new Map([['a', { shape: [2, 3], data: Float32Array.of(1, 2, 3, 4, 5, 6) }]]);
  const bytes = formatSafetensors({ tensors, metadata: { note: 'ünïcode' } });

  test('come back as they were', () => {
    const read = parseSafetensors(bytes, 'x.safetensors');
    expect(read.metadata).toEqual({ note: 'ünïcode' });
    expect(read.tensors.get('a')).toEqual(tensors.get('a'));
  });

  test.each([
    ['cut', bytes.subarray(0, bytes.length - 1)],
    ['too short', bytes.subarray(0, 5)],
    ['longer', Uint8Array.from([...bytes, 0])],
    ['with a huge header', Uint8Array.from(bytes, (byte, i) => (i === 6 ? 255 : byte))],
  ])('%s are refused', (_, damaged) => {
    expect(() => parseSafetensors(damaged, 'x.safetensors')).toThrow(/safetensors/);
  });
});

test('rule categories are the responsibilities of the mixture', () => {
  const mixture = {
    weights: [0.75, 0.25],
    means: [
      [0, 0],
      [2, 0],
    ],
    covariances: [
      [
        [1, 0],
        [0, 1],
      ],
      [
        [1, 0],
        [0, 1],
      ],
    ],
  };
  const { probabilities, logDensity } = new RuleClassifier(mixture).classify([1, 0]);
  // Halfway between two equal Gaussians only the weights decide.
  expect(probabilities[0]).toBeCloseTo(0.75, 12);
  expect(logDensity).toBeCloseTo(-0.5 - Math.log(2 * Math.PI), 12);
});

describe('categories of several components', () => {
  const round = [
    [0.01, 0],
    [0, 0.01],
  ];
  const mixture = {
    weights: [0.4, 0.2, 0.4],
    means: [
      [1, 0],
      [-1, 0],
      [0, 1],
    ],
    covariances: [round, round, round],
  };

  test('a rule is as probable in a category as in its components together', () => {
    const classifier = new RuleClassifier({ ...mixture, categories: [0, 0, 1] });
    const apart = new RuleClassifier(mixture).classify([0.2, 0.4]);
    const together = classifier.classify([0.2, 0.4]);
    expect(classifier.categories).toBe(2);
    expect(together.logDensity).toBe(apart.logDensity);
    expect(together.probabilities[0]).toBeCloseTo(
      apart.probabilities[0] + apart.probabilities[1],
      12,
    );
    expect(together.probabilities[1]).toBeCloseTo(apart.probabilities[2], 12);
    for (const rule of [
      [1, 0],
      [-1, 0],
    ]) {
      expect(classifier.classify(rule).probabilities[0]).toBeCloseTo(1, 6);
    }
  });

  const read = (categories: unknown) =>
    parseRuleMap(
      new TextEncoder().encode(
        JSON.stringify({
          prior: [{ ...mixture, categories }],
          source: { configuration: 'center', noisy: false, seed: 1 },
          truth: [],
          snapshots: [],
        }),
      ),
      1,
      2,
    );

  test('rules of moments may be written as multiples of a unit', () => {
    const label = '[[["Number/Position","Constant",0]]]';
    const bytes = (snapshot: object, truth = label) =>
      new TextEncoder().encode(
        JSON.stringify({
          prior: null,
          source: { configuration: 'center', noisy: false, seed: 1 },
          truth: [truth],
          snapshots: [{ step: 5, ...snapshot }],
        }),
      );
    const rulesOf = (snapshot: object) =>
      parseRuleMap(bytes(snapshot), 1, 2).snapshots[0].rules[0][0];
    expect(rulesOf({ rules: [[[0.25, -1.5]]] })).toEqual([0.25, -1.5]);
    expect(rulesOf({ unit: 0.001, rules: [[[250, -1500]]] })).toEqual([0.25, -1.5]);
    expect(() => parseRuleMap(bytes({ rules: [[[1, 1]]] }, '[[["Type","x",0]]]'), 1, 2)).toThrow(
      /^rules\.json: truth\[0\]\[0\]\[0\]\[1\]: expected one of Constant/,
    );
    expect(() => rulesOf({ unit: 'mm', rules: [[[250, -1500]]] })).toThrow(/unit/);
  });

  test('a map is read as it was written, in less room than at length', () => {
    const random = new Random(5);
    const map: RuleMap = {
      prior: [mixture],
      source: { configuration: 'left-right', noisy: false, seed: 1 },
      truth: Array.from({ length: 40 }, (_, index) =>
        parseLabel(
          formatLabel(
            samplePanels({ configuration: 'left-right', noisy: false, seed: 1, index }).rules,
          ),
        ),
      ),
      snapshots: [10, 20].map((step) => ({
        step,
        rules: Array.from({ length: 40 }, () => [
          Array.from({ length: 2 }, () => (random.below(8001) - 4000) * 0.001),
        ]),
      })),
    };
    const bytes = formatRuleMap(map);
    const found = parseRuleMap(bytes, 1, 2);
    expect(found).toEqual(map);
    expect(formatRuleMap(found)).toEqual(bytes);
    const atLength = { ...map, truth: map.truth.map((label) => formatLabel(label)) };
    expect(bytes.length).toBeLessThan(JSON.stringify(atLength).length / 3);
    const damaged = (change: (map: { truth: object; snapshots: object[] }) => void) => () => {
      const json = JSON.parse(new TextDecoder().decode(bytes)) as Parameters<typeof change>[0];
      change(json);
      return parseRuleMap(new TextEncoder().encode(JSON.stringify(json)), 1, 2);
    };
    const values = (text: string) =>
      damaged(({ snapshots }) => Object.assign(snapshots[0], { values: text }));
    expect(values('AAAA')).toThrow(/rules\.json: snapshots.*values.*expected 80 values/);
    expect(values('!')).toThrow(/rules\.json: snapshots.*values.*base64/);
    const problems = damaged(({ truth }) => Object.assign(truth, { problems: [[[999]]] }));
    expect(problems).toThrow(/rules\.json: truth.problems/);
    const rules = damaged(({ truth }) => Object.assign(truth, { rules: ['["Type"]'] }));
    expect(rules).toThrow(/rules\.json: truth\.rules\[0\].*expected 3 items/);
  });

  test('are read, and may be absent', () => {
    expect(read([1, 0, 1]).prior?.[0].categories).toEqual([1, 0, 1]);
    expect(read(undefined).prior?.[0]).not.toHaveProperty('categories');
  });

  test.each([[[0, 1]], [[0, 0, 3]], [[0, 2, 2]], [[0, 1.5, 1]], ['two']])(
    'are refused: %j',
    (categories) => {
      expect(() => read(categories)).toThrow(/rules\.json: prior.*categories/);
    },
  );
});
