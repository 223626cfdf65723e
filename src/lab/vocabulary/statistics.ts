/**
 * How predictions of a group lie from the entries that are right: a mixture of normal distributions around
 * zero whose weights depend on the kind of rule that was parsed, fitted by expectation maximisation to
 * predictions of panels whose entries are known. How many kinds and components there are is chosen, and the
 * temperature fitted, on contexts kept apart: by how likely they find the right entry.
 */
import { choleskyInverse } from '../../base/index.js';
import { Random } from '../../matrix/index.js';
import { kMeans } from '../../models/index.js';
import { nearestGate, Vocabulary } from '../../solver/index.js';
import type { BundleSizes, EntryStatistics, VocabularyGroup } from '../../solver/index.js';

/** Predictions of one group, with what was right. */
export interface Predictions {
  /** Coordinates [r] of each prediction. */
  readonly predicted: readonly Float64Array[];
  /** Coordinates of what was right. */
  readonly encoded: readonly Float64Array[];
  /** Parsed rules [R] of the group's concepts. */
  readonly rules: readonly (readonly number[])[];
}

interface Shape {
  readonly gates: number;
  readonly components: number;
}

const SHAPES: readonly Shape[] = [
  { gates: 1, components: 1 },
  { gates: 12, components: 5 },
  { gates: 24, components: 8 },
];
const ROUNDS = 30;
/** Added to every variance, in units of sigma_z squared. */
const FLOOR = 0.02;
/** As many rows of the common covariance are mixed into each component. */
const PRIOR_ROWS = 1;
const GATE_SEED = 7_900_000_007;

/** Weight of each value of r in the kinds of rules: their deviation, and never nothing. */
function scaleOf(rules: Predictions['rules']): Float32Array {
  return Float32Array.from(rules[0], (_, i) => {
    const mean = rules.reduce((sum, rule) => sum + rule[i], 0) / rules.length;
    const variance = rules.reduce((sum, rule) => sum + (rule[i] - mean) ** 2, 0) / rules.length;
    return Math.sqrt(variance) + 1e-3;
  });
}

function gatesOf(rules: Predictions['rules'], scale: Float32Array, gates: number): Float32Array {
  const dimension = scale.length;
  const values = Float64Array.from(
    rules.flatMap((rule) => rule.map((value, i) => value / scale[i])),
  );
  const random = new Random(GATE_SEED, gates);
  const { centres } = kMeans({ values, count: rules.length, dimension }, gates, random);
  return Float32Array.from(centres);
}

/** sum of weight x x' over residuals; only the lower triangle is filled. */
function scatter(residuals: readonly Float64Array[], weight: (n: number) => number): Float64Array {
  const size = residuals[0].length;
  const sum = new Float64Array(size * size);
  residuals.forEach((x, n) => {
    const w = weight(n);
    if (w < 1e-9) return;
    for (let i = 0; i < size; i++) {
      const own = w * x[i];
      for (let j = 0, at = i * size; j <= i; j++, at++) sum[at] += own * x[j];
    }
  });
  return sum;
}

function raised(matrix: Float64Array, size: number): Float64Array {
  for (let i = 0; i < size; i++) matrix[i * (size + 1)] += FLOOR;
  return matrix;
}

/** log N(x; 0, C) up to a constant, from the inverse Cholesky factor of C and the logarithms of its diagonal. */
function logDensity(whitening: Float64Array, logs: Float64Array, x: Float64Array): number {
  const size = x.length;
  let value = 0;
  for (let i = 0; i < size; i++) {
    let white = 0;
    for (let j = 0, at = i * size; j <= i; j++, at++) white += whitening[at] * x[j];
    value += logs[i] - (white * white) / 2;
  }
  return value;
}

/** How much each residual belongs to each component at first: by its size, and a little to all. */
function firstShares(residuals: readonly Float64Array[], components: number): Float64Array[] {
  const order = [...residuals.keys()].sort((a, b) => norm(residuals[a]) - norm(residuals[b]));
  const shares = residuals.map(() => new Float64Array(components).fill(0.1 / components));
  order.forEach((n, rank) => (shares[n][Math.floor((rank * components) / order.length)] += 0.9));
  return shares;
}

/** Weights of the components for every kind of rule, which starts from those of all, worth half a row. */
function weightsOf(
  shares: readonly Float64Array[],
  totals: readonly number[],
  gateOf: readonly number[],
  gates: number,
): Float64Array {
  const components = totals.length;
  const weights = new Float64Array(gates * components);
  const rows = new Float64Array(gates).fill(0.5);
  for (let g = 0; g < gates; g++) {
    totals.forEach((total, c) => (weights[g * components + c] = (0.5 * total) / shares.length));
  }
  shares.forEach((each, n) => {
    rows[gateOf[n]]++;
    each.forEach((value, c) => (weights[gateOf[n] * components + c] += value));
  });
  return weights.map((value, i) => value / rows[Math.floor(i / components)]);
}

/** Shares the residuals among the components anew, in place; `logWeights` are those of each residual's rule. */
function shareAnew(
  shares: readonly Float64Array[],
  residuals: readonly Float64Array[],
  whitening: readonly Float64Array[],
  logWeights: (n: number, component: number) => number,
): void {
  const size = residuals[0].length;
  const diagonals = whitening.map((factor) =>
    Float64Array.from({ length: size }, (_, i) => Math.log(factor[i * (size + 1)])),
  );
  shares.forEach((each, n) => {
    let most = -Infinity;
    for (let c = 0; c < each.length; c++) {
      each[c] = logWeights(n, c) + logDensity(whitening[c], diagonals[c], residuals[n]);
      most = Math.max(most, each[c]);
    }
    let sum = 0;
    for (let c = 0; c < each.length; c++) sum += each[c] = Math.exp(each[c] - most);
    for (let c = 0; c < each.length; c++) each[c] /= sum;
  });
}

