/**
 * Sharp panels instead of means: what the vocabulary makes of an answer. Every panel gets its symbols; the
 * most likely entries of a missing panel are painted; and several different answers, each with its
 * probability, come in the order of how likely they are.
 */
import { ArgumentError } from '../base/index.js';
import { MATRIX_PANELS } from '../matrix/index.js';
import type { ConceptLayout } from './concept-layout.js';
import type { Answer, ImaginedPanel, SymbolReading } from './questions.js';
import type { Foretold, PanelSymbols, Vocabulary, VocabularyGroup } from './vocabulary.js';

/** What is read out of an answer before anything is painted. */
type ReadAnswer = Pick<Answer, 'missing' | 'concepts' | 'rules'>;

export interface Imagined {
  /** For all nine panels, one reading for each group. */
  readonly symbols: readonly (readonly SymbolReading[])[];
  /** For each missing panel. */
  readonly imagined: readonly ImaginedPanel[];
}

const certain = (entry: number | null): SymbolReading => ({
  entry: entry === null ? null : entry + 1,
  probability: entry === null ? 0 : 1,
});

/** The symbols of a missing panel that are painted: null if nothing the model knows is near. */
export const bestSymbols = (foretold: readonly Foretold[]): PanelSymbols =>
  foretold.map(({ best, known }) => (known ? best : null));

export function imagine(
  vocabulary: Vocabulary,
  layout: ConceptLayout,
  { missing, concepts, rules }: ReadAnswer,
): Imagined {
  const vectors = rules.map(({ vector }) => vector);
  const imagined = missing.map((position): ImaginedPanel => {
    const predicted = layout.row(concepts[position - 1]);
    const foretold = vocabulary.foretell(predicted, vectors, missing);
    const row = vocabulary.write(bestSymbols(foretold), predicted);
    const known = foretold.every((each) => each.known);
    return { foretold, concepts: layout.means(row, 0), known };
  });
  const symbols = Array.from({ length: MATRIX_PANELS }, (_, i): readonly SymbolReading[] => {
    const at = missing.indexOf(i + 1);
    if (at < 0) return vocabulary.symbolsOf(layout.row(concepts[i])).map(certain);
    return imagined[at].foretold.map(({ best, known, probabilities }) => ({
      entry: known ? best + 1 : null,
      probability: known ? probabilities[best] : 0,
    }));
  });
  return { symbols, imagined };
}

/** One of several answers: symbols for each missing panel, and how likely they are together. */
export interface Combination {
  readonly probability: number;
  readonly symbols: readonly PanelSymbols[];
}

/** Entries of one group of one missing panel, the likeliest first. */
interface Choices {
  readonly entries: readonly (number | null)[];
  readonly probabilities: readonly number[];
}

function choicesOf({ probabilities, known }: Foretold, alike: Alike): Choices {
  if (!known) return { entries: [null], probabilities: [1] };
  const entries = [...probabilities.keys()].sort((a, b) => probabilities[b] - probabilities[a]);
  // The likeliest of those that count as one stands for all of them.
  const found = new Map<string, { readonly entry: number; whole: number }>();
  for (const entry of entries) {
    const one = found.get(alike(entry));
    if (one === undefined) found.set(alike(entry), { entry, whole: probabilities[entry] });
    else one.whole += probabilities[entry];
  }
  const kept = [...found.values()].sort((a, b) => b.whole - a.whole);
  return {
    entries: kept.map(({ entry }) => entry),
    probabilities: kept.map(({ whole }) => whole),
  };
}

/** Entries of a group with the same text count as one. */
export type Alike = (entry: number) => string;

/** Entries that people call the same: what differs, such as an angle, follows no rule. */
export const alikeInWords = ({ attributes }: VocabularyGroup): Alike =>
  attributes.length === 0
    ? String
    : (entry) => attributes.map(({ values }) => values[entry].join('/')).join();

/**
 * The likeliest combinations of entries, best first: the next one differs from one already given in a
 * single group of a single panel, by one place in the order of its entries.
 */
export function likeliest(
  panels: readonly (readonly Foretold[])[],
  count: number,
  alike: readonly Alike[] = [],
): readonly Combination[] {
  const choices = panels.flatMap((groups) =>
    groups.map((foretold, g) => choicesOf(foretold, alike.at(g) ?? String)),
  );
  const chance = (ranks: readonly number[]): number =>
    ranks.reduce((product, rank, i) => product * choices[i].probabilities[rank], 1);
  const start = choices.map(() => 0);
  const met = new Set([start.join()]);
  let open = [{ ranks: start, probability: chance(start) }];
  const found: Combination[] = [];
  while (found.length < count && open.length > 0) {
    open.sort((a, b) => b.probability - a.probability);
    const [{ ranks, probability }, ...rest] = open;
    let next = 0;
    found.push({
      probability,
      symbols: panels.map((groups) =>
        groups.map(() => {
          const at = next++;
          return choices[at].entries[ranks[at]];
        }),
      ),
    });
    open = rest;
    for (const [i, rank] of ranks.entries()) {
      if (rank + 1 >= choices[i].entries.length) continue;
      const later = ranks.map((each, k) => (k === i ? rank + 1 : each));
      const key = later.join();
      if (met.has(key)) continue;
      met.add(key);
      const likely = chance(later);
      if (likely > 0) open.push({ ranks: later, probability: likely });
    }
  }
  return found;
}

/** Symbols of a missing panel with each of some entries of one group in the place of its own; all from 1. */
export function variedSymbols(
  imagined: readonly ImaginedPanel[],
  missing: readonly number[],
  position: number,
  group: number,
  entries: readonly number[],
): PanelSymbols[] {
  const at = missing.indexOf(position);
  const foretold = at < 0 ? [] : imagined[at].foretold;
  const known = foretold.at(group - 1)?.probabilities.length ?? 0;
  const sound = entries.every((each) => Number.isInteger(each) && each >= 1 && each <= known);
  if (group < 1 || known === 0 || !sound) {
    throw new ArgumentError(
      `group ${group} of panel ${position}, entries [${entries.join(', ')}]: the vocabulary has none of these`,
    );
  }
  const own = bestSymbols(foretold);
  return entries.map((entry) => own.map((each, g) => (g === group - 1 ? entry - 1 : each)));
}
