/**
 * The vocabulary of a model: its groups of concepts, and the values (entries) that each group really
 * takes in panels. Found at export without any label (`lab/vocabulary`), it turns concepts into symbols and
 * back: a panel is one entry for each group. A prediction is a mean of all answers that are possible; the
 * vocabulary tells which entries it may stand for, and how likely each is.
 *
 * A group holds the concepts that depend on each other. Its entries are stored as coordinates along the
 * few directions in which they differ. All distances are in units of sigma_z, the deviation that the
 * decoder was trained with: entries lie at least six of them apart, panels of one entry within about one.
 */
import { indexOfLargest, logSumExp } from '../base/index.js';
import type { RuleGroup } from '../matrix/index.js';
import type { BundleSizes } from './bundle.js';
import { softmax } from './choose.js';
import { keyFor, type StatisticsKey } from './selection.js';

/** What a group's entries are called by people: labels were used for this alone. */
export interface NamedAttribute {
  /** As in tables: `Type`, `Num/Pos In`. */
  readonly name: string;
  readonly component: number;
  readonly group: RuleGroup;
  /** Levels (of Num/Pos sets of slots, as bits) of each entry; several if they are drawn alike. */
  readonly values: readonly (readonly number[])[];
}

/**
 * How far predictions of a group are from what is right: a mixture of normal distributions around zero,
 * whose weights depend on the rules that were parsed. If a rule leaves the answer open, predictions lie
 * between several entries; if not, close to one.
 */
export interface EntryStatistics {
  /** Kinds of rules: centres [G, R] of the group's parsed rules, each value divided by its scale [R]. */
  readonly gates: Float32Array;
  readonly scale: Float32Array;
  /** [G, C], each row adds up to 1 */
  readonly weights: Float32Array;
  /** Inverse Cholesky factors of the covariances, [C, r, r] */
  readonly whitening: Float32Array;
  /** Divides log-likelihoods, so that probabilities are right as often as they say. */
  readonly temperature: number;
  /** A prediction whose best entry is less likely than this (log-density) is near none. */
  readonly least: number;
}

export interface VocabularyGroup {
  /** Indices 0..M-1, rising. */
  readonly concepts: readonly number[];
  /** [D], D = concepts times d_z */
  readonly mean: Float32Array;
  /** Orthonormal directions [D, r] */
  readonly basis: Float32Array;
  /** Coordinates [K, r] */
  readonly entries: Float32Array;
  /** How many panels of the sample had each entry, [K] */
  readonly counts: Float32Array;
  readonly statistics: ReadonlyMap<StatisticsKey, EntryStatistics>;
  /** What the group determines; empty if people have no word for it. */
  readonly attributes: readonly NamedAttribute[];
}

/** A concept that several groups share: its value follows from their entries. */
export interface SharedConcept {
  readonly concept: number;
  /** [K, d_z] */
  readonly values: Float32Array;
  /** log p(value), [K] */
  readonly prior: Float32Array;
  /** log p(value | entry) [entries of the group, K] */
  readonly given: readonly { readonly group: number; readonly table: Float32Array }[];
}

export interface VocabularyData {
  readonly groups: readonly VocabularyGroup[];
  readonly shared: readonly SharedConcept[];
  /** Concepts that never move, and where they stand. */
  readonly still: readonly { readonly concept: number; readonly value: Float32Array }[];
}

/** What a prediction may stand for in one group. */
export interface Foretold {
  /** Of each entry; they add up to 1. */
  readonly probabilities: readonly number[];
  /** The most likely one, from 0. */
  readonly best: number;
  /** Whether any entry is near: if not, the prediction is like nothing the model knows. */
  readonly known: boolean;
}

/** Panels of one entry lie within about one sigma_z, entries at least six apart. */
const ENTRY_REACH = 3;

class GroupReader {
  readonly rank: number;
  readonly count: number;
  /** Entries in the coordinates of each mixture component, made when first needed. */
  readonly #white = new Map<EntryStatistics, Float64Array[]>();

  constructor(
    readonly group: VocabularyGroup,
    readonly sizes: BundleSizes,
    readonly sigma: number,
  ) {
    this.count = group.counts.length;
    this.rank = group.entries.length / this.count;
  }

