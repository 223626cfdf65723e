/**
 * Which panels are targets, as tensors of fixed shape: problems of one batch may have different and
 * differently many targets, several sets of them for one encoded matrix, and a captured CUDA graph
 * sees new ones by an update in place.
 */
import { MATRIX_PANELS } from '../../matrix/index.js';
import { tensor, zeros, type Device, type Tensor } from '../../torch/index.js';
import { ModelError } from '../errors.js';

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

/**
 * Gates g_ij = 1 where panels i and j are both context, else 0 (the paper's gate variables).
 * Context [G, N, 9]; gates [G, N, 81].
 */
export function gatesOf(context: Tensor): Tensor {
  const pairs = context.unsqueeze(3).mul(context.unsqueeze(2)); // [G, N, 9, 9]
  return pairs.flatten(2);
}
