/**
 * What a model in training makes of fixed problems, for the page: the last panel of a few matrices as
 * it imagines it, and the rules it parses from many. Read from the newest checkpoint, so that training
 * itself neither waits for nor depends on who watches; on the CPU, whatever it trains on.
 */
import { messageOf } from '../../base/index.js';
import {
  layoutName,
  layoutOf,
  MATRIX_PANELS,
  render64Into,
  ruleKind,
  samplePanels,
  SMALL_PIXELS,
  SMALL_SIZE,
  type Problem,
} from '../../matrix/index.js';
import { storedPrior, type SystemModel } from '../../models/index.js';
import { noGrad, scope, tensor, type Tensor } from '../../torch/index.js';
import { imagineLast, openRun, type RunConfig, type TrainedModel } from '../../training/index.js';
import type { Tell, TrainingSettings } from './protocol.js';

/** A seed that no run trains on. */
const PREVIEW_SEED = 5_300_000_017;
const SHOWN_RULES = 200;
const SHOWN_MATRICES = 4;
/** Problems read before other work of the thread gets its turn. */
const SLICE = 32;
const PROBLEM_PIXELS = MATRIX_PANELS * SMALL_PIXELS;

interface ShownProblems {
  /** u8 [count, 9, 64, 64] */
  readonly pixels: Uint8Array;
  readonly truth: readonly (readonly string[])[];
}

type Kind = Pick<Problem, 'configuration' | 'noisy'>;

function makeProblems({ configuration, noisy }: Kind, count: number): ShownProblems {
  const layout = layoutOf(configuration, noisy);
  const pixels = new Uint8Array(count * PROBLEM_PIXELS);
  const truth = Array.from({ length: count }, (_, index) => {
    const { panels, rules } = samplePanels({ configuration, noisy, seed: PREVIEW_SEED, index });
    panels.forEach((panel, n) =>
      render64Into(layout, panel, pixels, index * PROBLEM_PIXELS + n * SMALL_PIXELS),
    );
    return rules.flatMap((ofComponent, component) =>
      ofComponent.map(
        (rule) => `${layout.components[component].name}: ${rule.attribute}: ${ruleKind(rule)}`,
      ),
    );
  });
  return { pixels, truth };
}

/** f32 [count, 9, 64, 64] of problems first .. first + count - 1. */
function panelsOf({ pixels }: ShownProblems, first: number, count: number): Tensor {
  const bytes = pixels.subarray(first * PROBLEM_PIXELS, (first + count) * PROBLEM_PIXELS);
  const shape = [count, MATRIX_PANELS, SMALL_SIZE, SMALL_SIZE];
  return tensor(bytes, { shape }).to({ dtype: 'f32' }).div_(255);
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

const rounded = (value: number): number => Number(value.toPrecision(5));

/** Rules [n][M][d_r] of a slice of problems; none of a model that parses none. */
function parseRules(
  model: SystemModel,
  problems: ShownProblems,
  first: number,
  count: number,
): number[][][] {
  return noGrad(() =>
    scope(() => {
      const concepts = model.conceptsOf?.(panelsOf(problems, first, count));
      const rules = concepts && model.rulesOf?.(concepts);
      const nested = (rules?.toNested() ?? []) as number[][][]; // [n, M, d_r]
      return nested.map((ofProblem) => ofProblem.map((rule) => rule.map(rounded)));
    }),
  );
}

export class Previews {
  #problems: ShownProblems | null = null;
  #work: Promise<void> = Promise.resolve();
  #wanted = false;
  #shownStep = -1;

  constructor(
    readonly run: string,
    readonly settings: TrainingSettings,
    readonly tell: Tell,
  ) {}

  /** Asks for a look at the newest checkpoint; requests that come during a look become one. */
  request(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    this.#work = this.#work.then(() => this.#make());
  }

  /** Returns when nothing is being made any more. */
  settled(): Promise<void> {
    return this.#work;
  }

  async #make(): Promise<void> {
    this.#wanted = false;
    try {
      await this.#show();
    } catch (error) {
      // The checkpoint may have been replaced while it was read: the next one is shown instead.
      const why = messageOf(error);
      this.tell({ kind: 'note', data: { level: 'warning', text: `nothing to show yet: ${why}` } });
    }
  }

  async #show(): Promise<void> {
    const run = await openRun(this.run);
    const { latest } = await run.steps();
    if (latest === null || latest === this.#shownStep) return;
    const count = this.settings.shownRules ?? SHOWN_RULES;
    const matrices = this.settings.shownMatrices ?? SHOWN_MATRICES;
    this.#problems ??= makeProblems(run.config.model, Math.max(count, matrices));
    const trained = await run.loadModel('latest', 'cpu');
    try {
      this.#tellPanels(trained, run.config, this.#problems, matrices);
      await this.#tellRules(trained, this.#problems, count);
      this.#shownStep = trained.step;
    } finally {
      trained.dispose();
    }
  }

  #tellPanels(
    { model, step }: TrainedModel,
    config: RunConfig,
    problems: ShownProblems,
    count: number,
  ): void {
    const painted = scope(() => imagineLast(model, panelsOf(problems, 0, count)));
    if (painted === null) return;
    const imagined = Array.from({ length: count }, (_, n) =>
      base64(painted.subarray(n * SMALL_PIXELS, (n + 1) * SMALL_PIXELS)),
    );
    const source = { layout: layoutName(config.model), seed: PREVIEW_SEED };
    this.tell({ kind: 'panels', data: { step, source, imagined } });
  }

  async #tellRules(trained: TrainedModel, problems: ShownProblems, count: number): Promise<void> {
    if (trained.model.rulesOf === undefined) return;
    const rules: number[][][] = [];
    for (let first = 0; first < count; first += SLICE) {
      await new Promise(setImmediate);
      rules.push(...parseRules(trained.model, problems, first, Math.min(SLICE, count - first)));
    }
    const prior = storedPrior(trained.extra);
    const truth = problems.truth.slice(0, count);
    this.tell({ kind: 'rules', data: { step: trained.step, rules, truth, prior } });
  }
}
