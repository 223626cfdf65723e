/**
 * Both models on many matrices, one after the other: how often each chooses right, and what it gets wrong.
 * If there is no Transformer for them, CRAB alone.
 */
import { computed, effect, signal } from '@preact/signals';
import { messageOf } from '../../base/index.js';
import type { ChoiceView, MatrixView, SampledSpec } from '../engine/protocol.js';
import { rival } from './compare.js';
import { MOST_SEED } from './settings.js';
import { bundle, engine, ready, settings, tab } from './store.js';
import { transformerFor } from './zoo.js';

/** Matrices tried at one press. */
export const SERIES = 100;

export interface Trial {
  readonly seed: number;
  readonly isCrabRight: boolean;
  /** Null if there was no Transformer to ask. */
  readonly isRivalRight: boolean | null;
  /** To look at, if one of them was wrong. */
  readonly matrix: MatrixView | null;
}

interface Trials {
  /** What kind of matrix and which model they were made with. */
  readonly kind: string;
  readonly done: readonly Trial[];
  /** How many there are to be in the end. */
  readonly goal: number;
  readonly isRunning: boolean;
  readonly fault: string | null;
}

const NONE: Trials = { kind: '', done: [], goal: 0, isRunning: false, fault: null };
const all = signal<Trials>(NONE);

/** Everything but the seed; what was changed by hand belongs to one matrix alone. */
const likeThis = (): Omit<SampledSpec, 'seed'> => {
  const { layout, variant, difficulty, constraints } = settings.value;
  return { kind: 'sampled', layout, index: 0, variant, difficulty, constraints, edits: '' };
};
/** Whether a Transformer answers too: not if none is here, nor if it cannot be loaded. */
export const hasRival = computed(
  () => transformerFor(settings.value.layout) !== null && rival.value.phase !== 'failed',
);
const kind = computed(() => JSON.stringify([likeThis(), bundle.value, hasRival.value]));

/** Those of the kind at hand. */
export const trials = computed(() => (all.value.kind === kind.value ? all.value : NONE));

export const canTry = computed(
  () => ready.value !== null && (!hasRival.value || rival.value.phase === 'ready'),
);

const change = (changes: Partial<Trials>): void => {
  all.value = { ...all.peek(), ...changes };
};

/** Counts series begun or stopped: a loop whose number is old ends. */
let series = 0;
export function stopTrials(): void {
  series++;
  change({ isRunning: false });
}

async function tryOne(spec: SampledSpec): Promise<Trial> {
  const state = rival.peek();
  const other = state.phase === 'ready' ? state.engine : null;
  const [matrix, crab, theirs] = await Promise.all([
    engine.matrix(spec),
    engine.choose(spec),
    other?.choose(spec) ?? null,
  ]);
  const isRight = ({ index }: ChoiceView): boolean =>
    index !== null && matrix.right.includes(index);
  const isCrabRight = isRight(crab);
  const isRivalRight = theirs === null ? null : isRight(theirs);
  const isToSee = !isCrabRight || isRivalRight === false;
  return { seed: spec.seed, isCrabRight, isRivalRight, matrix: isToSee ? matrix : null };
}

/** Tries the matrices after the one at hand, or after those tried already. */
export async function tryMore(): Promise<void> {
  const own = ++series;
  const { done } = trials.peek();
  change({ ...NONE, kind: kind.peek(), done, goal: done.length + SERIES, isRunning: true });
  const last = done.at(-1)?.seed ?? settings.peek().seed;
  const like = likeThis();
  try {
    for (let i = 1; i <= SERIES; i++) {
      const trial = await tryOne({ ...like, seed: (last + i) % (MOST_SEED + 1) });
      if (own !== series) return;
      change({ done: [...all.peek().done, trial] });
    }
    change({ isRunning: false });
  } catch (error) {
    if (own === series) change({ isRunning: false, fault: messageOf(error) });
  }
}

// Another kind of matrix, or another tab, which ends the Transformer's worker.
effect(() => {
  if (tab.value !== 'compare' || kind.value !== all.peek().kind) stopTrials();
});
