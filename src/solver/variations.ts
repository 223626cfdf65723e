/** An imagined panel with other values of one group of concepts: what else could stand there. */
import { ArgumentError } from '../base/index.js';
import type { ConceptLayout } from './concept-layout.js';
import { bestSymbols, conceptsWith, imaginedPanels } from './imagining.js';
import type { Answer, ConceptMeans } from './questions.js';
import type { Vocabulary } from './vocabulary.js';

/**
 * Concepts of the panel imagined at a missing position, with each of some entries of one group in the place
 * of its own. Groups and entries are counted from 1.
 */
export function variationsOf(
  answer: Answer,
  { position, group, entries }: { position: number; group: number; entries: readonly number[] },
  vocabulary: Vocabulary | null,
  layout: ConceptLayout,
): ConceptMeans[] {
  const at = answer.missing.indexOf(position);
  const imagined = imaginedPanels(answer);
  const foretold = at < 0 ? [] : imagined[at].foretold;
  const known = foretold.at(group - 1)?.probabilities.length ?? 0;
  const sound = entries.every((each) => Number.isInteger(each) && each >= 1 && each <= known);
  if (group < 1 || known === 0 || !sound) {
    throw new ArgumentError(
      `group ${group} of panel ${position}, entries [${entries.join(', ')}]: the vocabulary has none of these`,
    );
  }
  return entries.map((entry) => {
    const symbols = bestSymbols(foretold).map((own, g) => (g === group - 1 ? entry - 1 : own));
    return conceptsWith(symbols, answer, position, vocabulary, layout);
  });
}
