/**
 * Variance decline, VD (section 4.3): how much the variance of a concept falls when a true attribute is
 * fixed. With C the covariance of the concept's encoded means over free panels, and C_v that around the
 * mean of each batch that fixes attribute v to one value, pooled over values,
 *
 *     VD[m, v] = 1 - exp((log det(C_v + e I) - log det(C + e I)) / d_z),  e = trace(C) / 1000 / d_z:
 *
 * 0 if nothing declines, near 1 if the concept is this attribute. A concept that lies on a line
 * cannot reach 1: only one of its d_z directions can decline. The paper's own ratio log|z_v' z_v| /
 * log|z' z| changes its sign with the scale of concepts; it is given under its own name.
 *
 * A concept is named by what dominates: the attribute of its largest VD, if the next has less than half of
 * it; two attributes (`Type Out + Size Out`) if the third has less than half; else it is `mixed`, also if
 * its largest VD is below 0.05. If its variance is below 1% of the largest it is `unused` and named after
 * nothing. A group of the vocabulary is named by all that it determines (vocabulary/names.ts). Labels are
 * used for these names alone.
 */
import { conceptColumns, layoutOf, type AttributeColumn } from '../../matrix/index.js';
import { choleskyInverse } from '../../base/index.js';
import type { ConceptMeans } from '../../solver/index.js';
import type { ConceptSubject } from '../concept-subject.js';
import { DEFAULT_COUNTS } from '../conditions.js';
import type { NamedConcept, VarianceDecline } from '../evaluation.js';
import { momentsOf } from '../statistics.js';
import type { MetricOptions } from '../subject.js';
import { varianceBatches } from './fixed-batches.js';

export interface VarianceOptions extends MetricOptions {
  /** Panels of the free batch, and of those that fix each attribute. */
  readonly panels?: number;
}

const DEFAULT_SEED = 7_400_000_017;
const RIDGE = 1 / 1000;
/** Keeps a concept that never moves from being divided by nothing. */
const SMALLEST_RIDGE = 1e-10;
/** Below this nothing dominates; an attribute with this share of the largest VD counts beside it. */
const NAMED_FROM = 0.05;
const COUNTS_FROM = 0.5;
const MOST_IN_A_NAME = 2;
const USED_FROM = 0.01;

/** Names of concepts that are no single attribute. */
export const NAME_MIXED = 'mixed';
export const NAME_UNUSED = 'unused';

/** log det(A + e I) of a covariance-like matrix [size, size]. */
function logDeterminant(matrix: Float64Array, size: number, ridge: number): number {
  const raised = matrix.slice();
  for (let i = 0; i < size; i++) raised[i * (size + 1)] += ridge;
  const inverse = choleskyInverse(raised, size);
  let sum = 0;
  for (let i = 0; i < size; i++) sum -= 2 * Math.log(inverse[i * (size + 1)]);
  return sum;
}

/** Concept `m` of panels as rows. */
const rowsOf = (means: readonly ConceptMeans[], m: number): Float64Array[] =>
  means.map((panel) => Float64Array.from(panel[m]));

/** Sums of rows: their centred scatter, and z'z. */
function scatter(rows: readonly Float64Array[], size: number) {
  const { mean, covariance } = momentsOf(rows, size);
  const centred = covariance.map((value) => value * rows.length);
  const whole = covariance.map(
    (value, at) => (value + mean[Math.floor(at / size)] * mean[at % size]) * rows.length,
  );
  return { centred, whole };
}

const traceOf = (matrix: Float64Array, size: number): number => {
  let sum = 0;
  for (let i = 0; i < size; i++) sum += matrix[i * (size + 1)];
  return sum;
};

/** What is kept of one concept's free batch. */
interface FreeConcept {
  readonly ridge: number;
  readonly trace: number;
  readonly logVariance: number;
  readonly logGram: number;
}

function freeConcept(means: readonly ConceptMeans[], m: number, size: number): FreeConcept {
  const n = means.length;
  const { centred, whole } = scatter(rowsOf(means, m), size);
  const covariance = centred.map((value) => value / (n - 1));
  const trace = traceOf(covariance, size);
  const ridge = Math.max((trace * RIDGE) / size, SMALLEST_RIDGE);
  return {
    ridge,
    trace,
    logVariance: logDeterminant(covariance, size, ridge),
    logGram: logDeterminant(whole, size, n * ridge),
  };
}

