/**
 * The test a distance is judged by: the true panels of a problem among panels of other problems of the
 * batch, half of them those that look most alike. Its loss is the mean negative log of the probability of
 * the true ones, at the temperature that suits the distance best. Random panels alone would not do: a
 * trained model tells nearly all of them apart by any distance.
 */
import { MATRIX_PANELS, Random } from '../matrix/index.js';
import { squaredDistance } from './concept-subject.js';

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
export type Whitened = Omit<Targets, 'positions'>;

const CANDIDATES = 64;

/** A panel of a problem for each missing position. */
export interface Offered {
  readonly problem: number;
  /** Positions 1..9. */
  readonly positions: readonly number[];
}

/** Closer than this the panels are taken for the same picture: squared, as a share of the mean distance. */
const SAME = 1e-6;

/** What could be offered: any panel for one missing, the same positions of other problems for several. */
function* offers({ positions }: Targets, n: number): Generator<Offered> {
  const missing = positions[n];
  for (let problem = 0; problem < positions.length; problem++) {
    if (problem === n) continue;
    if (missing.length > 1) yield { problem, positions: missing };
    else for (let at = 1; at <= MATRIX_PANELS; at++) yield { problem, positions: [at] };
  }
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

/** What each problem is offered, its own panels first, then those most alike, then random ones. */
export function drawCandidates(targets: Targets, seed: number): Offered[][] {
  const { positions, encoded } = targets;
  return positions.map((missing, n) => {
    const own = { problem: n, positions: missing };
    const truth = missing.map((at) => encoded[n][at - 1]);
    const others = [...offers(targets, n)].map((offered) => ({
      offered,
      distance: distanceOf(targets, offered, truth),
    }));
    const mean = others.reduce((sum, { distance }) => sum + distance, 0) / others.length;
    const different = others.filter(({ distance }) => distance > SAME * mean);
    const alike = different
      .toSorted((a, b) => a.distance - b.distance)
      .slice(0, CANDIDATES / 2 - 1)
      .map(({ offered }) => offered);
    const most = Math.min(CANDIDATES / 2, different.length);
    const random = new Random(seed, n, 77).subset(different.length, most);
    return [own, ...alike, ...random.map((i) => different[i].offered)];
  });
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
    let least = Infinity;
    for (const distance of row) least = Math.min(least, distance);
    let sum = 0;
    for (const distance of row) sum += Math.exp((least - distance) / (2 * temperature));
    total += (row[0] - least) / (2 * temperature) + Math.log(sum);
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
