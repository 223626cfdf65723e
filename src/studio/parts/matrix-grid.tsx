/** Nine cells, three by three; arrow keys go from one to the next if they can be focused. */
import type { ComponentChildren } from 'preact';
import type { MatrixView } from '../engine/protocol.js';
import { moveInTable } from './move-in-table.js';
import { Blank, Drawing, Pixels } from './panel.js';

export const POSITIONS = [1, 2, 3, 4, 5, 6, 7, 8, 9] as const;

export function MatrixGrid({
  label,
  small = false,
  children,
}: {
  readonly label: string;
  readonly small?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <div
      class={`matrix${small ? ' small' : ''}`}
      role="group"
      aria-label={label}
      onKeyDown={moveInTable}
    >
      {children}
    </div>
  );
}

/** Panels that a model painted, by position. */
export type PaintedPanels = ReadonlyMap<number, Float32Array>;

/** A matrix to look at, with painted panels in the place of missing ones. */
export function ShownMatrix({
  matrix,
  missing,
  painted,
  busy = false,
  small = false,
  label,
}: {
  readonly matrix: MatrixView;
  readonly missing: readonly number[];
  readonly painted: PaintedPanels;
  readonly busy?: boolean;
  readonly small?: boolean;
  readonly label: string;
}) {
  return (
    <MatrixGrid label={label} small={small}>
      {POSITIONS.map((position) => {
        const known = matrix.panels[position - 1];
        const values = painted.get(position);
        const isMissing = missing.includes(position) || known === null;
        const kind = !isMissing ? '' : values === undefined ? ' open' : ' imagined';
        return (
          <div class={`cell${kind}`} key={position} data-position={position}>
            {!isMissing && known !== null ? (
              <Drawing panel={known} />
            ) : values === undefined ? (
              <Blank label={`panel ${position} is missing`} busy={busy} />
            ) : (
              <Pixels values={values} label={`panel ${position} as CRAB imagines it`} />
            )}
          </div>
        );
      })}
    </MatrixGrid>
  );
}

/** The grid before anything is known of it: keeps its place. */
export function EmptyMatrix({ small }: { readonly small?: boolean }) {
  return (
    <MatrixGrid label="The matrix is being made" small={small}>
      {POSITIONS.map((position) => (
        <div class="cell" key={position}>
          <div class="panel blank busy" />
        </div>
      ))}
    </MatrixGrid>
  );
}
