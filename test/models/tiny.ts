/** A CRAB small enough for tests, and random problems for it. */
import { drawnTargets } from '../../bench/model/targets.js';
import { crabConfig, CrabModel, hostTargets, targetTensors } from '../../src/models/index.js';
import type { CrabConfig, DeepPartial, TargetSets } from '../../src/models/index.js';
import { Generator, rand, type Tensor } from '../../src/torch/index.js';
import { TINY_NETWORK } from '../solver/random-model.js';

const TINY: DeepPartial<CrabConfig> = { network: { ...TINY_NETWORK, concepts: 3 } };

export const tinyConfig = (overrides: DeepPartial<CrabConfig> = TINY): CrabConfig =>
  crabConfig('crab', 'center', { overrides });

export function tinyModel(seed = 1, config = tinyConfig()): CrabModel {
  return new CrabModel(config.network, { generator: new Generator('cpu', seed) });
}

/** Panels of noise [N, 9, 64, 64]. */
export function noisePanels(problems: number, seed = 2): Tensor {
  return rand([problems, 9, 64, 64], { generator: new Generator('cpu', seed) });
}

/** Panels of two problems, and the same with other content at some positions of each. */
export function damagedPanels(
  first: readonly number[],
  second: readonly number[],
  junk: number,
): [panels: Tensor, damaged: Tensor] {
  const panels = noisePanels(2);
  const damaged = panels.clone();
  [first, second].forEach((positions, n) => {
    for (const position of positions) damaged.select(0, n).select(0, position).fill_(junk);
  });
  return [panels, damaged];
}

export const targetsAt = (...positions: number[][]): TargetSets =>
  targetTensors(hostTargets([positions]));

export function randomTargets(config: CrabConfig, problems: number, seed = 3): TargetSets {
  return drawnTargets(config.targets, problems, { seed });
}

/** Largest absolute difference of two tensors. */
export const largestGap = (a: Tensor, b: Tensor): number => a.sub(b).abs().max().item();
