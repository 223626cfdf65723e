/** What a model paints for the last panel of fixed matrices, in training now or at a recorded moment. */
import { useMemo } from 'preact/hooks';
import { drawnFrom, type MatrixSource } from '../../engine/protocol.js';
import { EmptyMatrix, ShownMatrix } from '../../parts/matrix-grid.js';
import { Drawing, Pixels } from '../../parts/panel.js';
import { useAsync } from '../../parts/use-async.js';
import { engine } from '../../state/store.js';
import { panels } from './connection.js';

const LAST = 9;
const NOTHING: ReadonlyMap<number, Float32Array> = new Map();

interface ImaginedMatrixProps {
  readonly source: MatrixSource;
  readonly index: number;
  readonly painted: Float32Array;
}

function ImaginedMatrix({ source, index, painted }: ImaginedMatrixProps) {
  const key = `${source.layout} ${source.seed} ${index}`;
  const { value, fault } = useAsync(() => engine.matrix(drawnFrom(source, index)), key);
  const truth = value?.panels[LAST - 1] ?? null;
  return (
    <div class="imagined-matrix">
      {value === null ? (
        (fault ?? <EmptyMatrix small />)
      ) : (
        <ShownMatrix
          label={`Matrix ${index + 1}`}
          small
          matrix={value}
          missing={[LAST]}
          painted={NOTHING}
        />
      )}
      <figure class="compared">
        <Pixels values={painted} label={`what it painted in matrix ${index + 1}`} />
        <figcaption>painted</figcaption>
      </figure>
      <figure class="compared">
        {truth !== null && <Drawing panel={truth} />}
        <figcaption>true</figcaption>
      </figure>
    </div>
  );
}

/** The first matrices of a source, each with the last panel as it was painted, beside the true one. */
export function ImaginedMatrices({
  source,
  painted,
}: {
  readonly source: MatrixSource;
  readonly painted: readonly Float32Array[];
}) {
  return (
    <div class="live-matrices">
      {painted.map((values, n) => (
        <ImaginedMatrix key={n} source={source} index={n} painted={values} />
      ))}
    </div>
  );
}

const decode = (text: string): Float32Array =>
  Float32Array.from(atob(text), (byte) => byte.charCodeAt(0) / 255);

/** Those of the run that is being trained. */
export function ImaginedPanels() {
  const update = panels.value;
  const painted = useMemo(() => update?.imagined.map(decode) ?? [], [update]);
  return (
    <section class="imagined-panels" aria-label="Imagined panels">
      <h2>What it imagines{update !== null && ` at step ${update.step.toLocaleString('en')}`}</h2>
      {update === null ? (
        <p class="hint">They come with its first check.</p>
      ) : (
        <ImaginedMatrices source={update.source} painted={painted} />
      )}
    </section>
  );
}
