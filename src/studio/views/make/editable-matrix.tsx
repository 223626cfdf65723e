/** The matrix as buttons: a click chooses a panel to change. */
import type { AnswerView, MatrixView } from '../../engine/protocol.js';
import { MatrixGrid, POSITIONS } from '../../parts/matrix-grid.js';
import { Blank, Drawing, Pixels } from '../../parts/panel.js';

/** What the cell of a position is found by. */
export const madeCell = (position: number): string => `made ${position}`;

interface EditableMatrixProps {
  readonly matrix: MatrixView;
  /** What CRAB painted; null before. */
  readonly answer: AnswerView | null;
  readonly busy: boolean;
  /** 1..9; 0 for none. */
  readonly chosen: number;
  readonly onChoose: (position: number) => void;
}

export function EditableMatrix({ matrix, answer, busy, chosen, onChoose }: EditableMatrixProps) {
  const painted = answer?.images.at(-1);
  return (
    <MatrixGrid label="Your matrix, completed by CRAB">
      {POSITIONS.map((position) => {
        const known = matrix.panels[position - 1];
        const isLast = position === POSITIONS.length;
        const kind = !isLast ? '' : painted === undefined ? ' open' : ' imagined';
        return (
          <button
            key={position}
            type="button"
            class={`cell${kind}`}
            data-position={position}
            data-cell={madeCell(position)}
            aria-pressed={chosen === position}
            title={isLast ? 'Change the answer' : `Change panel ${position}`}
            onClick={() => onChoose(chosen === position ? 0 : position)}
          >
            {!isLast && known !== null ? (
              <Drawing panel={known} />
            ) : painted === undefined ? (
              <Blank label="panel 9 is missing" busy={busy} />
            ) : (
              <Pixels values={painted} label="panel 9 as CRAB imagines it" />
            )}
          </button>
        );
      })}
    </MatrixGrid>
  );
}
