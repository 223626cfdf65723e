/**
 * Score and streak of a person and of the model on the same matrices; kept in the browser. What is stored
 * is the score, and it is read anew before each count, so that several open pages add to the same one.
 */
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
// Another page of this browser counted.
addEventListener('storage', ({ key }) => {
  if (key === STORAGE || key === null) scores.value = read();
});

export const scoreOf = (layout: string): Score => scores.value[layout] ?? NOTHING;

/** Changes the score of a layout as it is stored now. */
function update(layout: string, next: (before: Score) => Score): void {
  // Without storage the score lasts as long as the page.
  const all = isStored() ? read() : scores.peek();
  scores.value = { ...all, [layout]: next(all[layout] ?? NOTHING) };
  try {
    localStorage.setItem(STORAGE, JSON.stringify(scores.peek()));
  } catch {
    // A full or refused storage: as above.
  }
}

function isStored(): boolean {
  try {
    return localStorage.getItem(STORAGE) !== null;
  } catch {
    return false;
  }
}

const counted = (tally: Tally, right: boolean): Tally => ({
  right: tally.right + Number(right),
  total: tally.total + 1,
});

/** Counts a person's answer. */
export function countAnswer(layout: string, right: boolean): void {
  update(layout, (before) => {
    const streak = right ? before.streak + 1 : 0;
    const best = Math.max(before.best, streak);
    return { ...before, you: counted(before.you, right), streak, best };
  });
}

/** Counts the model's answer to a matrix that a person answered. */
export function countModel(layout: string, right: boolean): void {
  update(layout, (before) => ({ ...before, model: counted(before.model, right) }));
}

export const forget = (layout: string): void => update(layout, () => NOTHING);
