/** Targets of one batch, drawn as training draws them. */
import type { HostTargets, TargetSets } from '../../src/models/index.js';
import { drawTargets, targetTensors, type TargetsConfig } from '../../src/models/index.js';
import type { Device } from '../../src/torch/index.js';

/** Those of step `step` of a run with this seed. */
export function drawnTargets(
  config: TargetsConfig,
  problems: number,
  { seed, step = 0, device }: { seed: number; step?: number; device?: Device },
): TargetSets {
  const { setsPerProblem: sets, max: places } = config;
  const length = sets * problems * places;
  const arrays = { index: new BigInt64Array(length), weight: new Float32Array(length) };
  const part = { first: 0, count: problems };
  drawTargets(config, seed, step, problems, part, arrays.index, arrays.weight);
  const targets: HostTargets = { sets, problems, places, ...arrays };
  return targetTensors(targets, device);
}
