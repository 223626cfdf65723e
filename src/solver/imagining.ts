/**
 * Sharp panels instead of means: what the vocabulary makes of an answer. Every panel gets its symbols, and
 * the most likely entries of a missing panel are painted. Other entries are for `alternatives.ts` and
 * `variations.ts`.
 */
import { MATRIX_PANELS } from '../matrix/index.js';
import type { ConceptLayout } from './concept-layout.js';
import { SolverError } from './errors.js';
import type { Answer, ConceptMeans, ImaginedPanel, SymbolReading } from './questions.js';
import type { Foretold, PanelSymbols, Vocabulary } from './vocabulary.js';

/** What is read out of an answer before anything is painted. */
type ReadAnswer = Pick<Answer, 'missing' | 'concepts' | 'rules'>;

interface Imagined {
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

/** The symbols of a missing panel as an answer gives them. */
export const foretoldReadings = (foretold: readonly Foretold[]): readonly SymbolReading[] =>
  foretold.map(({ best, known, probabilities }) => ({
    entry: known ? best + 1 : null,
    probability: known ? probabilities[best] : 0,
  }));

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
    return foretoldReadings(imagined[at].foretold);
  });
  return { symbols, imagined };
}

/** The missing panels of an answer in terms of the vocabulary. */
export function imaginedPanels({ imagined }: Answer): readonly ImaginedPanel[] {
  if (imagined !== null) return imagined;
  throw new SolverError('this bundle has no vocabulary, so it has one answer only: the mean');
}

/** Concepts of a missing panel of an answer with these symbols. */
export function conceptsWith(
  symbols: PanelSymbols,
  { concepts }: Answer,
  position: number,
  vocabulary: Vocabulary | null,
  layout: ConceptLayout,
): ConceptMeans {
  const predicted = layout.row(concepts[position - 1]);
  return layout.means(vocabulary?.write(symbols, predicted) ?? predicted, 0);
}
