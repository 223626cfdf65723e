/** Make: build a matrix from rules and values, or bring pictures, and see what CRAB makes of it. */
import { findLayout } from '../../../matrix/index.js';
import { EmptyMatrix, ShownMatrix } from '../../parts/matrix-grid.js';
import { choice, matrix, settings } from '../../state/store.js';
import { Builder } from './builder.js';
import { DropZone } from './drop-zone.js';
import { ExportButtons } from './export-buttons.js';
import { Reading } from './reading.js';

export function MakeView() {
  const shown = matrix.value.value;
  const answer = choice.value.value?.answer ?? null;
  const isPictures = settings.value.pictures !== '';
  const painted = new Map(answer?.missing.map((at, i) => [at, answer.images[i]]) ?? []);
  // Two components have a long form: the reading then goes below the matrix.
  const isShort = isPictures || findLayout(settings.value.layout).components.length === 1;
  return (
    <div class={`columns${isShort ? ' short-form' : ''}`}>
      <h1 class="unseen">Make a matrix</h1>
      <section class="stage" aria-label="The matrix">
        {matrix.value.fault !== null && (
          <p class="fault" role="alert">
            {matrix.value.fault}
          </p>
        )}
        {shown === null ? (
          <EmptyMatrix />
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
        <ExportButtons />
      </section>
      <section class="side" aria-label="How it is made">
        <h2>{isPictures ? 'Your pictures' : 'Your rules'}</h2>
        {!isPictures && <Builder />}
        <DropZone />
      </section>
      <Reading />
    </div>
  );
}
