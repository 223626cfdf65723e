/**
 * Finds the vocabulary of a model (`solver/vocabulary.ts`), in three steps. Groups and entries come from
 * encoded panels alone, without any label. How predictions lie from entries comes from contexts of which a
 * panel was hidden, again without labels. Labels are used at the end, to name the entries.
 */
import { symmetricEigen } from '../../base/index.js';
import { layoutOf, MATRIX_PANELS, type Panel } from '../../matrix/index.js';
import type {
  ConceptMeans,
  EntryStatistics,
  NamedAttribute,
  SharedConcept,
  StatisticsKey,
  VocabularyData,
  VocabularyGroup,
} from '../../solver/index.js';
import { Vocabulary } from '../../solver/index.js';
import { flat, type ConceptSubject } from '../concept-subject.js';
import { encodedProblems, SLICE } from '../metrics/generated-source.js';
import { missingFor, statisticsKeys } from '../missing-sets.js';
import type { MetricOptions, SubjectFacts } from '../subject.js';
import type { Clusters, Rows } from './entries.js';
import { columnsOf, findGroups, sharedInformation, type FoundGroup } from './groups.js';
import { nameEntries } from './names.js';
import { entryStatistics, likelihoodsOf, type Predictions } from './statistics.js';

/** Whether a model can have a vocabulary: its entries are values of concepts that rules foretell. */
export const speaks = ({ can }: Pick<SubjectFacts, 'can'>): boolean =>
  can.includes('concepts') && can.includes('rules');

export interface VocabularyOptions extends MetricOptions {
  /** Matrices whose panels are looked at. */
  readonly problems?: number;
  /** Numbers of missing panels that get statistics of their own. */
  readonly targetCounts?: readonly number[];
}

export const VOCABULARY_DEFAULTS = {
  problems: 3072,
  targetCounts: [1, 2, 3],
  seed: 7_900_000_001,
} as const;
/** Of the contexts this share is kept apart, to choose and to calibrate. */
const KEPT_APART = 1 / 4;
/** Directions that hold less than this share of the entries' variance are left out. */
const LEAST_DIRECTION = 1e-4;

/** Matrices as they are and as the model sees them. */
interface Encoded {
  readonly panels: readonly Panel[];
  readonly concepts: readonly (readonly ConceptMeans[])[];
  /** All panels in units of sigma_z, [n 9, M d_z] */
  readonly rows: Rows;
}

async function encode(subject: ConceptSubject, options: VocabularyOptions): Promise<Encoded> {
  const { problems = VOCABULARY_DEFAULTS.problems, seed = VOCABULARY_DEFAULTS.seed } = options;
  const { configuration, noisy } = subject.facts;
  const { sizes, sigmaZ } = subject.solver.manifest;
  const panels: Panel[] = [];
  const concepts: (readonly ConceptMeans[])[] = [];
  const source = { configuration, noisy, seed };
  for await (const slice of encodedProblems(subject, source, 0, problems, options.signal)) {
    panels.push(...slice.panels);
    concepts.push(...slice.concepts);
    options.onProgress?.((0.4 * concepts.length) / problems);
  }
  const size = sizes.concepts * sizes.conceptSize;
  const values = new Float32Array(panels.length * size);
  concepts.flat().forEach((means, i) => values.set(flat(means), i * size));
  for (let i = 0; i < values.length; i++) values[i] /= sigmaZ;
  return { panels, concepts, rows: { count: panels.length, size, values } };
}

