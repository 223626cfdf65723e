/** The matrix as an item for paper: shown by the printer alone, in place of the page. */
import type { MatrixView } from '../engine/protocol.js';
import { engine, matrix, settings, spec } from '../state/store.js';
import { ShownMatrix } from './matrix-grid.js';
import { Drawing } from './panel.js';
import { useAsync } from './use-async.js';

const NOTHING: ReadonlyMap<number, Float32Array> = new Map();

/** Pictures of a person's own have no description that could be drawn anew. */
function PicturesToPrint({ shown }: { readonly shown: MatrixView }) {
  const missing = shown.blank.length > 0 ? shown.blank : [9];
  return (
    <div class="print-item">
      <ShownMatrix label="Your matrix" matrix={shown} missing={missing} painted={NOTHING} />
      <ol class="print-candidates">
        {shown.candidates.map((candidate, i) => (
          <li key={i}>
            <Drawing panel={candidate} />
            {i + 1}
          </li>
        ))}
      </ol>
    </div>
  );
}

export function PrintItem() {
  const wanted = spec.value;
  const shown = matrix.value.value;
  const isPictures = settings.value.pictures !== '';
  const made = useAsync(
    isPictures ? null : () => engine.export(wanted, 'svg'),
    JSON.stringify(wanted),
  );
  if (isPictures) return shown === null ? null : <PicturesToPrint shown={shown} />;
  if (made.value === null) return null;
  const svg = new TextDecoder().decode(made.value.bytes);
  return (
    <img
      class="print-item"
      src={`data:image/svg+xml,${encodeURIComponent(svg)}`}
      alt="The matrix and its candidates"
    />
  );
}
