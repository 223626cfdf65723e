/** Make: build a matrix from rules and values, or bring pictures, and see what CRAB makes of it. */
import { useSignal } from '@preact/signals';
import { useCallback, useEffect } from 'preact/hooks';
import { EmptyMatrix, ShownMatrix } from '../../parts/matrix-grid.js';
import { choice, matrix, settings } from '../../state/store.js';
import { Builder } from './builder.js';
import { DropZone } from './drop-zone.js';
import { EditableMatrix, madeCell } from './editable-matrix.js';
import { ExportButtons } from './export-buttons.js';
import { MadeCandidates } from './made-candidates.js';
import { PanelEditor } from './panel-editor.js';
import { Reading } from './reading.js';

export function MakeView() {
  const shown = matrix.value.value;
  const answer = choice.value.value?.answer ?? null;
  const isPictures = settings.value.pictures !== '';
  const chosen = useSignal(0);
  const { layout, seed, index, constraints } = settings.value;
  // Another matrix has other panels.
  useEffect(() => {
    chosen.value = 0;
  }, [layout, seed, index, constraints]);
  // The focus goes back to where it came from.
  const close = useCallback((): void => {
    document.querySelector<HTMLElement>(`[data-cell="${madeCell(chosen.peek())}"]`)?.focus();
    chosen.value = 0;
  }, []);
  const isEditing = shown?.described !== null && shown !== null && chosen.value > 0;
  const painted = new Map(answer?.missing.map((at, i) => [at, answer.images[i]]) ?? []);
  return (
    <div class="columns">
      <h1 class="unseen">Make a matrix</h1>
      <section class="stage" aria-label="The matrix">
        {matrix.value.fault !== null && (
          <p class="fault" role="alert">
            {matrix.value.fault}
          </p>
        )}
        {shown === null ? (
          <EmptyMatrix />
        ) : shown.described !== null ? (
          <EditableMatrix
            matrix={shown}
            answer={answer}
            busy={choice.value.pending}
            chosen={chosen.value}
            onChoose={(position) => (chosen.value = position)}
          />
        ) : (
          <ShownMatrix
            label="Your matrix, completed by CRAB"
            matrix={shown}
            missing={answer?.missing ?? (shown.blank.length > 0 ? shown.blank : [9])}
            painted={painted}
            busy={choice.value.pending}
          />
        )}
        {choice.value.fault !== null && (
          <p class="fault" role="alert">
            {choice.value.fault}
          </p>
        )}
        {shown !== null && shown.fault !== null && (
          <p class="fault" role="status" data-testid="broken">
            {shown.fault}
          </p>
        )}
        {shown?.described && <p class="hint">Choose a panel to change its figures.</p>}
        {shown !== null && <MadeCandidates matrix={shown} />}
        <ExportButtons />
      </section>
      <section class="side" aria-label="How it is made">
        {isEditing ? (
          <PanelEditor matrix={shown} position={chosen.value} onClose={close} />
        ) : (
          <>
            <h2>{isPictures ? 'Your pictures' : 'Your rules'}</h2>
            {!isPictures && <Builder />}
          </>
        )}
        <DropZone />
      </section>
      <Reading />
    </div>
  );
}
