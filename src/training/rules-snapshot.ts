/**
 * `rules-<step>.json`: the rules a model parses from fixed validation problems at one moment of
 * training, with the true rules beside them, from which the figures of rule distributions are made.
 */
import { samplePanels, type ComponentRules } from '../matrix/index.js';
import type { Learner, SystemModel } from '../models/index.js';
import { noGrad, scope, tensor } from '../torch/index.js';
import { batchOf, makeRecord, PANELS_ONLY, problemOf, type ProblemSource } from './feed/record.js';

export interface RulesSnapshot {
  readonly step: number;
  /** Problem n is index n of this source. */
  readonly source: ProblemSource;
  /** For each problem, for each concept, the values of its rule. */
  readonly rules: readonly (readonly (readonly number[])[])[];
  /** True rules of each problem, by component. */
  readonly truth: readonly (readonly ComponentRules[])[];
  /** The learner's own state at that moment; of CRAB the rule prior, null before the first fit. */
  readonly prior: unknown;
}

const SLICE = 64;

/** Rules [n][M][d_r] of problems first .. first + count - 1. */
function parseRules(
  model: SystemModel,
  source: ProblemSource,
  first: number,
  count: number,
): number[][][] {
  const bytes = new Uint8Array(count * PANELS_ONLY.bytes);
  for (let n = 0; n < count; n++) {
    makeRecord(PANELS_ONLY, source, first + n, bytes, n * PANELS_ONLY.bytes);
  }
  const { device, dtype } = model.parameters()[0];
  return noGrad(() =>
    scope(() => {
      const rows = tensor(bytes, { shape: [count, PANELS_ONLY.bytes], device });
      const { panels } = batchOf(PANELS_ONLY, rows, dtype === 'f64' ? 'f64' : 'f32');
      const concepts = model.conceptsOf?.(panels);
      return concepts && (model.rulesOf?.(concepts).toNested() as number[][][]);
    }),
  ) as number[][][];
}

/** Parses the rules of the first `count` problems of a source. Other work gets its turn in between. */
export async function snapshotRules(
  step: number,
  model: SystemModel,
  learner: Learner,
  source: ProblemSource,
  count: number,
): Promise<RulesSnapshot> {
  const rules: number[][][] = [];
  model.eval();
  try {
    for (let first = 0; first < count; first += SLICE) {
      await new Promise(setImmediate);
      rules.push(...parseRules(model, source, first, Math.min(SLICE, count - first)));
    }
  } finally {
    model.train();
  }
  const truth = Array.from(
    { length: count },
    (_, index) => samplePanels(problemOf(source, index)).rules,
  );
  return { step, source, rules, truth, prior: learner.state?.() ?? null };
}