/** Expectation maximisation of a mixture of the residuals, whose weights depend on the kind of rule. */
function fit({ predicted, encoded, rules }: Predictions, shape: Shape): EntryStatistics {
  const size = predicted[0].length;
  const { components } = shape;
  const residuals = encoded.map((right, n) => right.map((value, i) => value - predicted[n][i]));
  const scale = scaleOf(rules);
  const gates = gatesOf(rules, scale, shape.gates);
  const gateOf = rules.map((rule) => nearestGate({ gates, scale }, rule));
  const common = scatter(residuals, () => 1 / residuals.length);
  const shares = firstShares(residuals, components);
  let whitening: Float64Array[] = [];
  let weights: Float64Array = new Float64Array(0);
  for (let round = 0; round < ROUNDS; round++) {
    const totals = Array.from({ length: components }, (_, c) =>
      shares.reduce((sum, each) => sum + each[c], 0),
    );
    whitening = totals.map((total, c) => {
      const sum = scatter(residuals, (n) => shares[n][c]);
      const mixed = sum.map((value, i) => (value + PRIOR_ROWS * common[i]) / (total + PRIOR_ROWS));
      return choleskyInverse(raised(mixed, size), size);
    });
    weights = weightsOf(shares, totals, gateOf, shape.gates);
    const logWeights = weights.map((weight) => Math.log(weight + 1e-12));
    shareAnew(shares, residuals, whitening, (n, c) => logWeights[gateOf[n] * components + c]);
  }
  return {
    gates,
    scale,
    weights: Float32Array.from(weights),
    whitening: Float32Array.from(whitening.flatMap((factor) => Array.from(factor))),
    temperature: 1,
    least: -1e9,
  };
}

const norm = (x: Float64Array): number => x.reduce((sum, value) => sum + value * value, 0);

/** What contexts kept apart say of statistics. */
interface Judged {
  /** Log-likelihoods of all entries for each prediction. */
  readonly likelihoods: readonly Float64Array[];
  /** The right entry of each. */
  readonly right: readonly number[];
}

function largestOf(values: Float64Array): number {
  let largest = -Infinity;
  for (let i = 0; i < values.length; i++) if (values[i] > largest) largest = values[i];
  return largest;
}

/** e to the minus this, even a thousand times, adds nothing to 1 in double precision. */
const NOTHING = 50;

/** Mean of -log p(right entry) at a temperature; `tops` are the largest likelihoods. */
function loss({ likelihoods, right }: Judged, tops: Float64Array, temperature: number): number {
  let sum = 0;
  likelihoods.forEach((each, n) => {
    const most = tops[n];
    const least = most - NOTHING * temperature;
    let total = 0;
    for (let e = 0; e < each.length; e++) {
      if (each[e] > least) total += Math.exp((each[e] - most) / temperature);
    }
    sum += Math.log(total) - (each[right[n]] - most) / temperature;
  });
  return sum / likelihoods.length;
}

const TEMPERATURES = Array.from({ length: 33 }, (_, i) => 2 ** ((i - 12) / 4));
/**
 * A prediction is near no entry if it is this many times less likely (in log-density, from the middle) than
 * the least likely one of those seen: tails are wider than normal distributions have them.
 */
const BEYOND = 4;

/** The statistics of one group for one missing set, chosen among the shapes. */
export function entryStatistics(
  fitted: Predictions,
  judge: (statistics: EntryStatistics) => Judged,
): EntryStatistics {
  let best: { loss: number; statistics: EntryStatistics } | null = null;
  for (const shape of SHAPES) {
    if (fitted.rules.length < 20 * shape.gates) continue;
    const statistics = fit(fitted, shape);
    const judged = judge(statistics);
    const tops = Float64Array.from(judged.likelihoods, largestOf);
    const losses = TEMPERATURES.map((temperature) => loss(judged, tops, temperature));
    const least = Math.min(...losses);
    if (best !== null && least >= best.loss) continue;
    tops.sort();
    const middle = tops[Math.floor(tops.length / 2)];
    best = {
      loss: least,
      statistics: {
        ...statistics,
        temperature: TEMPERATURES[losses.indexOf(least)],
        least: middle - BEYOND * (middle - tops[0]) - 1,
      },
    };
  }
  if (best === null) throw new RangeError('a vocabulary needs 20 problems at least');
  return best.statistics;
}

/** Log-likelihoods of a group's entries by statistics that are still being tried. */
export function likelihoodsOf(
  group: VocabularyGroup,
  statistics: EntryStatistics,
  sizes: BundleSizes,
  sigmaZ: number,
  asked: readonly { readonly row: Float32Array; readonly rules: readonly (readonly number[])[] }[],
): Float64Array[] {
  const tried = { ...group, statistics: new Map([['last', statistics] as const]) };
  const vocabulary = new Vocabulary({ groups: [tried], shared: [], still: [] }, sizes, sigmaZ);
  return asked.map(({ row, rules }) => vocabulary.logLikelihoods(0, row, rules, [9]));
}
