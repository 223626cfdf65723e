/** Says so when pictures are not of the kind the model knows, instead of letting it answer with certainty. */
import { findLayout, paperName } from '../../matrix/index.js';
import type { FitView } from '../engine/protocol.js';
import { choice, settings } from '../state/store.js';
import { MatrixGrid } from './matrix-grid.js';
import { Blank, Pixels } from './panel.js';

/** How well the model knows the pictures looked at, where it does not; null where all is well. */
export function misfit(): FitView | null {
  const fit = choice.value.value?.fit ?? null;
  return fit !== null && fit.unknown.length > 0 ? fit : null;
}

export function MisfitNotice() {
  const fit = misfit();
  if (fit === null) return null;
  const given = fit.redrawn.filter((panel) => panel !== null).length;
  const { configuration } = findLayout(settings.value.layout);
  return (
    <section class="notice misfit" role="alert" data-testid="misfit">
      <div>
        <p class="headline">This model does not know such pictures.</p>
        <p>
          It was trained on matrices of the kind {paperName(configuration)} alone. Here is what it
          takes your panels for: {fit.unknown.length} of {given} are empty or come out as something
          else, so whatever it answers is a guess. Another configuration above may fit better.
        </p>
      </div>
      <MatrixGrid label="Your panels as the model sees them" small>
        {fit.redrawn.map((panel, i) => (
          <div key={i} class={`cell${fit.unknown.includes(i + 1) ? ' unlike' : ''}`}>
            {panel === null ? (
              <Blank label={`panel ${i + 1} is missing`} />
            ) : (
              <Pixels values={panel} label={`panel ${i + 1} as the model sees it`} />
            )}
          </div>
        ))}
      </MatrixGrid>
    </section>
  );
}
