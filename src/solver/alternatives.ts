/**
 * Several right answers: if a rule leaves something open, the different answers that it allows, each with
 * its probability, the likeliest first.
 */
import { ArgumentError } from '../base/index.js';
import type { ConceptLayout } from './concept-layout.js';
import { conceptsWith, imaginedPanels } from './imagining.js';
import type { Alternative, Answer } from './questions.js';
import type { Foretold, PanelSymbols, Vocabulary, VocabularyGroup } from './vocabulary.js';

/** More than anyone looks at. */
const MOST_ALTERNATIVES = 1000;

/** What makes two answers different: any entry, or only a value that people have a word for. */
export type Difference = 'entry' | 'value';

/** One of several answers: symbols for each missing panel, and how likely they are together. */
interface Combination {
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
type Alike = (entry: number) => string;

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

/** Up to `count` different answers, not yet painted. */
export function alternativesTo(
  answer: Answer,
  count: number,
  vocabulary: Vocabulary | null,
  layout: ConceptLayout,
  differ: Difference = 'entry',
): Omit<Alternative, 'images'>[] {
  if (!Number.isSafeInteger(count) || count < 1 || count > MOST_ALTERNATIVES) {
    throw new ArgumentError(`alternatives ${count}: expected 1 to ${MOST_ALTERNATIVES}`);
  }
  const panels = imaginedPanels(answer).map(({ foretold }) => foretold);
  const alike = differ === 'value' ? vocabulary?.groups.map(alikeInWords) : [];
  return likeliest(panels, count, alike).map(({ probability, symbols }) => ({
    probability,
    concepts: symbols.map((each, i) =>
      conceptsWith(each, answer, answer.missing[i], vocabulary, layout),
    ),
    symbols: symbols.map((each) => each.map((entry) => (entry === null ? null : entry + 1))),
  }));
}
