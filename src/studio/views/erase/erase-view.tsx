/** Erase anything: click panels away, one to eight; they are wiped, and CRAB paints them in. */
import { ErasableMatrix, TruthSwitch } from '../../parts/erasable-matrix.js';
import { EmptyMatrix } from '../../parts/matrix-grid.js';
import { change, erased, matrix, painted, ready, shownAnswer } from '../../state/store.js';
import { Sureness } from './sureness.js';

const PRESETS: readonly (readonly [name: string, missing: readonly number[]])[] = [
  ['The last', [9]],
  ['A row', [4, 5, 6]],
  ['A diagonal', [1, 5, 9]],
  ['The rim', [1, 2, 3, 4, 6, 7, 8, 9]],
];

/** What is painted at a position; undefined as long as it is not. */
function paintedAt(position: number): Float32Array | undefined {
  const answer = shownAnswer.value ?? painted.value.value;
  const at = answer?.missing.indexOf(position) ?? -1;
  return at < 0 ? undefined : answer?.images[at];
}

export function EraseView() {
  const shown = matrix.value.value;
  const count = erased.value.length;
  return (
    <div class="columns">
      <h1 class="unseen">Erase anything</h1>
      <section class="stage" aria-label="The matrix">
        {shown === null ? (
          <EmptyMatrix />
        ) : (
          <ErasableMatrix
            label="Matrix; choose a panel to erase it"
            painter="CRAB"
            matrix={shown}
            paintedAt={paintedAt}
            isBusy={ready.value !== null}
          />
        )}
        {painted.value.fault !== null && (
          <p class="fault" role="alert">
            {painted.value.fault}
          </p>
        )}
      </section>
      <section class="side" aria-label="What CRAB paints">
        <h2>Choose panels to erase</h2>
        <p class="hint">
          CRAB reads the rules from what is left, one panel at the least, and paints the rest. Press
          and hold a painted panel to see what was there; choose it again to put it back.
        </p>
        <div class="actions">
          {PRESETS.map(([name, missing]) => (
            <button
              key={name}
              type="button"
              aria-pressed={missing.join('') === erased.value.join('')}
              onClick={() => change({ missing, another: 0 })}
            >
              {name}
            </button>
          ))}
          <TruthSwitch />
        </div>
        <p class="hint" role="status">
          {count === 0
            ? 'Nothing is erased yet.'
            : `${count} of 9 erased${count === 8 ? '; one panel has to stay' : ''}.`}
        </p>
        <Sureness />
      </section>
    </div>
  );
}
