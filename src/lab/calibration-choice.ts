/**
 * The test a distance is judged by: the true panels of a problem among those at the same positions of
 * other problems of the batch. Its loss is the mean negative log of the probability of the true ones,
 * at the temperature that suits the distance best.
 */
import { Random } from '../matrix/index.js';
import type { Whitened } from './whitening.js';

/** Problems to judge on. */
export interface Targets {
  /** Missing positions 1..9 of each problem. */
  readonly positions: readonly (readonly number[])[];
  /** Concepts [D] of each problem's nine panels. */
  readonly encoded: readonly (readonly Float64Array[])[];
  /** Predicted concepts [D] at its missing positions. */
  readonly predicted: readonly (readonly Float64Array[])[];
}

const CANDIDATES = 64;

function squaredDistance(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] - b[i]) ** 2;
  return sum;
}

/** The problems whose panels are offered to each problem, its own first. */
export function drawCandidates(count: number, seed: number): number[][] {
  const offered = Math.min(CANDIDATES, count);
  return Array.from({ length: count }, (_, n) => {
    const others = new Random(seed, n, 77).subset(count, offered).filter((other) => other !== n);
    return [n, ...others.slice(0, offered - 1)];
  });
}

/** Distances of candidates [problem][candidate], the true one first. */
export function inBatchDistances(
  { encoded, predicted }: Whitened,
  { positions }: Targets,
  offered: readonly (readonly number[])[],
): Float64Array[] {
  return positions.map((missing, n) =>
    Float64Array.from(offered[n], (other) => {
      let sum = 0;
      missing.forEach((position, t) => {
        sum += squaredDistance(encoded[other][position - 1], predicted[n][t]);
      });
      return sum;
    }),
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
