/**
 * `rules.json` of a bundle: the rule prior (bundle-prior.ts), and rules parsed from fixed problems. Those
 * of moments of training are the run's snapshots; the last are parsed again by the bundle's own networks,
 * so that the map shows the model that is deployed, compacted or not, best weights or latest.
 */
import {
  formatLabel,
  layoutOf,
  MATRIX_PANELS,
  render64Into,
  samplePanels,
  SMALL_PIXELS,
} from '../matrix/index.js';
import type { MixtureData } from '../models/index.js';
import type { ConceptMeans, RuleMap, RuleMixture } from '../solver/index.js';
import type { RulesSnapshot } from '../training/index.js';
import { mirroredMatrix, refittedPrior } from './bundle-prior.js';
import { PanelEncoder } from './metrics/panel-encoder.js';
import type { Rules, Subject } from './subject.js';

/** Snapshots of training that are kept beside the last one. */
const MOST_MOMENTS = 6;
/** For runs without snapshots. */
const DEFAULT_PROBLEMS = 400;
const DEFAULT_SEED = 7_500_000_007;
/** The prior is fitted to other problems than the map shows. */
const PRIOR_PROBLEMS = 2048;
const PRIOR_SEED = 7_700_000_011;
const SLICE = 32;

type Source = RuleMap['source'];

/** Problems 0 .. count - 1 of a source, some at a time: concepts [n][9] of their panels, and true rules. */
async function* encodedProblems(
  subject: Pick<Subject, 'solver'>,
  source: Source,
  count: number,
  signal?: AbortSignal,
): AsyncGenerator<{
  readonly concepts: readonly (readonly ConceptMeans[])[];
  readonly truth: readonly string[];
}> {
  const layout = layoutOf(source.configuration, source.noisy);
  const encoder = new PanelEncoder(subject.solver);
  for (let first = 0; first < count; first += SLICE) {
    const matrices = Array.from({ length: Math.min(SLICE, count - first) }, (_, i) =>
      samplePanels({ ...source, index: first + i }),
    );
    const panels = matrices.flatMap((matrix) => matrix.panels);
    const pictures = new Uint8Array(panels.length * SMALL_PIXELS);
    panels.forEach((panel, i) => render64Into(layout, panel, pictures, i * SMALL_PIXELS));
    const { means } = await encoder.encode(pictures, signal);
    yield {
      concepts: matrices.map((_, n) => means.slice(n * MATRIX_PANELS, (n + 1) * MATRIX_PANELS)),
      truth: matrices.map((matrix) => formatLabel(matrix.rules)),
    };
  }
}

/** Rules the subject parses from problems 0 .. count - 1 of a source. */
export async function parseSourceRules(
  subject: Pick<Subject, 'solver' | 'parseRules'>,
  source: Source,
  count: number,
  signal?: AbortSignal,
): Promise<{ readonly rules: Rules; readonly truth: readonly string[] }> {
  const rules: Rules = [];
  const truth: string[] = [];
  for await (const problems of encodedProblems(subject, source, count, signal)) {
    rules.push(...(await subject.parseRules(problems.concepts, signal)));
    truth.push(...problems.truth);
  }
  return { rules, truth };
}

/** The prior for a subject, from problems of a source. */
async function fittedPrior(
  subject: Pick<Subject, 'solver' | 'parseRules'>,
  trained: readonly MixtureData[],
  source: Source,
  count: number,
  signal?: AbortSignal,
): Promise<RuleMixture[]> {
  const rules: Rules = [];
  const mirrored: Rules = [];
  for await (const { concepts } of encodedProblems(subject, source, count, signal)) {
    rules.push(...(await subject.parseRules(concepts, signal)));
    mirrored.push(...(await subject.parseRules(concepts.map(mirroredMatrix), signal)));
  }
  return refittedPrior(rules, mirrored, trained);
}

/** Snapshots of the same problems from before a step, oldest first, at most six, evenly chosen. */
function momentsBefore(snapshots: readonly RulesSnapshot[], step: number): RulesSnapshot[] {
  const earlier = snapshots.filter((snapshot) => snapshot.step < step);
  if (earlier.length <= MOST_MOMENTS) return earlier;
  const every = (earlier.length - 1) / (MOST_MOMENTS - 1);
  return Array.from({ length: MOST_MOMENTS }, (_, i) => earlier[Math.round(i * every)]);
}

/** Of places on a map: less than a pixel. */
const UNIT = 0.001;

const inUnits = (rules: RulesSnapshot['rules']): number[][][] =>
  rules.map((ofProblem) => ofProblem.map((rule) => rule.map((value) => Math.round(value / UNIT))));

export interface BundleRulesOptions {
  readonly signal?: AbortSignal;
  /** Problems the prior is fitted to. */
  readonly fitted?: number;
}

/** The bytes of `rules.json`. */
export async function bundleRules(
  subject: Pick<Subject, 'solver' | 'parseRules'>,
  trained: {
    readonly step: number;
    readonly prior: readonly MixtureData[] | null;
    readonly snapshots: readonly RulesSnapshot[];
  },
  { signal, fitted = PRIOR_PROBLEMS }: BundleRulesOptions = {},
): Promise<Uint8Array> {
  const { configuration, noisy } = subject.solver.manifest;
  const newest = trained.snapshots.at(-1);
  const source: Source = newest?.source ?? { configuration, noisy, seed: DEFAULT_SEED };
  const count = newest?.rules.length ?? DEFAULT_PROBLEMS;
  const last = await parseSourceRules(subject, source, count, signal);
  const same = trained.snapshots.filter(
    (each) => each.source.seed === source.seed && each.rules.length === count,
  );
  const fresh = { ...source, seed: PRIOR_SEED };
  const prior =
    trained.prior === null
      ? null
      : await fittedPrior(subject, trained.prior, fresh, fitted, signal);
  const map = {
    prior,
    source: { configuration: source.configuration, noisy: source.noisy, seed: source.seed },
    truth: last.truth,
    snapshots: [
      ...momentsBefore(same, trained.step),
      { step: trained.step, rules: last.rules },
    ].map(({ step, rules }) => ({ step, unit: UNIT, rules: inUnits(rules) })),
  };
  return new TextEncoder().encode(JSON.stringify(map));
}