/** VD and the paper's ratio of one concept for a batch that fixes an attribute. */
function declineOf(
  free: FreeConcept,
  groups: readonly (readonly ConceptMeans[])[],
  m: number,
  size: number,
): { readonly decline: number; readonly paperRatio: number } {
  const n = groups.reduce((sum, group) => sum + group.length, 0);
  const pooled = new Float64Array(size * size);
  let logGram = 0;
  for (const group of groups) {
    const { centred, whole } = scatter(rowsOf(group, m), size);
    centred.forEach((value, at) => (pooled[at] += value / (n - groups.length)));
    const scaled = whole.map((value) => (value * n) / group.length);
    logGram += (logDeterminant(scaled, size, n * free.ridge) * group.length) / n;
  }
  const logFixed = logDeterminant(pooled, size, free.ridge);
  return {
    decline: 1 - Math.exp((logFixed - free.logVariance) / size),
    paperRatio: logGram / free.logGram,
  };
}

/** Names of concepts from their variance [M] and VD [M][V]. */
export function nameConcepts(
  attributes: readonly Pick<AttributeColumn, 'name'>[],
  variance: readonly number[],
  decline: readonly (readonly number[])[],
): NamedConcept[] {
  const largest = Math.max(...variance);
  return decline.map((row, m) => {
    const score = Math.max(...row);
    const counting = [...row.keys()]
      .filter((v) => row[v] >= COUNTS_FROM * score)
      .sort((a, b) => row[b] - row[a]);
    const dominated = score >= NAMED_FROM && counting.length <= MOST_IN_A_NAME;
    const words = counting.map((v) => attributes[v].name).join(' + ');
    const named = dominated ? words : NAME_MIXED;
    const name = variance[m] < USED_FROM * largest ? NAME_UNUSED : named;
    return { concept: m + 1, name, score };
  });
}

/** VD between all concepts and attributes of a model's configuration. */
export async function varianceDecline(
  subject: Pick<ConceptSubject, 'facts' | 'see' | 'solver'>,
  options: VarianceOptions = {},
): Promise<VarianceDecline> {
  const { panels = DEFAULT_COUNTS.panels, seed = DEFAULT_SEED, signal, onProgress } = options;
  const { configuration, noisy, imageSize } = subject.facts;
  const { sizes } = subject.solver.manifest;
  const layout = layoutOf(configuration, noisy);
  const attributes = conceptColumns(layout);
  const batches = varianceBatches(layout, attributes, panels, seed, imageSize);
  const concepts = Array.from({ length: sizes.concepts }, (_, m) => m);
  const base = (await subject.see(batches.free, signal)).panels;
  const free = concepts.map((m) => freeConcept(base, m, sizes.conceptSize));
  const decline: number[][] = concepts.map(() => []);
  const paperRatio: number[][] = concepts.map(() => []);
  let done = 1;
  onProgress?.(done / (attributes.length + 1));
  for (const { pictures, value, values } of batches.fixed()) {
    const { panels: means } = await subject.see(pictures, signal);
    const groups = Array.from({ length: values }, (_, l) => means.filter((_, i) => value[i] === l));
    for (const m of concepts) {
      const found = declineOf(free[m], groups, m, sizes.conceptSize);
      decline[m].push(found.decline);
      paperRatio[m].push(found.paperRatio);
    }
    onProgress?.(++done / (attributes.length + 1));
  }
  const variance = free.map(({ trace }) => trace);
  const names = nameConcepts(attributes, variance, decline);
  const groups = subject.solver.vocabulary?.groups.map(
    ({ concepts: own, counts, attributes: told }) => ({
      concepts: own.map((m) => m + 1),
      entries: counts.length,
      determines: told.map(({ name }) => name),
    }),
  );
  const found = { attributes, panels, seed, decline, paperRatio, variance, names };
  return groups === undefined ? found : { ...found, groups };
}
