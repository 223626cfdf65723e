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

/** Of a Gaussian. */
export const density = (x: number, mean: number, deviation: number): number =>
  Math.exp(-0.5 * ((x - mean) / deviation) ** 2) / (deviation * Math.sqrt(2 * Math.PI));

/** KL of two Gaussians by Simpson's rule over ±12 deviations of q. */
export function integratedKl(q: readonly [number, number], p: readonly [number, number]): number {
  const steps = 4000;
  const [low, high] = [q[0] - 12 * q[1], q[0] + 12 * q[1]];
  const h = (high - low) / steps;
  const logRatio = (x: number): number =>
    -0.5 * ((x - q[0]) / q[1]) ** 2 + 0.5 * ((x - p[0]) / p[1]) ** 2 + Math.log(p[1] / q[1]);
  let sum = 0;
  for (let i = 0; i <= steps; i++) {
    const x = low + i * h;
    const weight = i === 0 || i === steps ? 1 : i % 2 === 1 ? 4 : 2;
    sum += weight * density(x, q[0], q[1]) * logRatio(x);
  }
  return (sum * h) / 3;
}
