/**
 * `rules.json` of a bundle: the rule prior (bundle-prior.ts), and rules parsed from fixed problems; and
 * `imagined.png`, panels painted for a few of them. Those of moments of training are the run's snapshots;
 * the last are parsed and painted again by the bundle's own networks, so that they show the model that is
 * deployed, compacted or not, best weights or latest.
 */
import { storedPrior, type MixtureData } from '../models/index.js';
import { greyByte, MATRIX_PANELS, parseLabel, SMALL_PIXELS } from '../matrix/index.js';
import { formatImagined, formatRuleMap } from '../solver/index.js';
import type { ConceptMeans, RuleMap, RuleMixture, SelectionStatistics } from '../solver/index.js';
import type { OpenedRun, RulesSnapshot, StoredWeights } from '../training/index.js';
import { refittedPrior } from './bundle-prior.js';
import { calibrate, type CalibrationOptions } from './calibration.js';
import type { ConceptSubject } from './concept-subject.js';
import { encodedProblems } from './metrics/generated-source.js';
import { mirroredMatrix } from './metrics/rule-agreement.js';
import { panelLikeness } from './panel-likeness.js';
import type { Rules } from './subject.js';

/** Snapshots of training that are kept beside the last one: as many as training takes unless told. */
const MOST_MOMENTS = 9;
/** For runs without snapshots. */
const DEFAULT_PROBLEMS = 400;
const DEFAULT_SEED = 7_500_000_007;
/** The prior is fitted to other problems than the map shows. */
const PRIOR_PROBLEMS = 2048;
const PRIOR_SEED = 7_700_000_011;

type Source = RuleMap['source'];

/** Rules the subject parses from problems 0 .. count - 1 of a source, and the true ones. */
export async function parseSourceRules(
  subject: ConceptSubject,
  source: Source,
  count: number,
  signal?: AbortSignal,
): Promise<{ readonly rules: Rules; readonly truth: readonly string[] }> {
  const found = { rules: [] as Rules, truth: [] as string[] };
  for await (const { concepts, truth } of encodedProblems(subject, source, 0, count, signal)) {
    found.rules.push(...(await subject.solver.parseRules(concepts, { signal })));
    found.truth.push(...truth);
  }
  return found;
}

/** The prior of a model with so many categories for each concept, from problems of its own, without labels. */
async function fitPrior(
  subject: ConceptSubject,
  counts: readonly number[],
  { signal, fitted = PRIOR_PROBLEMS }: BundleRulesOptions = {},
): Promise<readonly RuleMixture[]> {
  const { solver, facts } = subject;
  const { configuration, noisy } = facts;
  const source = { configuration, noisy, seed: PRIOR_SEED };
  const rules: Rules = [];
  const mirrored: Rules = [];
  const matrices: (readonly ConceptMeans[])[] = [];
  const predicted: ConceptMeans[] = [];
  for await (const { concepts } of encodedProblems(subject, source, 0, fitted, signal)) {
    rules.push(...(await solver.parseRules(concepts, { signal })));
    mirrored.push(...(await solver.parseRules(concepts.map(mirroredMatrix), { signal })));
    const asked = concepts.map((panels) => ({ panels, missing: [MATRIX_PANELS] }));
    predicted.push(...(await subject.predict(asked, signal)).flat());
    matrices.push(...concepts);
  }
  const seen = { concepts: matrices, predicted, sigmaZ: solver.manifest.sigmaZ };
  const likeness = counts.map((_, m) => panelLikeness(seen, [m]));
  return refittedPrior(
    [...rules, ...mirrored],
    likeness.map((each) => [...each, ...each]),
    counts,
  );
}

/** The rule prior that a run's learner kept; null if it kept none. */
const priorOf = (extra: unknown): readonly MixtureData[] | null =>
  Array.isArray(extra) ? storedPrior(extra) : null;

/** Snapshots of the same problems from before a step, oldest first, at most nine, evenly chosen. */
function momentsBefore(snapshots: readonly RulesSnapshot[], step: number): RulesSnapshot[] {
  const earlier = snapshots.filter((snapshot) => snapshot.step < step);
  if (earlier.length <= MOST_MOMENTS) return earlier;
  const every = (earlier.length - 1) / (MOST_MOMENTS - 1);
  return Array.from({ length: MOST_MOMENTS }, (_, i) => earlier[Math.round(i * every)]);
}

