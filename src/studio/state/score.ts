/**
 * Score and streak of a person and of the model on the same matrices; kept in the browser. What is stored
 * is the score, and it is read anew before each count, so that several open pages add to the same one. A
 * matrix counts once: those whose answer was shown are remembered.
 */
import { signal } from '@preact/signals';
import type { MatrixSpec } from '../engine/protocol.js';

export interface Tally {
  readonly right: number;
  readonly total: number;
}

interface Score {
  readonly you: Tally;
  readonly model: Tally;
  /** Right answers in a row, now and at best. */
  readonly streak: number;
  readonly best: number;
  /** Matrices whose answer was shown, newest last, as `shortNameOf` calls them. */
  readonly seen: readonly string[];
}

/** More than anyone plays in a day; older ones are forgotten. */
const MOST_SEEN = 1000;

const STORAGE = 'crab-studio-score';
const NOTHING: Score = {
  you: { right: 0, total: 0 },
  model: { right: 0, total: 0 },
  streak: 0,
  best: 0,
  seen: [],
};

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

function isTally(value: unknown): value is Tally {
  const tally = value as Partial<Tally> | null | undefined;
  return isCount(tally?.right) && isCount(tally?.total) && tally.right <= tally.total;
}

const isNames = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

/** By layout. Storage may hold anything, or be refused. */
function read(): Readonly<Record<string, Score>> {
  try {
    const stored = JSON.parse(localStorage.getItem(STORAGE) ?? '{}') as Record<string, Score>;
    const sound = Object.entries(stored).filter(
      ([, score]) =>
        isTally(score.you) && isTally(score.model) && isCount(score.streak) && isCount(score.best),
    );
    return Object.fromEntries(
      sound.map(([layout, score]) => [
        layout,
        { ...score, seen: isNames(score.seen) ? score.seen : [] },
      ]),
    );
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

/** Tells matrices apart in a few characters (FNV-1a). */
function shortNameOf(spec: MatrixSpec): string {
  let hash = 0x811c9dc5;
  for (const unit of JSON.stringify(spec)) {
    hash = Math.imul(hash ^ (unit.codePointAt(0) ?? 0), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}

export const isSeen = (spec: MatrixSpec): boolean =>
  scores.peek()[spec.layout]?.seen.includes(shortNameOf(spec)) ?? false;

/** Remembers that the answer of a matrix was shown: from now on it does not count. */
export function see(spec: MatrixSpec): void {
  if (isSeen(spec)) return;
  update(spec.layout, (before) => ({
    ...before,
    seen: [...before.seen, shortNameOf(spec)].slice(-MOST_SEEN),
  }));
}

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

/** Starts the score anew; answers that were shown stay known. */
export const forget = (layout: string): void =>
  update(layout, ({ seen }) => ({ ...NOTHING, seen }));
