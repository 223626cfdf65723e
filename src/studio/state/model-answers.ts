/**
 * What the model answers to matrices a person has answered, for the score. A person may go on before the
 * model is there, or to another configuration: each matrix waits until its own model is at work.
 */
import { effect, signal } from '@preact/signals';
import type { MatrixSpec } from '../engine/protocol.js';
import { countModel } from './score.js';
import { engine, ready } from './store.js';

interface AnsweredMatrix {
  readonly spec: MatrixSpec;
  readonly layout: string;
  /** Name of the model to ask. */
  readonly bundle: string;
  /** Indices of the right candidates. */
  readonly right: readonly number[];
}

const waiting = signal<readonly AnsweredMatrix[]>([]);
let isAsking = false;

export function awaitModel(answered: AnsweredMatrix): void {
  waiting.value = [...waiting.peek(), answered];
}

async function ask(answered: AnsweredMatrix): Promise<void> {
  isAsking = true;
  let isDone = true;
  try {
    const { index } = await engine.choose(answered.spec);
    if (index !== null) countModel(answered.layout, answered.right.includes(index));
  } catch {
    // A model that cannot answer is not scored; one that was put away meanwhile is asked again later.
    isDone = ready.peek()?.name === answered.bundle;
  }
  isAsking = false;
  waiting.value = waiting.peek().filter((each) => !isDone || each !== answered);
}

effect(() => {
  const name = ready.value?.name;
  const next = waiting.value.find(({ bundle }) => bundle === name);
  if (next !== undefined && !isAsking) void ask(next);
});
