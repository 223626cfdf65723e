/** `vocabulary.safetensors` of a bundle: what is described in `vocabulary.ts`, read with every size checked. */
import {
  dictionary,
  integer,
  list,
  number,
  objectWith,
  oneOf,
  parseJson,
  read,
  text,
  type Read,
} from '../base/index.js';
import { RULE_GROUPS } from '../matrix/index.js';
import type { BundleSizes } from './bundle.js';
import { BundleError } from './errors.js';
import { formatSafetensors, parseSafetensors, type StoredArray } from './safetensors.js';
import { isStatisticsKey, type StatisticsKey } from './selection.js';
import type {
  EntryStatistics,
  SharedConcept,
  VocabularyData,
  VocabularyGroup,
} from './vocabulary.js';

const FILE = 'vocabulary.safetensors';
const METADATA_KEY = 'vocabulary';
const MOST_ENTRIES = 4096;
const MOST_GROUPS = 64;

const levels = list(integer({ min: 0, max: 1 << 20 }), { min: 1, max: 64 });

const headOf = (concepts: number) => {
  const concept = integer({ min: 1, max: concepts });
  const attribute = objectWith({
    name: text(100),
    component: integer({ min: 0, max: 7 }),
    group: oneOf(RULE_GROUPS),
    values: list(levels, { min: 1, max: MOST_ENTRIES }),
  });
  const statistics = dictionary(objectWith({ temperature: number({ above: 0 }), least: number() }));
  return objectWith({
    groups: list(
      objectWith({
        concepts: list(concept, { min: 1, max: concepts }),
        statistics,
        attributes: list(attribute, { max: 16 }),
      }),
      { max: MOST_GROUPS },
    ),
    shared: list(
      objectWith({
        concept,
        groups: list(integer({ min: 1, max: MOST_GROUPS }), { min: 1, max: MOST_GROUPS }),
      }),
      { max: concepts },
    ),
    still: list(concept, { max: concepts }),
  });
};

/** Tensors of a file, each asked for with the shape it must have. */
class Tensors {
  constructor(readonly tensors: ReadonlyMap<string, StoredArray>) {}

  /** @param shape null: any number, 1 at least */
  get(name: string, shape: readonly (number | null)[]): StoredArray {
    const found = this.tensors.get(name);
    if (found === undefined) throw new BundleError(`${FILE}: there is no ${name}`);
    const fits =
      found.shape.length === shape.length &&
      found.shape.every((size, i) => size >= 1 && (shape[i] === null || shape[i] === size));
    if (!fits) {
      const wanted = shape.map((size) => size ?? '?').join(', ');
      throw new BundleError(
        `${FILE}: ${name} has the shape [${found.shape.join(', ')}] instead of [${wanted}]`,
      );
    }
    if (!found.data.every(Number.isFinite)) {
      throw new BundleError(`${FILE}: ${name} holds values that are no finite numbers`);
    }
    return found;
  }
}

type Head = Read<ReturnType<typeof headOf>>;
type StatisticsHead = Head['groups'][number]['statistics'][string];

function readStatistics(
  tensors: Tensors,
  name: string,
  { temperature, least }: StatisticsHead,
  rank: number,
  ruleValues: number,
): EntryStatistics {
  const gates = tensors.get(`${name}.gates`, [null, ruleValues]);
  const weights = tensors.get(`${name}.weights`, [gates.shape[0], null]);
  const whitening = tensors.get(`${name}.whitening`, [weights.shape[1], rank, rank]).data;
  const scale = tensors.get(`${name}.scale`, [ruleValues]).data;
  const isPositive = (value: number): boolean => value > 0;
  const diagonal = whitening.filter((_, i) => (i % (rank * rank)) % (rank + 1) === 0);
  if (!scale.every(isPositive) || !diagonal.every(isPositive)) {
    throw new BundleError(`${FILE}: ${name} holds a scale that is not positive`);
  }
  return { gates: gates.data, scale, weights: weights.data, whitening, temperature, least };
}