interface BundleRulesOptions {
  readonly signal?: AbortSignal;
  /** Problems the prior is fitted to. */
  readonly fitted?: number;
}

/** The bytes of `rules.json` and of `imagined.png`, which is null if training did not keep the panels. */
interface BundleTraining {
  readonly rules: Uint8Array;
  readonly imagined: Uint8Array | null;
}

async function bundleTraining(
  subject: ConceptSubject,
  trained: {
    readonly step: number;
    readonly prior: readonly MixtureData[] | null;
    readonly snapshots: readonly RulesSnapshot[];
  },
  { signal, fitted = PRIOR_PROBLEMS }: BundleRulesOptions = {},
): Promise<BundleTraining> {
  const { configuration, noisy } = subject.facts;
  const newest = trained.snapshots.at(-1);
  const source: Source = newest?.source ?? { configuration, noisy, seed: DEFAULT_SEED };
  const count = newest?.rules.length ?? DEFAULT_PROBLEMS;
  const last = await parseSourceRules(subject, source, count, signal);
  const same = trained.snapshots.filter(
    (each) => each.source.seed === source.seed && each.rules.length === count,
  );
  const earlier = momentsBefore(same, trained.step);
  // As many categories as training had components.
  const counts = trained.prior?.map(({ weights }) => weights.length) ?? null;
  const prior = counts && (await fitPrior(subject, counts, { signal, fitted }));
  const map: RuleMap = {
    prior,
    source,
    truth: last.truth.map(parseLabel),
    snapshots: [...earlier, { step: trained.step, rules: last.rules }],
  };
  return {
    rules: formatRuleMap(map),
    imagined: await filmOf(subject, source, earlier, signal),
  };
}

/** `imagined.png`: panels of the run's earlier moments, then as the subject paints them. */
async function filmOf(
  subject: ConceptSubject,
  source: Source,
  earlier: readonly RulesSnapshot[],
  signal?: AbortSignal,
): Promise<Uint8Array | null> {
  const frames = earlier.flatMap(({ imagined }) =>
    imagined === undefined ? [] : [new Uint8Array(Buffer.from(imagined, 'base64'))],
  );
  // A run that started without snapshots has no beginning to show.
  if (frames.length === 0 || frames.length < earlier.length) return null;
  const count = Math.floor(frames[0].length / SMALL_PIXELS);
  const painted: number[] = [];
  for await (const { concepts } of encodedProblems(subject, source, 0, count, signal)) {
    const asked = concepts.map((panels) => ({ panels, missing: [MATRIX_PANELS] }));
    // As it painted while it was trained: the mean of what it expects.
    for (const [panel] of await subject.imagine(asked, { paint: 'mean', signal })) {
      painted.push(...panel);
    }
  }
  return formatImagined([...frames, Uint8Array.from(painted, greyByte)]);
}

interface KnowledgeOptions extends CalibrationOptions {
  /** Whether the map of rules is wanted; it is unless told. */
  readonly rules?: boolean;
}

/**
 * What a run's networks tell beyond their weights: the statistics they choose by, and their rules. Both
 * an exported bundle and a run that is evaluated as it is get it here, so that they give the same numbers.
 */
export async function knowledgeOf(
  subject: ConceptSubject,
  run: OpenedRun,
  { step, extra }: StoredWeights,
  { rules = true, ...options }: KnowledgeOptions,
): Promise<{ readonly statistics: SelectionStatistics; readonly training: BundleTraining | null }> {
  const statistics = await calibrate(subject, options);
  // Maps draw problems again from configuration, seed and index. With fixed rules that is impossible.
  const { data } = run.config;
  const fixed = data.kind === 'stream' && data.rules !== undefined;
  const found = { step, prior: priorOf(extra), snapshots: fixed ? [] : await run.rules() };
  const fit = { signal: options.signal, fitted: options.problems };
  return { statistics, training: rules ? await bundleTraining(subject, found, fit) : null };
}