  /** Coordinates [r] of the group in a row of all concepts, and how far off its plane the row lies. */
  coordinates(row: ArrayLike<number>): { readonly at: Float64Array; readonly off: number } {
    const { conceptSize } = this.sizes;
    const at = new Float64Array(this.rank);
    let whole = 0;
    this.group.concepts.forEach((concept, c) => {
      for (let k = 0; k < conceptSize; k++) {
        const i = c * conceptSize + k;
        const value = row[concept * conceptSize + k] / this.sigma - this.group.mean[i];
        whole += value * value;
        for (let j = 0; j < this.rank; j++) at[j] += value * this.group.basis[i * this.rank + j];
      }
    });
    return { at, off: Math.max(0, whole - at.reduce((sum, value) => sum + value * value, 0)) };
  }

  /** The entry that a panel shows; null if it is none of them. */
  entryOf(row: ArrayLike<number>): number | null {
    const { at, off } = this.coordinates(row);
    let best = -1;
    let least = Infinity;
    for (let e = 0; e < this.count; e++) {
      let distance = off;
      for (let j = 0; j < this.rank; j++) {
        distance += (at[j] - this.group.entries[e * this.rank + j]) ** 2;
      }
      if (distance < least) [best, least] = [e, distance];
    }
    return least <= ENTRY_REACH ** 2 ? best : null;
  }

  /** Writes an entry's values into a row of all concepts. */
  write(entry: number, row: Float32Array): void {
    const { conceptSize } = this.sizes;
    this.group.concepts.forEach((concept, c) => {
      for (let k = 0; k < conceptSize; k++) {
        const i = c * conceptSize + k;
        let value = this.group.mean[i];
        for (let j = 0; j < this.rank; j++) {
          value += this.group.basis[i * this.rank + j] * this.group.entries[entry * this.rank + j];
        }
        row[concept * conceptSize + k] = value * this.sigma;
      }
    });
  }

  /** L^-1 x of one mixture component. */
  #whitened(statistics: EntryStatistics, c: number, x: ArrayLike<number>, from = 0): Float64Array {
    const { rank } = this;
    const out = new Float64Array(rank);
    for (let i = 0; i < rank; i++) {
      const row = (c * rank + i) * rank;
      for (let j = 0; j <= i; j++) out[i] += statistics.whitening[row + j] * x[from + j];
    }
    return out;
  }

  #whiteEntries(statistics: EntryStatistics): Float64Array[] {
    let made = this.#white.get(statistics);
    if (made === undefined) {
      const components = statistics.whitening.length / this.rank ** 2;
      made = Array.from({ length: components }, (_, c) => {
        const all = new Float64Array(this.count * this.rank);
        for (let e = 0; e < this.count; e++) {
          all.set(this.#whitened(statistics, c, this.group.entries, e * this.rank), e * this.rank);
        }
        return all;
      });
      this.#white.set(statistics, made);
    }
    return made;
  }

  /** log p(prediction | entry) of all entries, by the mixture that the parsed rules call for. */
  logLikelihoods(
    statistics: EntryStatistics,
    row: ArrayLike<number>,
    rules: readonly (readonly number[])[],
  ): Float64Array {
    const { rank, count } = this;
    const { at } = this.coordinates(row);
    const white = this.#whiteEntries(statistics);
    const gate = nearestGate(
      statistics,
      this.group.concepts.flatMap((m) => [...rules[m]]),
    );
    const components = white.length;
    const terms = white.map((entries, c) => {
      const point = this.#whitened(statistics, c, at);
      let logScale = Math.log(statistics.weights[gate * components + c] + 1e-12);
      for (let i = 0; i < rank; i++) {
        logScale += Math.log(statistics.whitening[(c * rank + i) * rank + i]);
      }
      const logs = new Float64Array(count);
      for (let e = 0, at = 0; e < count; e++) {
        let distance = 0;
        for (let j = 0; j < rank; j++, at++) {
          const gap = point[j] - entries[at];
          distance += gap * gap;
        }
        logs[e] = logScale - distance / 2;
      }
      return logs;
    });
    const ofEntry = new Float64Array(components);
    return Float64Array.from({ length: count }, (_, e) => {
      for (let c = 0; c < components; c++) ofEntry[c] = terms[c][e];
      return logSumExp(ofEntry);
    });
  }

  foretell(
    statistics: EntryStatistics,
    row: ArrayLike<number>,
    rules: readonly (readonly number[])[],
  ): Foretold {
    const likelihoods = this.logLikelihoods(statistics, row, rules);
    const negated = Array.from(likelihoods, (value) => -value);
    const probabilities = softmax(negated, statistics.temperature);
    const best = indexOfLargest(likelihoods);
    return { probabilities, best, known: likelihoods[best] >= statistics.least };
  }
}

