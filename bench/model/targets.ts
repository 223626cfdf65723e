/** Targets of one batch, drawn as training draws them. */
import type { HostTargets, TargetSets } from '../../src/models/index.js';
import { targetTensors, type TargetsConfig } from '../../src/models/index.js';
import type { Device } from '../../src/torch/index.js';
import { fillTargets } from '../../src/training/random/selection.js';

/** Those of step `step` of a run with this seed. */
export function drawnTargets(
  config: TargetsConfig,
  problems: number,
  { seed, step = 0, device }: { seed: number; step?: number; device?: Device },
): TargetSets {
  const { setsPerProblem: sets, max: places } = config;
  const length = sets * problems * places;
  const arrays = { index: new BigInt64Array(length), weight: new Float32Array(length) };
  fillTargets(config, seed, step, problems, { first: 0, count: problems }, arrays, 0);
  const targets: HostTargets = { sets, problems, places, ...arrays };
  return targetTensors(targets, device);
}
