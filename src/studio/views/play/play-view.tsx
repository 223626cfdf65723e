/** Play: a matrix with one panel missing and eight candidates; answer it, then see what CRAB imagines. */
import { useEffect } from 'preact/hooks';
import { newMatrix } from '../../parts/configuration-bar.js';
import { EmptyMatrix, ShownMatrix, type PaintedPanels } from '../../parts/matrix-grid.js';
import { awaitModel } from '../../state/model-answers.js';
import { countAnswer, isSeen, see } from '../../state/score.js';
import {
  bundle,
  change,
  choice,
  matrix,
  ready,
  settings,
  shownAnswer,
  spec,
} from '../../state/store.js';
import { Candidates } from './candidates.js';
import { Scoreboard } from './scoreboard.js';
import { uncounted, Verdict } from './verdict.js';

/** A person's answer; counted if its matrix is new, and not on the tour. */
function pick(candidate: number): void {
  const { picked, revealed, layout, tour } = settings.peek();
  const right = matrix.peek().value?.right ?? [];
  // While another matrix is on its way the answer to the one still shown would be judged by it.
  if (picked !== 0 || revealed || matrix.peek().pending) return;
  const isNew = !isSeen(spec.peek());
  uncounted.value = isNew ? null : spec.peek();
  change({ picked: candidate, revealed: true });
  if (right.length === 0 || !isNew || tour > 0) return;
  countAnswer(layout, right.includes(candidate - 1));
  awaitModel({ spec: spec.peek(), layout, bundle: bundle.peek(), right });
}

/** Digits answer, n goes on; not while a person types or holds a modifier. */
function onKey(event: KeyboardEvent): void {
  // Digits are text in a box of text; buttons, radios and lists have no use for them.
  const isTyping = event.target instanceof HTMLInputElement && event.target.type === 'number';
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const digit = Number(event.key);
  const count = matrix.peek().value?.candidates.length ?? 0;
  if (digit >= 1 && digit <= count) pick(digit);
  if (event.key === 'n') newMatrix();
}

export function PlayView() {
  useEffect(() => {
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const shown = matrix.value.value;
  const { revealed } = settings.value;
  const at = spec.value;
  useEffect(() => {
    if (revealed) see(at);
  }, [revealed, at]);
  const answer = choice.value.value?.answer ?? null;
  const painted: PaintedPanels = new Map(
    revealed && answer !== null
      ? answer.missing.map((position, i) => [position, (shownAnswer.value ?? answer).images[i]])
      : [],
  );
  const missing = shown !== null && shown.blank.length > 0 ? shown.blank : [9];
  return (
    <div class="columns">
      <h1 class="unseen">Play: which panel completes the matrix?</h1>
      <section class="stage" aria-label="The matrix">
        {shown === null ? (
          <EmptyMatrix />
        ) : (
          <ShownMatrix
            label="Matrix with panel 9 missing"
            matrix={shown}
            missing={missing}
            painted={painted}
            busy={revealed && choice.value.pending}
          />
        )}
        {matrix.value.fault !== null && (
          <p class="fault" role="alert">
            {matrix.value.fault}
          </p>
        )}
      </section>
      <section class="side" aria-label="Your answer">
        <h2>{revealed ? 'The candidates' : 'Which one completes the matrix?'}</h2>
        <Candidates pick={pick} />
        <div class="actions">
          {revealed ? (
            <button type="button" class="main" onClick={newMatrix}>
              Next matrix
            </button>
          ) : (
            <button
              type="button"
              class="main"
              disabled={ready.value === null}
              onClick={() => change({ revealed: true })}
            >
              Let CRAB imagine it
            </button>
          )}
          <p class="hint wide-only">
            {revealed ? (
              <>
                Key <kbd>n</kbd> goes on.
              </>
            ) : (
              <>
                Keys <kbd>1</kbd> to <kbd>8</kbd> answer.
              </>
            )}
          </p>
        </div>
        <Verdict />
      </section>
      <Scoreboard />
    </div>
  );
}
