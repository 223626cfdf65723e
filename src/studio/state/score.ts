/** Score and streak of a person and of the model on the same matrices; kept in the browser. */
import { signal } from '@preact/signals';

export interface Tally {
  readonly right: number;
  readonly total: number;
}

export interface Score {
  readonly you: Tally;
  readonly model: Tally;
  /** Right answers in a row, now and at best. */
  readonly streak: number;
  readonly best: number;
}

const STORAGE = 'crab-studio-score';
const NOTHING: Score = {
  you: { right: 0, total: 0 },
  model: { right: 0, total: 0 },
  streak: 0,
  best: 0,
};

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

function isTally(value: unknown): value is Tally {
  const tally = value as Partial<Tally> | null | undefined;
  return isCount(tally?.right) && isCount(tally?.total) && tally.right <= tally.total;
}

/** By layout. Storage may hold anything, or be refused. */
function read(): Readonly<Record<string, Score>> {
  try {
    const stored = JSON.parse(localStorage.getItem(STORAGE) ?? '{}') as Record<string, Score>;
    const sound = Object.entries(stored).filter(
      ([, score]) =>
        isTally(score.you) && isTally(score.model) && isCount(score.streak) && isCount(score.best),
    );
    return Object.fromEntries(sound);
  } catch {
    return {};
  }
}

const scores = signal(read());

export const scoreOf = (layout: string): Score => scores.value[layout] ?? NOTHING;

function keep(layout: string, score: Score): void {
  scores.value = { ...scores.peek(), [layout]: score };
  try {
    localStorage.setItem(STORAGE, JSON.stringify(scores.peek()));
  } catch {
    // Without storage the score lasts as long as the page.
  }
}

const counted = (tally: Tally, right: boolean): Tally => ({
  right: tally.right + Number(right),
  total: tally.total + 1,
});

/** Counts a person's answer. */
export function countAnswer(layout: string, right: boolean): void {
  const before = scoreOf(layout);
  const streak = right ? before.streak + 1 : 0;
  const best = Math.max(before.best, streak);
  keep(layout, { ...before, you: counted(before.you, right), streak, best });
}

/** Counts the model's answer to a matrix that a person answered. */
export function countModel(layout: string, right: boolean): void {
  const before = scoreOf(layout);
  keep(layout, { ...before, model: counted(before.model, right) });
}

export const forget = (layout: string): void => keep(layout, NOTHING);

/**
 * Selection accuracy of people (Zhang et al. 2019), in percent, by configuration, as the table of CRAB's
 * paper prints it. RAVEN's own table orders its columns in another way, so some of them may be swapped.
 */
export const PEOPLE: Readonly<Record<string, number>> = {
  center: 95.5,
  'left-right': 81.8,
  'up-down': 79.6,
  'out-in-center': 86.4,
  'out-in-grid': 81.8,
  'grid-2x2': 86.4,
  'grid-3x3': 81.8,
};
