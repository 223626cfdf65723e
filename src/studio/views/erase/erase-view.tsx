/** Erase anything: click panels away, one to eight; they are wiped, and CRAB paints them in. */
import { useSignal } from '@preact/signals';
import { Blank, Drawing, Pixels } from '../../parts/panel.js';
import { EmptyMatrix, MatrixGrid, POSITIONS } from '../../parts/matrix-grid.js';
import {
  change,
  erased,
  matrix,
  painted,
  ready,
  settings,
  shownAnswer,
} from '../../state/store.js';
import type { PanelView } from '../../engine/protocol.js';
import { useHold } from './hold.js';
import { Sureness } from './sureness.js';

const PRESETS: readonly (readonly [name: string, missing: readonly number[]])[] = [
  ['The last', [9]],
  ['A row', [4, 5, 6]],
  ['A diagonal', [1, 5, 9]],
  ['The rim', [1, 2, 3, 4, 6, 7, 8, 9]],
];

function toggle(position: number): void {
  const before = erased.peek();
  const next = before.includes(position)
    ? before.filter((each) => each !== position)
    : [...before, position].sort((a, b) => a - b);
  if (next.length < 9) change({ missing: next, another: 0 });
}

/** What is painted at a position; undefined as long as it is not. */
function paintedAt(position: number): Float32Array | undefined {
  const answer = shownAnswer.value ?? painted.value.value;
  const at = answer?.missing.indexOf(position) ?? -1;
  return at < 0 ? undefined : answer?.images[at];
}

function Cell({
  position,
  known,
  showTruth,
}: {
  readonly position: number;
  readonly known: PanelView | null;
  readonly showTruth: boolean;
}) {
  const isErased = erased.value.includes(position);
  const isHeld = useSignal(false);
  const held = useHold(
    (value) => (isHeld.value = value),
    () => toggle(position),
  );
  const values = isErased ? paintedAt(position) : undefined;
  const isBlank = known === null;
  const isTrue = !isErased || showTruth || isHeld.value;
  const state = isErased ? ` imagined${isTrue && !isBlank ? ' truth' : ''}` : '';
  const said = isErased ? ', erased' : '';
  return (
    <button
      type="button"
      class={`cell erasable${state}`}
      aria-pressed={isErased}
      aria-label={`Panel ${position}${said}${isBlank || !isTrue ? '' : `: ${known.alt}`}`}
      data-position={position}
      disabled={isBlank}
      {...held}
    >
      {isErased &&
        (values === undefined ? (
          <Blank label={`panel ${position} is erased`} busy={ready.value !== null} />
        ) : (
          <Pixels values={values} label={`panel ${position} as CRAB imagines it`} />
        ))}
      {known !== null && (
        <span class={isErased ? 'under' : ''} aria-hidden={!isTrue}>
          <Drawing panel={known} />
        </span>
      )}
    </button>
  );
}

export function EraseView() {
  const { truth } = settings.value;
  const shown = matrix.value.value;
  const count = erased.value.length;
  return (
    <div class="columns">
      <h1 class="unseen">Erase anything</h1>
      <section class="stage" aria-label="The matrix">
        {shown === null ? (
          <EmptyMatrix />
        ) : (
          <MatrixGrid label="Matrix; choose a panel to erase it">
            {POSITIONS.map((position) => (
              <Cell
                key={position}
                position={position}
                known={shown.panels[position - 1]}
                showTruth={truth}
              />
            ))}
          </MatrixGrid>
        )}
        {painted.value.fault !== null && (
          <p class="fault" role="alert">
            {painted.value.fault}
          </p>
        )}
      </section>
      <section class="side" aria-label="What CRAB paints">
        <h2>Click panels to erase them</h2>
        <p class="hint">
          CRAB reads the rules from what is left, one panel at the least, and paints the rest. Press
          and hold a painted panel to see what was there; click it to put it back.
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
          <label class="toggle">
            <input type="checkbox" checked={truth} onChange={() => change({ truth: !truth })} />
            <span>Show the truth</span>
          </label>
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
