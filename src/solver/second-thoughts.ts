/**
 * Second thoughts on an imagined panel (`paint: 'careful'`): if the model is unsure of a group of concepts,
 * its likeliest entries are tried one by one. The panel is taken as given with that entry, each of the other
 * two panels of its row is hidden in turn, and the model predicts it. The entry with which it finds what is
 * really there is the better one. Probabilities of the entries tried are multiplied by those of what is
 * there; all others stay as they were. Costs ten predictions for each unsure group, so it is asked for.
 */
import { indexOfLargest } from '../base/index.js';
import type { ConceptLayout } from './concept-layout.js';
import { bestSymbols, foretoldReadings } from './imagining.js';
import type { Answer, ConceptMeans, ImaginedPanel } from './questions.js';
import type { Foretold, Vocabulary } from './vocabulary.js';

/** Groups whose best entry is at least this likely are left alone. */
const SURE_FROM = 0.9;
const MOST_TRIED = 5;
const LEAST = 1e-9;

/** A matrix with one panel (1..9) hidden. */
export interface Trial {
  readonly concepts: readonly ConceptMeans[];
  readonly hidden: number;
}

/** What the model predicts for a hidden panel [M d_z], and the rules [M][d_r] it parsed. */
export interface TrialResult {
  readonly predicted: Float32Array;
  readonly rules: readonly (readonly number[])[];
}

/** A group of an answer's one missing panel that the model is unsure of. */
interface Doubt {
  readonly group: number;
  readonly entries: readonly number[];
  readonly trials: readonly Trial[];
}

/** The other two panels of the row of a panel, 1..9. */
function rowMates(position: number): number[] {
  const first = position - ((position - 1) % 3);
  return [first, first + 1, first + 2].filter((each) => each !== position);
}

function likeliestEntries({ probabilities }: Foretold): number[] {
  return [...probabilities.keys()]
    .sort((a, b) => probabilities[b] - probabilities[a])
    .slice(0, MOST_TRIED);
}

/** What is to be tried for an answer: nothing if several panels are missing or a rule was imposed. */
function doubtsOf(
  vocabulary: Vocabulary,
  layout: ConceptLayout,
  { missing, imagined, concepts, rules }: Answer,
): Doubt[] {
  if (imagined === null || missing.length !== 1 || rules.some(({ imposed }) => imposed)) return [];
  const [position] = missing;
  const [{ foretold }] = imagined;
  const predicted = layout.row(concepts[position - 1]);
  return foretold.flatMap((each, group): Doubt[] => {
    if (!each.known || each.probabilities[each.best] >= SURE_FROM) return [];
    const entries = likeliestEntries(each);
    const trials = entries.flatMap((entry) => {
      const symbols = bestSymbols(foretold).map((best, g) => (g === group ? entry : best));
      const tried = layout.means(vocabulary.write(symbols, predicted), 0);
      const filled = concepts.map((means, i) => (i === position - 1 ? tried : means));
      return rowMates(position).map((hidden) => ({ concepts: filled, hidden }));
    });
    return [{ group, entries, trials }];
  });
}

/** log p of what a hidden panel really shows in a group; 0 if it shows nothing that is known. */
function logFound(
  vocabulary: Vocabulary,
  layout: ConceptLayout,
  group: number,
  { concepts, hidden }: Trial,
  { predicted, rules }: TrialResult,
): number {
  const there = vocabulary.symbolsOf(layout.row(concepts[hidden - 1]))[group];
  if (there === null) return 0;
  const { probabilities } = vocabulary.foretellGroup(group, predicted, rules, [hidden]);
  return Math.log(Math.max(LEAST, probabilities[there]));
}

/** A group with the probabilities of the entries tried shared out anew. */
function revised(
  foretold: Foretold,
  entries: readonly number[],
  logs: readonly number[],
): Foretold {
  const most = Math.max(...logs);
  const weights = entries.map(
    (entry, i) => foretold.probabilities[entry] * Math.exp(logs[i] - most),
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (!(total > 0)) return foretold;
  const share = entries.reduce((sum, entry) => sum + foretold.probabilities[entry], 0);
  const probabilities = [...foretold.probabilities];
  entries.forEach((entry, i) => (probabilities[entry] = (share * weights[i]) / total));
  // Of those tried: what was not tried had less to say for it from the start.
  const best = entries[indexOfLargest(weights)];
  return { ...foretold, probabilities, best };
}

/** The answer after its trials; `results` in the order of the doubts' trials. */
function reconsidered(
  vocabulary: Vocabulary,
  layout: ConceptLayout,
  answer: Answer,
  doubts: readonly Doubt[],
  results: readonly TrialResult[],
): Answer {
  if (doubts.length === 0 || answer.imagined === null || answer.symbols === null) return answer;
  const [position] = answer.missing;
  const [panel] = answer.imagined;
  const foretold = [...panel.foretold];
  let at = 0;
  for (const { group, entries, trials } of doubts) {
    const found = trials.map((trial) => logFound(vocabulary, layout, group, trial, results[at++]));
    const mates = trials.length / entries.length;
    const logs = entries.map((_, i) =>
      found.slice(i * mates, (i + 1) * mates).reduce((sum, log) => sum + log, 0),
    );
    foretold[group] = revised(foretold[group], entries, logs);
  }
  const predicted = layout.row(answer.concepts[position - 1]);
  const concepts = layout.means(vocabulary.write(bestSymbols(foretold), predicted), 0);
  const imagined: readonly ImaginedPanel[] = [{ ...panel, foretold, concepts }];
  const symbols = answer.symbols.map((readings, i) =>
    i === position - 1 ? foretoldReadings(foretold) : readings,
  );
  return { ...answer, imagined, symbols };
}

/** Answers after second thoughts; all trials are made at once by `tryAll`. */
export async function withSecondThoughts(
  vocabulary: Vocabulary,
  layout: ConceptLayout,
  answers: readonly Answer[],
  tryAll: (trials: readonly Trial[]) => Promise<readonly TrialResult[]>,
): Promise<Answer[]> {
  const doubts = answers.map((answer) => doubtsOf(vocabulary, layout, answer));
  const results = await tryAll(doubts.flatMap((each) => each.flatMap(({ trials }) => trials)));
  let at = 0;
  return answers.map((answer, n) => {
    const count = doubts[n].reduce((sum, { trials }) => sum + trials.length, 0);
    const own = results.slice(at, (at += count));
    return reconsidered(vocabulary, layout, answer, doubts[n], own);
  });
}
