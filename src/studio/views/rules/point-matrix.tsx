/** The matrix of the chosen point, drawn again from where it came: configuration, seed and number. */
import { ShownMatrix } from '../../parts/matrix-grid.js';
import { TrueRules } from '../../parts/rule-table.js';
import { useAsync } from '../../parts/use-async.js';
import { change, changeMatrix, engine, ready, settings } from '../../state/store.js';
import type { PointView } from '../../engine/protocol.js';

const NOTHING: ReadonlyMap<number, Float32Array> = new Map();

function open({ spec }: PointView): void {
  const { layout, seed, index, variant, difficulty } = spec;
  changeMatrix({ layout, seed, index, variant, difficulty });
}

export function PointMatrix() {
  const { point } = settings.value;
  const info = ready.value;
  const found = useAsync(
    info === null || point < 0 ? null : () => engine.point(point),
    `${info?.name ?? ''} ${point}`,
  );
  if (point < 0) {
    return (
      <div class="actions">
        <p class="hint">No point is chosen.</p>
        <button
          type="button"
          class="quiet"
          disabled={info === null || info.points === 0}
          onClick={() => change({ point: 0 })}
        >
          Show the first
        </button>
      </div>
    );
  }
  return (
    <section class="point" aria-label="The chosen point" data-testid="point">
      <div class="score-head">
        <h2>Point {point + 1}</h2>
        <button
          type="button"
          class="quiet"
          disabled={point === 0}
          onClick={() => change({ point: point - 1 })}
        >
          Previous
        </button>
        <button
          type="button"
          class="quiet"
          disabled={info === null || point + 1 >= info.points}
          onClick={() => change({ point: point + 1 })}
        >
          Next
        </button>
      </div>
      {found.fault !== null && <p class="fault">{found.fault}</p>}
      {found.value !== null && (
        <>
          <ShownMatrix
            label="The matrix of the chosen point"
            small
            matrix={found.value.matrix}
            missing={[]}
            painted={NOTHING}
          />
          <TrueRules rules={found.value.matrix.rules} />
          <button type="button" onClick={() => found.value !== null && open(found.value)}>
            Look at this matrix
          </button>
        </>
      )}
    </section>
  );
}
