/** What the model in training imagines for the last panel of fixed matrices. */
import { useMemo } from 'preact/hooks';
import { Pixels } from '../../parts/panel.js';
import { panels } from './connection.js';

const PIXELS = 64 * 64;

function decode(text: string): Float32Array[] {
  const binary = atob(text);
  return Array.from({ length: Math.floor(binary.length / PIXELS) }, (_, n) =>
    Float32Array.from({ length: PIXELS }, (_, i) => binary.charCodeAt(n * PIXELS + i) / 255),
  );
}

export function ImaginedPanels() {
  const update = panels.value;
  const matrices = useMemo(
    () =>
      update?.matrices.map(({ panels: nine, imagined }) => ({
        context: decode(nine),
        imagined: decode(imagined).at(0),
      })) ?? [],
    [update],
  );
  return (
    <section class="imagined-panels" aria-label="Imagined panels">
      <h2>What it imagines{update !== null && ` at step ${update.step.toLocaleString('en')}`}</h2>
      {matrices.length === 0 && <p class="hint">They come with its first check.</p>}
      <div class="live-matrices">
        {matrices.map(({ context, imagined }, n) => (
          <div key={n} class="matrix small">
            {context.map((values, i) => (
              <div key={i} class={`cell${i === 8 ? ' imagined' : ''}`}>
                <Pixels
                  values={i === 8 && imagined !== undefined ? imagined : values}
                  label={i === 8 ? 'imagined last panel' : `panel ${i + 1}`}
                />
              </div>
            ))}
          </div>
        ))}
      </div>
    </section>
  );
}