/** The kind of rule that parsed rules [R] are nearest to. */
export function nearestGate(
  { gates, scale }: Pick<EntryStatistics, 'gates' | 'scale'>,
  rules: readonly number[],
): number {
  const size = scale.length;
  let best = 0;
  let least = Infinity;
  for (let g = 0; g < gates.length / size; g++) {
    let distance = 0;
    for (let i = 0; i < size; i++) distance += (rules[i] / scale[i] - gates[g * size + i]) ** 2;
    if (distance < least) [best, least] = [g, distance];
  }
  return best;
}

/** One entry for each group, from 0; null if a panel shows none of them. */
export type PanelSymbols = readonly (number | null)[];

export class Vocabulary {
  readonly #readers: readonly GroupReader[];

  constructor(
    readonly data: VocabularyData,
    readonly sizes: BundleSizes,
    readonly sigmaZ: number,
  ) {
    this.#readers = data.groups.map((group) => new GroupReader(group, sizes, sigmaZ));
  }

  get groups(): readonly VocabularyGroup[] {
    return this.data.groups;
  }

  /** Symbols of a panel from its encoded concepts [M d_z]. */
  symbolsOf(row: ArrayLike<number>): PanelSymbols {
    return this.#readers.map((reader) => reader.entryOf(row));
  }

  /** log p(prediction | entry) of all entries of a group, for a missing set. */
  logLikelihoods(
    group: number,
    row: ArrayLike<number>,
    rules: readonly (readonly number[])[],
    missing: readonly number[],
  ): Float64Array {
    return this.#readers[group].logLikelihoods(this.#statistics(group, missing), row, rules);
  }

  #statistics(group: number, missing: readonly number[]): EntryStatistics {
    const { statistics } = this.data.groups[group];
    const key = keyFor(missing, statistics);
    // The reader of the file and its finder see to it that there is one.
    return statistics.get(key as StatisticsKey) as EntryStatistics;
  }

  /**
   * What a predicted panel may be.
   * @param row predicted concepts [M d_z]
   * @param rules the rules that were used, [M][d_r]
   */
  foretell(
    row: ArrayLike<number>,
    rules: readonly (readonly number[])[],
    missing: readonly number[],
  ): Foretold[] {
    return this.#readers.map((_, g) => this.foretellGroup(g, row, rules, missing));
  }

  /** The same for one group. */
  foretellGroup(
    group: number,
    row: ArrayLike<number>,
    rules: readonly (readonly number[])[],
    missing: readonly number[],
  ): Foretold {
    return this.#readers[group].foretell(this.#statistics(group, missing), row, rules);
  }

  /** Concepts of a panel with these symbols; what has no symbol stays as it was predicted. */
  write(symbols: PanelSymbols, predicted: Float32Array): Float32Array {
    const row = predicted.slice();
    const { conceptSize } = this.sizes;
    symbols.forEach((entry, g) => {
      if (entry !== null) this.#readers[g].write(entry, row);
    });
    for (const { concept, value } of this.data.still) {
      value.forEach((each, k) => (row[concept * conceptSize + k] = each * this.sigmaZ));
    }
    for (const shared of this.data.shared) {
      const value = sharedValue(shared, symbols);
      if (value === null) continue;
      for (let k = 0; k < conceptSize; k++) {
        row[shared.concept * conceptSize + k] =
          shared.values[value * conceptSize + k] * this.sigmaZ;
      }
    }
    return row;
  }
}

/** The likeliest value of a shared concept; null if an entry it depends on is not known. */
function sharedValue({ prior, given }: SharedConcept, symbols: PanelSymbols): number | null {
  if (given.some(({ group }) => symbols[group] === null)) return null;
  const scores = Float64Array.from(prior, (log, value) =>
    given.reduce((sum, { group, table }) => {
      const entry = symbols[group] ?? 0;
      return sum + table[entry * prior.length + value] - log;
    }, log),
  );
  return indexOfLargest(scores);
}
