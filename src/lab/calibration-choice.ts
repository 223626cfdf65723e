/**
 * The test a distance is judged by: the true panels of a problem among panels of other problems of the
 * batch, half of them those that look most alike. Its loss is the mean negative log of the probability of
 * the true ones, at the temperature that suits the distance best. Random panels alone would not do: a
 * trained model tells nearly all of them apart by any distance.
 */
import { logSumExp } from '../base/index.js';
import { MATRIX_PANELS, Random } from '../matrix/index.js';
import { squaredDistance, type RowAlgebra } from './row-algebra.js';

/** Problems to judge on. */
export interface Targets {
  /** Missing positions 1..9 of each problem. */
  readonly positions: readonly (readonly number[])[];
  /** Concepts [D] of each problem's nine panels. */
  readonly encoded: readonly (readonly Float64Array[])[];
  /** Predicted concepts [D] at its missing positions. */
  readonly predicted: readonly (readonly Float64Array[])[];
}

/** The same in coordinates in which a distance is plain Euclidean. */
type Whitened = Omit<Targets, 'positions'>;

const CANDIDATES = 64;

/** A panel of a problem for each missing position. */
export interface Offered {
  readonly problem: number;
  /** Positions 1..9. */
  readonly positions: readonly number[];
}

/** Closer than this the panels are taken for the same picture: squared, as a share of the mean distance. */
const SAME = 1e-6;

/** Problems whose distances to everything are in memory at a time. */
const DISTANCES_AT_ONCE = 256;

/**
 * Distances of problems to all that could be offered them: any panel (9 problem + position - 1) for one that is
 * missing, the same positions of a problem for several.
 */
function distancesToAll(
  { positions, encoded }: Targets,
  problems: readonly number[],
  algebra: RowAlgebra,
): Float64Array[] {
  const truth = (n: number, t: number): Float64Array => encoded[n][positions[n][t] - 1];
  const [{ length: targets }] = positions;
  if (targets === 1) {
    return algebra.squaredDistances(
      problems.map((n) => truth(n, 0)),
      encoded.flat(),
    );
  }
  const sums = problems.map(() => new Float64Array(encoded.length));
  for (let t = 0; t < targets; t++) {
    for (let at = 1; at <= MATRIX_PANELS; at++) {
      const asked = [...problems.keys()].filter((i) => positions[problems[i]][t] === at);
      if (asked.length === 0) continue;
      const found = algebra.squaredDistances(
        asked.map((i) => truth(problems[i], t)),
        encoded.map((panels) => panels[at - 1]),
      );
      asked.forEach((i, k) => found[k].forEach((value, other) => (sums[i][other] += value)));
    }
  }
  return sums;
}

/** What each problem is offered, its own panels first, then those most alike, then random ones. */
export function drawCandidates(targets: Targets, seed: number, algebra: RowAlgebra): Offered[][] {
  const { positions, encoded } = targets;
  const each = positions[0].length === 1 ? MATRIX_PANELS : 1;
  const offers = (n: number, distances: Float64Array): Offered[] => {
    const missing = positions[n];
    const offeredAt = (place: number): Offered =>
      each === 1
        ? { problem: place, positions: missing }
        : { problem: Math.floor(place / each), positions: [(place % each) + 1] };
    const others = Int32Array.from(distances.keys()).filter(
      (place) => Math.floor(place / each) !== n,
    );
    const mean = others.reduce((sum, place) => sum + distances[place], 0) / others.length;
    const different = others.filter((place) => distances[place] > SAME * mean);
    const nearest = Float64Array.from(different, (place) => distances[place]).sort();
    const count = Math.min(CANDIDATES / 2 - 1, nearest.length);
    const alike = [...different.filter((place) => distances[place] <= nearest[count - 1])]
      .sort((a, b) => distances[a] - distances[b])
      .slice(0, count);
    const most = Math.min(CANDIDATES / 2, different.length);
    const random = new Random(seed, n, 77).subset(different.length, most);
    return [
      { problem: n, positions: missing },
      ...alike.map(offeredAt),
      ...random.map((i) => offeredAt(different[i])),
    ];
  };
  const found: Offered[][] = [];
  for (let first = 0; first < encoded.length; first += DISTANCES_AT_ONCE) {
    const some = [...encoded.keys()].slice(first, first + DISTANCES_AT_ONCE);
    const distances = distancesToAll(targets, some, algebra);
    some.forEach((n, i) => found.push(offers(n, distances[i])));
  }
  return found;
}

function distanceOf(
  { encoded }: Pick<Targets, 'encoded'>,
  { problem, positions }: Offered,
  to: readonly Float64Array[],
): number {
  return positions.reduce(
    (sum, at, t) => sum + squaredDistance(encoded[problem][at - 1], to[t]),
    0,
  );
}

/** Distances of candidates [problem][candidate], the true one first. */
export function inBatchDistances(
  { encoded, predicted }: Whitened,
  offered: readonly (readonly Offered[])[],
): Float64Array[] {
  return offered.map((candidates, n) =>
    Float64Array.from(candidates, (each) => distanceOf({ encoded }, each, predicted[n])),
  );
}

/** Mean negative log probability of the first candidates, with probabilities exp(-distance / 2T). */
export function choiceLoss(distances: readonly Float64Array[], temperature: number): number {
  let total = 0;
  for (const row of distances) {
    const logs = row.map((distance) => -distance / (2 * temperature));
    total += logSumExp(logs) - logs[0];
  }
  return total / distances.length;
}

const GOLDEN = (Math.sqrt(5) - 1) / 2;
const LOG_RANGE: readonly [number, number] = [Math.log(1e-4), Math.log(1e5)];

/** The temperature of the least loss: a golden-section search over its logarithm. */
export function bestTemperature(distances: readonly Float64Array[]): {
  readonly temperature: number;
  readonly loss: number;
} {
  let [low, high] = LOG_RANGE;
  const lossAt = (log: number): number => choiceLoss(distances, Math.exp(log));
  let left = high - GOLDEN * (high - low);
  let right = low + GOLDEN * (high - low);
  let [leftLoss, rightLoss] = [lossAt(left), lossAt(right)];
  for (let i = 0; i < 18; i++) {
    if (leftLoss <= rightLoss) {
      [high, right, rightLoss] = [right, left, leftLoss];
      left = high - GOLDEN * (high - low);
      leftLoss = lossAt(left);
    } else {
      [low, left, leftLoss] = [left, right, rightLoss];
      right = low + GOLDEN * (high - low);
      rightLoss = lossAt(right);
    }
  }
  const log = (low + high) / 2;
  return { temperature: Math.exp(log), loss: lossAt(log) };
}
