/**
 * Symbols of panels in words, and films: the imagined panel with one value after the other of a group of
 * concepts, as the vocabulary has them.
 */
import { describeLevel, layoutOf, type RuleGroup } from '../../matrix/index.js';
import type { Answer, NamedAttribute, Solver } from '../../solver/index.js';
import type { FilmView, SymbolView } from './protocol.js';
import { valueWords } from './words.js';

/** More frames than these do not fit beside each other. */
const MOST_FRAMES = 12;

function wordsOf({ manifest }: Solver, attribute: NamedAttribute, entry: number): string {
  const { component, group, values } = attribute;
  const own = layoutOf(manifest.configuration, manifest.noisy).components[component];
  const wordsAt = (level: number): string => {
    if (group === 'Number/Position') return describeLevel(own, group, level);
    return `${group === 'Size' ? 'size ' : ''}${valueWords(group, level)}`;
  };
  return values[entry].map(wordsAt).join(' or ');
}

/** What all nine panels show of an attribute; null for one that shows nothing known. */
export function symbolsOf(
  solver: Solver,
  answer: Answer,
  { component, group }: { readonly component: number; readonly group: RuleGroup },
  conceptGroup: number | null,
): (SymbolView | null)[] {
  const attribute =
    conceptGroup === null
      ? undefined
      : solver.vocabulary?.groups[conceptGroup - 1].attributes.find(
          (each) => each.component === component && each.group === group,
        );
  return (answer.symbols ?? []).map((panel, i) => {
    const entry = conceptGroup === null ? null : panel[conceptGroup - 1].entry;
    if (attribute === undefined || conceptGroup === null || entry === null) return null;
    const foretold = answer.imagined?.[answer.missing.indexOf(i + 1)]?.foretold[conceptGroup - 1];
    return {
      levels: attribute.values[entry - 1],
      words: wordsOf(solver, attribute, entry - 1),
      probability:
        foretold === undefined ? 1 : shareOf(attribute, foretold.probabilities, entry - 1),
    };
  });
}

/** The probability of all entries with the value of this one. */
function shareOf(
  { values }: NamedAttribute,
  probabilities: readonly number[],
  entry: number,
): number {
  const own = values[entry].join();
  return probabilities.reduce((sum, each, i) => (values[i].join() === own ? sum + each : sum), 0);
}

/** The order of frames: by the number of figures, then by levels. */
function rankOf(attributes: readonly NamedAttribute[], entry: number): number[] {
  return attributes.flatMap(({ group, values }) => {
    const [level] = values[entry];
    const figures = level.toString(2).replaceAll('0', '').length;
    return group === 'Number/Position' ? [figures, level] : [level];
  });
}

const compare = (a: readonly number[], b: readonly number[]): number =>
  a.map((value, i) => value - b[i]).find((difference) => difference !== 0) ?? 0;

/** Entries of a group, one for each value that people tell apart, those of this matrix first. */
function differentEntries(
  attributes: readonly NamedAttribute[],
  counts: ArrayLike<number>,
  own: readonly (number | null)[],
): number[] {
  const rest = Array.from(counts, (count, entry) => ({ count, entry }))
    .sort((a, b) => b.count - a.count)
    .map(({ entry }) => entry);
  const found = new Map<string, number>();
  for (const entry of [...own, ...rest]) {
    if (entry === null) continue;
    const key =
      attributes.length === 0
        ? String(entry)
        : attributes.map(({ values }) => values[entry].join('/')).join();
    if (!found.has(key)) found.set(key, entry);
  }
  return [...found.values()];
}

/** The panel imagined last with the values of a group (from 0). */
export async function filmOf(solver: Solver, answer: Answer, group: number): Promise<FilmView> {
  const known = solver.vocabulary?.groups.at(group);
  const position = answer.missing[answer.missing.length - 1];
  if (known === undefined || answer.symbols === null) {
    throw new Error('this model has no vocabulary, so its concepts have no values to show');
  }
  const { attributes, counts } = known;
  const entries = answer.symbols.map((panel) => panel[group].entry);
  const own = entries[position - 1];
  const given = [own, ...entries].map((entry) => (entry === null ? null : entry - 1));
  const all = differentEntries(attributes, counts, given);
  const shown = all
    .slice(0, MOST_FRAMES)
    .sort((a, b) => compare(rankOf(attributes, a), rankOf(attributes, b)));
  const images = await solver.variations(
    answer,
    position,
    group + 1,
    shown.map((entry) => entry + 1),
  );
  const frames = shown.map((entry, i) => ({
    image: images[i],
    words: attributes.map((attribute) => wordsOf(solver, attribute, entry)).join(', '),
    isOwn: entry + 1 === own,
  }));
  return { frames, count: all.length };
}