/** The few directions in which the entries of a group differ, and the entries along them. */
function compressed(
  { concepts, clusters }: FoundGroup,
  size: number,
): Pick<VocabularyGroup, 'concepts' | 'mean' | 'basis' | 'entries' | 'counts'> {
  const { centres, counts } = clusters;
  const count = counts.length;
  const all = counts.reduce((sum, each) => sum + each, 0);
  const mean = new Float64Array(size);
  centres.forEach((value, i) => (mean[i % size] += (value * counts[Math.floor(i / size)]) / all));
  const covariance = new Float64Array(size * size);
  for (let e = 0; e < count; e++) {
    for (let i = 0; i < size; i++) {
      const own = ((centres[e * size + i] - mean[i]) * counts[e]) / all;
      for (let j = 0; j < size; j++) {
        covariance[i * size + j] += own * (centres[e * size + j] - mean[j]);
      }
    }
  }
  const { values, vectors } = symmetricEigen(covariance, size);
  const variance = values.reduce((sum, value) => sum + value, 0);
  const rank = Math.max(1, values.filter((value) => value > LEAST_DIRECTION * variance).length);
  const basis = new Float32Array(size * rank);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < rank; j++) basis[i * rank + j] = vectors[j * size + i];
  }
  const entries = new Float32Array(count * rank);
  for (let e = 0; e < count; e++) {
    for (let i = 0; i < size; i++) {
      const value = centres[e * size + i] - mean[i];
      for (let j = 0; j < rank; j++) entries[e * rank + j] += value * basis[i * rank + j];
    }
  }
  return { concepts, mean: Float32Array.from(mean), basis, entries, counts };
}

/** How a shared concept follows from the entries of the groups that share it. */
function sharedConcept(
  { concept, clusters }: { readonly concept: number; readonly clusters: Clusters },
  groups: readonly FoundGroup[],
): SharedConcept {
  const values = clusters.counts.length;
  const rows = clusters.labels.length;
  const prior = Float32Array.from(clusters.counts, (count) => Math.log(count / rows));
  const given = groups.flatMap((group, g) => {
    if (sharedInformation(clusters.labels, group.clusters.labels) < 0.05) return [];
    const entries = group.clusters.counts.length;
    const counts = new Float64Array(entries * values).fill(0.5 / values);
    const totals = new Float64Array(entries).fill(0.5);
    group.clusters.labels.forEach((entry, n) => {
      counts[entry * values + clusters.labels[n]]++;
      totals[entry]++;
    });
    const table = Float32Array.from(counts, (count, i) =>
      Math.log(count / totals[Math.floor(i / values)]),
    );
    return [{ group: g, table }];
  });
  return { concept, values: clusters.centres, prior, given };
}

/** A context with one or more panels hidden, and what the model predicted for one of them. */
interface Hidden {
  readonly problem: number;
  readonly position: number;
  /** [M d_z] */
  readonly row: Float32Array;
  /** [M][d_r] */
  readonly rules: readonly (readonly number[])[];
}

async function hide(
  subject: ConceptSubject,
  { concepts }: Encoded,
  key: StatisticsKey,
  { seed = VOCABULARY_DEFAULTS.seed, signal }: VocabularyOptions,
): Promise<Hidden[]> {
  const found: Hidden[] = [];
  for (let from = 0; from < concepts.length; from += SLICE) {
    const asked = concepts
      .slice(from, from + SLICE)
      .map((panels, i) => ({ concepts: panels, missing: missingFor(key, seed, from + i) }));
    const answers = await subject.solver.solveConcepts(asked, { signal });
    answers.forEach((answer, i) => {
      const rules = answer.rules.map(({ vector }) => vector);
      for (const position of answer.missing) {
        const row = Float32Array.from(flat(answer.concepts[position - 1]));
        found.push({ problem: from + i, position: position - 1, row, rules });
      }
    });
  }
  return found;
}

