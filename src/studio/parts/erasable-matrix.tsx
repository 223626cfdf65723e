/** A matrix whose panels are erased by a click: they are wiped, and what a model paints comes in their place. */
import { useSignal } from '@preact/signals';
import type { MatrixView, PanelView } from '../engine/protocol.js';
import { change, erased, settings } from '../state/store.js';
import { useHold } from './hold.js';
import { MatrixGrid, POSITIONS } from './matrix-grid.js';
import { Blank, Drawing, Pixels } from './panel.js';

/** Erases a panel or puts it back; one has to stay. */
function toggle(position: number): void {
  const before = erased.peek();
  const next = before.includes(position)
    ? before.filter((each) => each !== position)
    : [...before, position].sort((a, b) => a - b);
  if (next.length < 9) change({ missing: next, another: 0 });
}

interface Painting {
  /** Who paints: `CRAB`. */
  readonly painter: string;
  /** Whether what is not painted yet is on its way. */
  readonly isBusy: boolean;
}

interface CellProps extends Painting {
  readonly position: number;
  readonly known: PanelView | null;
  /** Undefined as long as it is not painted. */
  readonly values: Float32Array | undefined;
}

function Cell({ position, known, values, painter, isBusy }: CellProps) {
  const isErased = erased.value.includes(position);
  const isHeld = useSignal(false);
  const held = useHold(
    (value) => (isHeld.value = value),
    () => toggle(position),
  );
  const isBlank = known === null;
  const isTrue = !isErased || settings.value.truth || isHeld.value;
  const state = isErased ? ` imagined${isTrue && !isBlank ? ' truth' : ''}` : '';
  const said = isErased ? ', erased' : '';
  return (
    <button
      type="button"
      class={`cell erasable${state}`}
      aria-pressed={isErased}
      aria-label={`Panel ${position}${said}${isBlank || !isTrue ? '' : `: ${known.alt}`}`}
      data-position={position}
      data-cell={`${painter} ${position}`}
      disabled={isBlank}
      {...held}
    >
      {isErased &&
        (values === undefined ? (
          <Blank label={`panel ${position} is erased`} busy={isBusy} />
        ) : (
          <Pixels values={values} label={`panel ${position} as ${painter} imagines it`} />
        ))}
      {known !== null && (
        <span class={isErased ? 'under' : ''} aria-hidden={!isTrue}>
          <Drawing panel={known} />
        </span>
      )}
    </button>
  );
}

interface ErasableMatrixProps extends Painting {
  readonly label: string;
  readonly matrix: MatrixView;
  readonly paintedAt: (position: number) => Float32Array | undefined;
}

export function ErasableMatrix({ label, matrix, paintedAt, ...painting }: ErasableMatrixProps) {
  return (
    <MatrixGrid label={label}>
      {POSITIONS.map((position) => (
        <Cell
          key={position}
          position={position}
          known={matrix.panels[position - 1]}
          values={erased.value.includes(position) ? paintedAt(position) : undefined}
          {...painting}
        />
      ))}
    </MatrixGrid>
  );
}

/** Shows what was there in place of painted panels. */
export function TruthSwitch() {
  const { truth } = settings.value;
  return (
    <label class="toggle">
      <input type="checkbox" checked={truth} onChange={() => change({ truth: !truth })} />
      <span>Show the true panels</span>
    </label>
  );
}
