/**
 * The one vocabulary of certainty: what a probability is called wherever the page says how sure CRAB is.
 * Of pictures that a model does not know it is a guess, whatever the model says. Certainty is said of what
 * is painted and of rules; a choice among candidates is only more or less close to what was painted, and
 * may be close to a guess.
 */
import { isEmptyPanel } from '../../solver/index.js';
import type { ChoiceView, NamedView, SurenessView } from '../engine/protocol.js';
import { inList } from '../engine/words.js';
import { drawingMoved } from './distances.js';
import { misfit } from './misfit-notice.js';

const WORDS: readonly (readonly [least: number, word: string])[] = [
  [0.99, 'certain'],
  [0.9, 'sure'],
  [0.6, 'fairly sure'],
  [0.3, 'unsure'],
  [0, 'guessing'],
];

/** A word for a probability, 0..1. */
function certainty(probability: number): string {
  if (misfit() !== null) return 'guessing';
  return WORDS.find(([least]) => probability >= least)?.[1] ?? 'guessing';
}

/** In percent; what is possible is never said to be 0%, what is not quite certain never 100%. */
export function percent(probability: number): string {
  if (probability > 0 && probability < 0.01) return 'under 1%';
  if (probability >= 0.995 && probability < 0.9995) return `${(100 * probability).toFixed(1)}%`;
  return `${Math.round(100 * probability)}%`;
}

/** "sure (93%)" */
export const certaintyWithNumber = (probability: number): string =>
  misfit() === null ? `${certainty(probability)} (${percent(probability)})` : 'a guess';

/** How sure a rule is; of one that the painted panel breaks, that it does. */
export const ruleCertainty = ({
  confidence,
  obeyed,
}: Pick<NamedView, 'confidence' | 'obeyed'>): string =>
  obeyed ? certaintyWithNumber(confidence) : 'comes closest, but the painted panel breaks it';

const CLOSENESS: readonly (readonly [least: number, before: string, after: string])[] = [
  [0.99, 'by far ', ''],
  [0.9, 'clearly ', ''],
  [0.6, '', ''],
  [0, '', ', but not by much'],
];

/** Candidates, from 0, that are to the model what a candidate is: drawn alike at its size. */
function sameAs(index: number, candidates: ChoiceView['candidates']): number[] {
  const shares = candidates.map(({ l2Shares }) => l2Shares.join());
  return shares.flatMap((each, i) => (i !== index && each === shares[index] ? [i] : []));
}

/**
 * "In its own terms candidate 6 is by far the closest to what it painted.", if it painted anything. A model
 * compares descriptions, not pixels: to the eye another candidate may be closer.
 */
export function closenessWords(
  index: number,
  { confidence, answer, candidates }: Pick<ChoiceView, 'confidence' | 'answer' | 'candidates'>,
): string {
  const painted = answer.images.at(-1);
  if (painted !== undefined && isEmptyPanel(painted)) {
    return `It painted nothing: its panel is empty, so its choice of candidate ${index + 1} says little.`;
  }
  const same = sameAs(index, candidates);
  if (same.length > 0) {
    const names = [index, ...same].sort((a, b) => a - b).map((i) => String(i + 1));
    return `In its own terms candidates ${inList(names)} are the closest to what it painted. They are the same to it: drawn as small as it sees them, they do not differ.`;
  }
  const [, before, after] = CLOSENESS.find(([least]) => confidence >= least) ?? [0, '', ''];
  if (drawingMoved({ index, candidates })) {
    const drawn = candidates.flatMap((each, i) => (each.painted === null ? [] : [String(i + 1)]));
    return `In its own terms candidates ${inList(drawn)} are about equally close to what it painted. So it also drew these from its own terms, to see whether they come out as they are: all in all candidate ${index + 1} is ${before}the closest${after}.`;
  }
  return `In its own terms candidate ${index + 1} is ${before}the closest to what it painted${after}.`;
}

/** How sure a painted panel is: the word for its least sure attribute, and which ones that is said of. */
export function panelCertainty(sureness: readonly SurenessView[]): string {
  if (sureness.length === 0) return certainty(0);
  const word = certainty(Math.min(...sureness.map(({ probability }) => probability)));
  const about = sureness.filter(({ probability }) => certainty(probability) === word);
  const subjects = about.map(({ subject }) => subject.toLowerCase());
  // Of a panel that is sure in everything, what is a little less so is not worth a word.
  if (word === 'sure' || subjects.length === sureness.length) return word;
  return `${word} ${word === 'guessing' ? 'the' : 'of'} ${subjects.join(' and ')}`;
}

/** The same as a sentence: "It is certain of its panel.", "It is guessing the position." */
export function panelSentence(sureness: readonly SurenessView[]): string {
  const words = panelCertainty(sureness);
  const isOfAll = WORDS.some(([, word]) => word === words) && words !== 'guessing';
  return `It is ${words}${isOfAll ? ' of its panel' : ''}.`;
}
