/**
 * `rules-<step>.json`: the rules a model parses from fixed validation problems at one moment of
 * training, with the true rules beside them, from which the figures of rule distributions are made.
 */
import { MATRIX_PIXELS, samplePanels, type ComponentRules } from '../matrix/index.js';
import { readOut, type CrabModel, type MixtureData, type RulePrior } from '../models/index.js';
import { noGrad, scope, type Device } from '../torch/index.js';
import { makeProblem, type ProblemSource } from './feed/problem-maker.js';
import { deviceTensor, dtypeOf } from './tensors.js';

export interface RulesSnapshot {
  readonly step: number;
  /** Problem n is index n of this source. */
  readonly source: ProblemSource;
  /** Means of q(r|z): for each problem, for each concept, d_r values. */
  readonly rules: readonly (readonly (readonly number[])[])[];
  /** True rules of each problem, by component. */
  readonly truth: readonly (readonly ComponentRules[])[];
  /** The rule prior at that moment, one mixture a concept; null before the first fit. */
  readonly prior: readonly MixtureData[] | null;
}

const SLICE = 64;

/** Rules [n][M][d_r] of problems first .. first + count - 1. */
function parseRules(
  model: CrabModel,
  source: ProblemSource,
  first: number,
  count: number,
  device: Device,
): number[][][] {
  const bytes = new Uint8Array(count * MATRIX_PIXELS);
  for (let n = 0; n < count; n++) makeProblem(source, first + n, bytes, n * MATRIX_PIXELS);
  return noGrad(() =>
    scope(() => {
      const panels = deviceTensor(bytes, [count, 9, 64, 64], device);
      const { rules } = readOut(model, panels.to({ dtype: dtypeOf(model) }).div_(255));
      return rules.mean.permute([1, 0, 2]).toNested() as number[][][]; // [M, n, d_r] → [n, M, d_r]
    }),
  );
}

/** Parses the rules of the first `count` problems of a source. Other work gets its turn in between. */
export async function snapshotRules(
  step: number,
  model: CrabModel,
  prior: RulePrior,
  source: ProblemSource,
  count: number,
  device: Device,
): Promise<RulesSnapshot> {
  const rules: number[][][] = [];
  model.eval();
  try {
    for (let first = 0; first < count; first += SLICE) {
      await new Promise(setImmediate);
      rules.push(...parseRules(model, source, first, Math.min(SLICE, count - first), device));
    }
  } finally {
    model.train();
  }
  const truth = Array.from(
    { length: count },
    (_, index) => samplePanels({ ...source, index }).rules,
  );
  return { step, source, rules, truth, prior: prior.isFitted ? prior.toJSON() : null };
}