/** Statistics of one group for one missing set. */
function statisticsOf(
  subject: ConceptSubject,
  group: VocabularyGroup,
  clusters: Clusters,
  encoded: Encoded,
  hidden: readonly Hidden[],
): EntryStatistics {
  const { sizes, sigmaZ } = subject.solver.manifest;
  const rank = group.entries.length / group.counts.length;
  const project = (values: ArrayLike<number>, from: number, scale: number): Float64Array => {
    const at = new Float64Array(rank);
    group.concepts.forEach((concept, c) => {
      for (let k = 0; k < sizes.conceptSize; k++) {
        const i = c * sizes.conceptSize + k;
        const value = values[from + concept * sizes.conceptSize + k] / scale - group.mean[i];
        for (let j = 0; j < rank; j++) at[j] += value * group.basis[i * rank + j];
      }
    });
    return at;
  };
  const panelOf = ({ problem, position }: Hidden): number => problem * MATRIX_PANELS + position;
  const apart = Math.floor(hidden.length * (1 - KEPT_APART));
  const [fitted, judged] = [hidden.slice(0, apart), hidden.slice(apart)];
  const predictions: Predictions = {
    predicted: fitted.map(({ row }) => project(row, 0, sigmaZ)),
    encoded: fitted.map((each) =>
      project(encoded.rows.values, panelOf(each) * encoded.rows.size, 1),
    ),
    rules: fitted.map(({ rules }) => group.concepts.flatMap((m) => [...rules[m]])),
  };
  return entryStatistics(predictions, (statistics) => ({
    likelihoods: likelihoodsOf(group, statistics, sizes, sigmaZ, judged),
    right: judged.map((each) => clusters.labels[panelOf(each)]),
  }));
}

/** People's names for the entries of each group. */
function namesFor(
  subject: ConceptSubject,
  data: VocabularyData,
  { panels, rows }: Encoded,
): NamedAttribute[][] {
  const { sizes, sigmaZ } = subject.solver.manifest;
  const { configuration, noisy } = subject.facts;
  const vocabulary = new Vocabulary(data, sizes, sigmaZ);
  const symbols = panels.map((_, n) => {
    const row = rows.values.subarray(n * rows.size, (n + 1) * rows.size);
    return vocabulary.symbolsOf(row.map((value) => value * sigmaZ));
  });
  const entries = data.groups.map(({ counts }) => counts.length);
  return nameEntries(layoutOf(configuration, noisy), panels, symbols, entries);
}

/** Fewer matrices than these show too little of what a model knows. */
const FEWEST_PROBLEMS = 32;

/** Finds the vocabulary of a model on fresh problems of its configuration; null if it has no entries. */
export async function findVocabulary(
  subject: ConceptSubject,
  options: VocabularyOptions = {},
): Promise<VocabularyData | null> {
  const { targetCounts = VOCABULARY_DEFAULTS.targetCounts } = options;
  if ((options.problems ?? FEWEST_PROBLEMS) < FEWEST_PROBLEMS) return null;
  const { sizes } = subject.solver.manifest;
  const encoded = await encode(subject, options);
  const found = findGroups(encoded.rows, sizes.conceptSize);
  if (found.groups.length === 0) return null;
  const keys = statisticsKeys(targetCounts);
  const statistics = found.groups.map(() => new Map<StatisticsKey, EntryStatistics>());
  const plain = found.groups.map((group): VocabularyGroup => ({
    ...compressed(group, group.concepts.length * sizes.conceptSize),
    statistics: new Map(),
    attributes: [],
  }));
  for (const [k, key] of keys.entries()) {
    const hidden = await hide(subject, encoded, key, options);
    for (const [g, group] of plain.entries()) {
      const { clusters } = found.groups[g];
      statistics[g].set(key, statisticsOf(subject, group, clusters, encoded, hidden));
      options.onProgress?.(0.5 + (0.5 * (k + (g + 1) / plain.length)) / keys.length);
      await new Promise(setImmediate);
    }
  }
  const shared = found.shared.map((each) => sharedConcept(each, found.groups));
  const still = found.still.map((concept) => ({
    concept,
    value: meanRow(columnsOf(encoded.rows, [concept], sizes.conceptSize)),
  }));
  const attributes = namesFor(subject, { groups: plain, shared, still }, encoded);
  return {
    groups: plain.map((group, g) => ({
      ...group,
      statistics: statistics[g],
      attributes: attributes[g],
    })),
    shared,
    still,
  };
}

function meanRow({ count, size, values }: Rows): Float32Array {
  const sums = new Float64Array(size);
  values.forEach((value, i) => (sums[i % size] += value));
  return Float32Array.from(sums, (sum) => sum / count);
}
