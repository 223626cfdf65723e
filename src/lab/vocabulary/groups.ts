/**
 * Groups of concepts that depend on each other. Every concept is coded by its clusters; two concepts belong
 * together if their codes share information, adjusted for chance: 0 for codes that have nothing to do with
 * each other, 1 if one determines the other. Trained models have values below 0.02 or above 0.1.
 *
 * A group of which too many entries have not been seen yet (Good and Turing: as many as rows whose entry
 * was met once) is too wide: a concept that follows two independent things ties them together. The concept
 * whose removal splits the group is taken out and shared by the parts.
 */
import { Random } from '../../matrix/index.js';
import { clustersOf, type Clusters, type Rows } from './entries.js';

/** Clusters of concepts, in units of sigma_z. */
const RADIUS = 3;
const MOST_ENTRIES = 1500;
const LINKED_FROM = 0.05;
/** Share of panels whose entry may be new. */
const MOST_UNSEEN = 0.02;
const SHUFFLES = 3;
const SHUFFLE_SEED = 7_900_000_003;

function entropy(counts: ArrayLike<number>, total: number): number {
  let sum = 0;
  for (let i = 0; i < counts.length; i++) {
    if (counts[i] > 0) sum -= (counts[i] / total) * Math.log(counts[i] / total);
  }
  return sum;
}

function countsOf(labels: ArrayLike<number>, size: number): Float64Array {
  const counts = new Float64Array(size);
  for (let i = 0; i < labels.length; i++) counts[labels[i]]++;
  return counts;
}

const largest = (labels: Int32Array): number =>
  labels.reduce((most, each) => Math.max(most, each), 0);

function jointEntropy(a: Int32Array, b: Int32Array, size: number): number {
  const joint = a.map((label, i) => label * size + b[i]);
  return entropy(countsOf(joint, largest(joint) + 1), a.length);
}

/**
 * Mutual information of two codings above what chance gives, as a share of the most it could be. Chance is
 * measured by shuffling one of them.
 */
export function sharedInformation(a: Int32Array, b: Int32Array): number {
  const size = largest(b) + 1;
  const [own, other] = [a, b].map((labels) =>
    entropy(countsOf(labels, largest(labels) + 1), labels.length),
  );
  const information = own + other - jointEntropy(a, b, size);
  const random = new Random(SHUFFLE_SEED, a.length);
  let chance = 0;
  for (let round = 0; round < SHUFFLES; round++) {
    const shuffled = b.slice();
    for (let i = shuffled.length - 1; i > 0; i--) {
      const j = random.below(i + 1);
      [shuffled[i], shuffled[j]] = [shuffled[j], shuffled[i]];
    }
    chance += (own + other - jointEntropy(a, shuffled, size)) / SHUFFLES;
  }
  return (information - chance) / Math.max(Math.min(own, other) - chance, 1e-9);
}

/** A group with the clusters of its panels. */
export interface FoundGroup {
  readonly concepts: readonly number[];
  readonly clusters: Clusters;
}

interface FoundGroups {
  readonly groups: readonly FoundGroup[];
  /** Concepts that several groups share, with their own clusters. */
  readonly shared: readonly { readonly concept: number; readonly clusters: Clusters }[];
  /** Concepts that never move. */
  readonly still: readonly number[];
  /** Concepts whose values are too many to be known. */
  readonly open: readonly number[];
}

/** Columns of some concepts from rows [n, M, d_z]. */
export function columnsOf(rows: Rows, concepts: readonly number[], conceptSize: number): Rows {
  const size = concepts.length * conceptSize;
  const values = new Float32Array(rows.count * size);
  for (let row = 0; row < rows.count; row++) {
    concepts.forEach((concept, c) => {
      const from = row * rows.size + concept * conceptSize;
      values.set(rows.values.subarray(from, from + conceptSize), row * size + c * conceptSize);
    });
  }
  return { count: rows.count, size, values };
}

/** Sets of nodes that are linked, each in rising order. */
function connected(nodes: readonly number[], isLinked: (a: number, b: number) => boolean) {
  const left = new Set(nodes);
  const found: number[][] = [];
  for (const node of nodes) {
    if (!left.delete(node)) continue;
    const part = [node];
    for (const each of part) {
      for (const other of [...left]) {
        if (isLinked(each, other)) {
          left.delete(other);
          part.push(other);
        }
      }
    }
    found.push(part.sort((a, b) => a - b));
  }
  return found;
}

/** Whether nearly all entries of a sample's source are in it. */
function isCovered({ counts }: Clusters, rows: number): boolean {
  return counts.filter((count) => count === 1).length <= MOST_UNSEEN * rows;
}

/** Finds the groups among encoded panels [n, M, d_z], in units of sigma_z. */
export function findGroups(rows: Rows, conceptSize: number): FoundGroups {
  const concepts = Array.from({ length: rows.size / conceptSize }, (_, m) => m);
  const clustersFor = (some: readonly number[]): Clusters | null =>
    clustersOf(columnsOf(rows, some, conceptSize), RADIUS, MOST_ENTRIES);
  const own = concepts.map((m) => clustersFor([m]));
  const open = concepts.filter((m) => own[m] === null);
  const still = concepts.filter((m) => own[m]?.counts.length === 1);
  const moving = concepts.filter((m) => (own[m]?.counts.length ?? 0) > 1);
  const information = new Map<string, number>();
  const isLinked = (a: number, b: number): boolean => {
    const key = `${Math.min(a, b)} ${Math.max(a, b)}`;
    const [first, second] = [own[a], own[b]];
    if (first === null || second === null) return false;
    const known = information.get(key) ?? sharedInformation(first.labels, second.labels);
    information.set(key, known);
    return known > LINKED_FROM;
  };
  const groups: FoundGroup[] = [];
  const shared: { concept: number; clusters: Clusters }[] = [];
  const todo = connected(moving, isLinked);
  for (const part of todo) {
    const clusters = clustersFor(part);
    if (clusters !== null && isCovered(clusters, rows.count)) {
      groups.push({ concepts: part, clusters });
      continue;
    }
    const without = (m: number) =>
      connected(
        part.filter((each) => each !== m),
        isLinked,
      );
    // Of several that split it equally the one that says least itself.
    const values = (m: number): number => own[m]?.counts.length ?? Infinity;
    const [bridge] = [...part].sort(
      (a, b) => without(b).length - without(a).length || values(a) - values(b),
    );
    const bridged = own[bridge];
    if (without(bridge).length > 1 && bridged !== null) {
      shared.push({ concept: bridge, clusters: bridged });
      todo.push(...without(bridge));
    } else {
      open.push(...part);
    }
  }
  groups.sort((a, b) => a.concepts[0] - b.concepts[0]);
  return { groups, shared, still, open: open.sort((a, b) => a - b) };
}
