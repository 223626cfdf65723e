/**
 * The conditions under which a model was measured: which bundle (its hash), how many problems, which seeds,
 * which data (a fingerprint of their content). A measurement may be used in place of a new one only if the
 * conditions are equal.
 */
import { createHash } from 'node:crypto';
import type { BundleManifest } from '../solver/index.js';
import type { EvaluationData } from './evaluation-data.js';
import { METRIC_NAMES } from './evaluation.js';
import type {
  MeasuredData,
  MeasuringConditions,
  MetricName,
  ModelEvaluation,
} from './evaluation.js';
import type { SubjectFacts } from './subject.js';

/** Counts that can be chosen. */
export interface ChosenCounts {
  /** All unless told. */
  readonly metrics?: readonly MetricName[];
  /** Problems of GSA and ARI; fresh ones are added if the data has fewer. */
  readonly problems?: number;
  readonly repeats?: number;
  /** Panels of each batch of VD. */
  readonly panels?: number;
  /** Problems of errors, of reading back and of named rules; as many as `problems` if those are told. */
  readonly pictures?: number;
  /** Of everything drawn at random; each metric has its own unless told. */
  readonly seed?: number;
}

/** What is measured unless told, by the metrics themselves and by whole evaluations. */
export const DEFAULT_COUNTS = { problems: 2000, repeats: 5, panels: 1024, pictures: 500 } as const;
/** Problems at each end of the data that a fingerprint looks at. */
const LOOKED_AT = 16;

/** What a model lacks for a metric, in words; null if it can be measured. */
export function lackFor({ can, positions }: SubjectFacts, metric: MetricName): string | null {
  switch (metric) {
    case 'sa':
      return null;
    case 'gsa':
      return positions === 'any' ? null : 'answers for panel 9 alone';
    case 'errors':
    case 'readback':
      return can.includes('impute') ? null : 'draws no panels';
    case 'ari':
      return can.includes('rules') ? null : 'tells no rules';
    case 'rules':
      return can.includes('rules') ? null : 'names no rules';
    case 'vd':
      return can.includes('concepts') ? null : 'has no concepts';
  }
}

/** The hash that tells bundles apart: a manifest holds those of all its files. */
export const manifestHash = (manifest: BundleManifest): string =>
  createHash('sha256').update(JSON.stringify(manifest)).digest('hex');

export const conditionsOf = (
  facts: SubjectFacts,
  { metrics, problems, repeats, panels, pictures, seed }: ChosenCounts,
): MeasuringConditions => ({
  bundle: facts.hash,
  metrics: METRIC_NAMES.filter(
    (name) => (metrics?.includes(name) ?? true) && lackFor(facts, name) === null,
  ),
  problems: problems ?? DEFAULT_COUNTS.problems,
  repeats: repeats ?? DEFAULT_COUNTS.repeats,
  panels: panels ?? DEFAULT_COUNTS.panels,
  pictures: pictures ?? problems ?? DEFAULT_COUNTS.pictures,
  ...(seed === undefined ? {} : { seed }),
});

async function fingerprint({ source }: EvaluationData): Promise<string> {
  const hash = createHash('sha256').update(String(source.count));
  const some = Math.min(LOOKED_AT, source.count);
  for (const first of new Set([0, source.count - some])) {
    const { panel, selection, answer } = await source.read(first, some);
    hash.update(panel).update(selection).update(answer.join());
  }
  return hash.digest('hex').slice(0, 32);
}

/** What the data are, for results and for comparing. */
export async function describeData(data: readonly EvaluationData[]): Promise<MeasuredData[]> {
  const described: MeasuredData[] = [];
  for (const each of data) {
    const { source, name = source.name, variant = null, configuration, seed } = each;
    described.push({
      data: name,
      variant,
      ...(configuration === undefined ? {} : { configuration }),
      count: source.count,
      ...(seed === undefined ? {} : { seed }),
      fingerprint: await fingerprint(each),
    });
  }
  return described;
}

/** Whether an evaluation was made under these conditions, of these data. */
export function isMadeUnder(
  evaluation: Pick<ModelEvaluation, 'conditions' | 'data'>,
  conditions: MeasuringConditions,
  data: readonly MeasuredData[],
): boolean {
  const told = (own: unknown, sets: readonly MeasuredData[] | undefined): string =>
    JSON.stringify([
      own,
      sets?.map(({ variant, count, fingerprint: print }) => [variant, count, print]),
    ]);
  return (
    conditions.bundle !== null &&
    told(evaluation.conditions, evaluation.data) === told(conditions, data)
  );
}