function readGroup(
  tensors: Tensors,
  name: string,
  group: Head['groups'][number],
  { conceptSize, ruleSize }: BundleSizes,
): VocabularyGroup {
  const size = group.concepts.length * conceptSize;
  const ruleValues = group.concepts.length * ruleSize;
  const basis = tensors.get(`${name}.basis`, [size, null]);
  const rank = basis.shape[1];
  const entries = tensors.get(`${name}.entries`, [null, rank]);
  const count = entries.shape[0];
  const statistics = new Map<StatisticsKey, EntryStatistics>();
  for (const [key, head] of Object.entries(group.statistics)) {
    if (!isStatisticsKey(key)) throw new BundleError(`${FILE}: ${name} has statistics of ${key}`);
    statistics.set(key, readStatistics(tensors, `${name}.${key}`, head, rank, ruleValues));
  }
  if (statistics.size === 0) throw new BundleError(`${FILE}: ${name} has no statistics`);
  if (group.attributes.some(({ values }) => values.length !== count)) {
    throw new BundleError(`${FILE}: ${name} does not name each of its ${count} entries`);
  }
  return {
    concepts: group.concepts.map((concept) => concept - 1),
    mean: tensors.get(`${name}.mean`, [size]).data,
    basis: basis.data,
    entries: entries.data,
    counts: tensors.get(`${name}.counts`, [count]).data,
    statistics,
    attributes: group.attributes,
  };
}

function readShared(
  tensors: Tensors,
  name: string,
  { concept, groups: parents }: Head['shared'][number],
  groups: readonly VocabularyGroup[],
  { conceptSize }: BundleSizes,
): SharedConcept {
  const prior = tensors.get(`${name}.prior`, [null]);
  const count = prior.shape[0];
  const given = parents.map((parent) => {
    const group = groups.at(parent - 1);
    if (group === undefined) throw new BundleError(`${FILE}: ${name}: no group ${parent}`);
    const shape = [group.counts.length, count];
    return { group: parent - 1, table: tensors.get(`${name}.group${parent}`, shape).data };
  });
  const values = tensors.get(`${name}.values`, [count, conceptSize]).data;
  return { concept: concept - 1, values, prior: prior.data, given };
}

/** Reads the bytes of a file; anything that does not fit the bundle is an error. */
export function parseVocabulary(bytes: Uint8Array, sizes: BundleSizes): VocabularyData {
  const stored = parseSafetensors(bytes, FILE);
  const tensors = new Tensors(stored.tensors);
  const json = parseJson(stored.metadata[METADATA_KEY] ?? '', BundleError, FILE);
  const head = read(headOf(sizes.concepts), json, BundleError, FILE);
  const groups = head.groups.map((group, g) => readGroup(tensors, `group${g + 1}`, group, sizes));
  const shared = head.shared.map((each, s) =>
    readShared(tensors, `shared${s + 1}`, each, groups, sizes),
  );
  const still = head.still.map((concept) => ({
    concept: concept - 1,
    value: tensors.get(`still${concept}`, [sizes.conceptSize]).data,
  }));
  return { groups, shared, still };
}

/** The bytes of `vocabulary.safetensors`. */
export function formatVocabulary(
  { groups, shared, still }: VocabularyData,
  sizes: BundleSizes,
): Uint8Array {
  const { conceptSize } = sizes;
  const tensors = new Map<string, StoredArray>();
  const add = (name: string, data: Float32Array, ...shape: number[]): void => {
    tensors.set(name, { shape, data });
  };
  groups.forEach(({ mean, basis, entries, counts, statistics }, g) => {
    const name = `group${g + 1}`;
    const rank = basis.length / mean.length;
    add(`${name}.mean`, mean, mean.length);
    add(`${name}.basis`, basis, mean.length, rank);
    add(`${name}.entries`, entries, counts.length, rank);
    add(`${name}.counts`, counts, counts.length);
    for (const [key, { gates, scale, weights, whitening }] of statistics) {
      const gateCount = gates.length / scale.length;
      add(`${name}.${key}.gates`, gates, gateCount, scale.length);
      add(`${name}.${key}.scale`, scale, scale.length);
      add(`${name}.${key}.weights`, weights, gateCount, weights.length / gateCount);
      add(`${name}.${key}.whitening`, whitening, whitening.length / rank ** 2, rank, rank);
    }
  });
  shared.forEach(({ values, prior, given }, s) => {
    const name = `shared${s + 1}`;
    add(`${name}.values`, values, prior.length, conceptSize);
    add(`${name}.prior`, prior, prior.length);
    for (const { group, table } of given) {
      add(`${name}.group${group + 1}`, table, table.length / prior.length, prior.length);
    }
  });
  for (const { concept, value } of still) add(`still${concept + 1}`, value, conceptSize);
  const head = {
    groups: groups.map(({ concepts, statistics, attributes }) => ({
      concepts: concepts.map((concept) => concept + 1),
      statistics: Object.fromEntries(
        [...statistics].map(([key, { temperature, least }]) => [key, { temperature, least }]),
      ),
      attributes,
    })),
    shared: shared.map(({ concept, given }) => ({
      concept: concept + 1,
      groups: given.map(({ group }) => group + 1),
    })),
    still: still.map(({ concept }) => concept + 1),
  };
  return formatSafetensors({ tensors, metadata: { [METADATA_KEY]: JSON.stringify(head) } });
}
