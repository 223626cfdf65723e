/**
 * Which panels are targets: how they are drawn while training, and what they are as tensors. Problems of
 * one batch may have different and differently many targets, and several sets of them for one encoded
 * matrix, all in tensors of fixed shape, so that a captured CUDA graph sees new ones by an update in place.
 */
import { boolean, CounterRandom, integer, object, STREAM, withDefault } from '../../base/index.js';
import type { Read, Reader } from '../../base/index.js';
import { MATRIX_PANELS } from '../../matrix/index.js';
import { tensor, zeros, type Device, type Tensor } from '../../torch/index.js';
import { ModelError } from '../errors.js';
import type { BatchPart, Missing } from '../system.js';

const fields = object({
  /** Whether every problem of a batch has the same target positions. */
  sharedByBatch: boolean,
  /** A target set has min..max panels, each number equally likely but in the `smallestSets`. */
  min: integer({ min: 1, max: 8 }),
  max: integer({ min: 1, max: 8 }),
  /** Target sets drawn for each encoded matrix; the regularisers are averaged over them. */
  setsPerProblem: integer({ min: 1, max: 9 }),
  /** How many of the target sets have no more than `min` panels. */
  smallestSets: withDefault(integer({ min: 0, max: 9 }), 0),
  /** Most targets of a problem that the decoder paints; they then stand for the others too. */
  decoded: integer({ min: 1, max: 8 }),
});
export type TargetsConfig = Read<typeof fields>;

/** How targets are drawn. */
export const targetsReader: Reader<TargetsConfig> = (given) => {
  const config = fields(given);
  const { min, max, smallestSets, setsPerProblem } = config;
  if (min > max) given.fail(`min ${min} is above max ${max}`);
  if (smallestSets > setsPerProblem) {
    given.fail(
      `smallestSets ${smallestSets} is above setsPerProblem ${setsPerProblem}: change both`,
    );
  }
  return config;
};

/** S target sets for each of N problems, each of up to T panels. */
export interface TargetSets {
  /** Positions 0..8 of the targets, i64 [S, N, T]; what stands in unused places does not matter. */
  readonly index: Tensor;
  /** 1 for a target, 0 for an unused place, f32 [S, N, T]. */
  readonly weight: Tensor;
}

/** The same before it is moved to a device. */
export interface HostTargets {
  readonly sets: number;
  readonly problems: number;
  readonly places: number;
  readonly index: BigInt64Array;
  readonly weight: Float32Array;
}

/** Positions (0..8) of the targets: one list for each problem of each set. */
export function hostTargets(sets: readonly (readonly (readonly number[])[])[]): HostTargets {
  const problems = sets[0]?.length ?? 0;
  const places = Math.max(1, ...sets.flat().map((positions) => positions.length));
  const index = new BigInt64Array(sets.length * problems * places);
  const weight = new Float32Array(index.length);
  sets.forEach((problemsOfSet, s) => {
    if (problemsOfSet.length !== problems) {
      throw new ModelError(`targets: ${problemsOfSet.length} problems beside ${problems}`);
    }
    problemsOfSet.forEach((positions, n) => {
      requireTargets(positions);
      const offset = (s * problems + n) * places;
      for (let place = 0; place < places; place++) {
        // Unused places repeat a target, so that the decoder sees no other panel.
        index[offset + place] = BigInt(positions[Math.min(place, positions.length - 1)]);
        weight[offset + place] = place < positions.length ? 1 : 0;
      }
    });
  });
  return { sets: sets.length, problems, places, index, weight };
}

function requireTargets(positions: readonly number[]): void {
  const wrong = positions.find((at) => !Number.isInteger(at) || at < 0 || at >= MATRIX_PANELS);
  if (wrong !== undefined) throw new ModelError(`targets: position ${wrong} is not one of 0..8`);
  const distinct = new Set(positions).size;
  if (distinct !== positions.length || distinct < 1 || distinct > MATRIX_PANELS - 1) {
    throw new ModelError(`targets: [${positions.join(', ')}] are not 1 to 8 different positions`);
  }
}

/** Targets as tensors on a device. */
export function targetTensors(targets: HostTargets, device: Device = 'cpu'): TargetSets {
  const shape = [targets.sets, targets.problems, targets.places];
  return {
    index: tensor(targets.index, { dtype: 'i64' }).reshape(shape).to({ device }),
    weight: tensor(targets.weight, { dtype: 'f32' }).reshape(shape).to({ device }),
  };
}

/** 1 at context panels, 0 at targets: f32 [S, N, 9]. */
export function contextOf({ index, weight }: TargetSets): Tensor {
  const [sets, problems] = index.shape;
  const counts = zeros([sets, problems, MATRIX_PANELS], { device: index.device });
  // A repeated index in an unused place adds 0.
  return counts.scatterAdd(2, index, weight).rsub(1);
}

/** 1 at present panels, 0 at missing ones, [1, N, 9]. */
export function contextTensor(missing: Missing, device: Device): Tensor {
  return contextOf(targetTensors(hostTargets([missing]), device));
}

/**
 * Draws the target sets of a part of a step's batch of `batchSize` problems into row-major [S, N, T] arrays:
 * positions 0..8 (an unused place repeats a target), and 1 for a target, 0 for an unused place. The sets of
 * a problem begin at different panels of one random order, so that single targets never repeat.
 */
export function drawTargets(
  config: TargetsConfig,
  seed: number,
  step: number,
  batchSize: number,
  part: BatchPart,
  index: BigInt64Array,
  weight: Float32Array,
): void {
  const { sharedByBatch, setsPerProblem, smallestSets, min, max } = config;
  for (let n = 0; n < part.count; n++) {
    const position = sharedByBatch ? step : step * batchSize + part.first + n;
    const random = new CounterRandom(seed, STREAM.targets, position);
    const order = firstOfShuffle(random, Math.min(MATRIX_PANELS, setsPerProblem + max - 1));
    for (let s = 0; s < setsPerProblem; s++) {
      const isSmallest = s < smallestSets || min === max;
      const count = isSmallest ? min : min + random.below(max - min + 1);
      const at = (s * part.count + n) * max;
      for (let place = 0; place < max; place++) {
        const panel = order[(s + Math.min(place, count - 1)) % order.length];
        index[at + place] = BigInt(panel);
        weight[at + place] = place < count ? 1 : 0;
      }
    }
  }
}

/** The first `length` panels of a random order: no more of it is drawn than is looked at. */
function firstOfShuffle(random: CounterRandom, length: number): number[] {
  const panels = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  for (let at = 0; at < length; at++) {
    const other = at + random.below(MATRIX_PANELS - at);
    const taken = panels[other];
    panels[other] = panels[at];
    panels[at] = taken;
  }
  return panels.slice(0, length);
}
