/**
 * `rules-<step>.json`: the rules a model parses from fixed validation problems at one moment of
 * training, with the true rules beside them, from which the figures of rule distributions are made, and
 * the panels it paints for a few of them, from which the film of a training is made.
 */
import { samplePanels, type ComponentRules } from '../matrix/index.js';
import type { Learner, SystemModel } from '../models/index.js';
import { noGrad, scope, tensor, type Tensor } from '../torch/index.js';
import { batchOf, makeRecord, PANELS_ONLY, problemOf, type ProblemSource } from './feed/record.js';
import { imagineLast } from './imagined-panels.js';

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
  /**
   * Panel 9 of problems 0 .. 3 as the model paints it, u8 [4, 64, 64], base64. Snapshots of earlier
   * programs have none.
   */
  readonly imagined?: string;
}

const SLICE = 64;
/** Problems whose last panel is painted. */
const IMAGINED_PROBLEMS = 4;

/** Does something with the panels [n, 9, 64, 64] of problems first .. first + count - 1. */
function withPanels<T>(
  model: SystemModel,
  source: ProblemSource,
  first: number,
  count: number,
  use: (panels: Tensor) => T,
): T {
  const bytes = new Uint8Array(count * PANELS_ONLY.bytes);
  for (let n = 0; n < count; n++) {
    makeRecord(PANELS_ONLY, source, first + n, bytes, n * PANELS_ONLY.bytes);
  }
  const { device, dtype } = model.parameters()[0];
  return noGrad(() =>
    scope(() => {
      const rows = tensor(bytes, { shape: [count, PANELS_ONLY.bytes], device });
      return use(batchOf(PANELS_ONLY, rows, dtype === 'f64' ? 'f64' : 'f32').panels);
    }),
  );
}

/** Rules [n][M][d_r] of panels. */
function parseRules(model: SystemModel, panels: Tensor): number[][][] {
  const concepts = model.conceptsOf?.(panels);
  return (concepts && model.rulesOf?.(concepts).toNested()) as number[][][];
}

/**
 * Parses the rules of the first `count` problems of a source and paints the last panel of four. Other
 * work gets its turn in between.
 */
export async function snapshotRules(
  step: number,
  model: SystemModel,
  learner: Learner,
  source: ProblemSource,
  count: number,
): Promise<RulesSnapshot> {
  const rules: number[][][] = [];
  let imagined: Uint8Array | null;
  model.eval();
  try {
    for (let first = 0; first < count; first += SLICE) {
      await new Promise(setImmediate);
      const slice = Math.min(SLICE, count - first);
      const parsed = withPanels(model, source, first, slice, (panels) => parseRules(model, panels));
      rules.push(...parsed);
    }
    imagined = withPanels(model, source, 0, IMAGINED_PROBLEMS, (panels) =>
      imagineLast(model, panels),
    );
  } finally {
    model.train();
  }
  const truth = Array.from(
    { length: count },
    (_, index) => samplePanels(problemOf(source, index)).rules,
  );
  return {
    step,
    source,
    rules,
    truth,
    prior: learner.state?.() ?? null,
    ...(imagined && { imagined: Buffer.from(imagined).toString('base64') }),
  };
}
