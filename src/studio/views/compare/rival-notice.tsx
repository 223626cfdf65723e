/** How far the Transformer's download is, or that there is none, and for which configurations there is one. */
import { titleOfLayout } from '../../engine/words.js';
import { ofLayout } from '../../parts/configuration-bar.js';
import { StateLink } from '../../parts/state-link.js';
import { reloadRival, rival } from '../../state/compare.js';
import { settings } from '../../state/store.js';
import { transformerFor, transformerLayouts } from '../../state/zoo.js';

/** ", ", and " and " before the last. */
const separator = (i: number, count: number): string =>
  i === 0 ? '' : i === count - 1 ? ' and ' : ', ';

function Absent() {
  const others = transformerLayouts();
  return (
    <p class="notice" data-testid="no-rival">
      <span>
        There is no Transformer for {titleOfLayout(settings.value.layout)} here
        {others.length > 0 && '; there is one for '}
        {others.map((layout, i) => (
          <span key={layout}>
            {separator(i, others.length)}
            <StateLink to={ofLayout(layout)}>{titleOfLayout(layout)}</StateLink>
          </span>
        ))}
        .
      </span>
    </p>
  );
}

export function RivalNotice() {
  const state = rival.value;
  const isHere = transformerFor(settings.value.layout) !== null;
  if (!isHere) return <Absent />;
  switch (state.phase) {
    case 'loading':
      return (
        <progress class="load" max={1} value={state.share} aria-label="Loading the Transformer" />
      );
    case 'failed':
      return (
        <div class="notice" role="alert">
          <p>The Transformer cannot answer: {state.fault}.</p>
          <button type="button" class="quiet" onClick={reloadRival}>
            Try again
          </button>
        </div>
      );
    case 'absent':
    case 'ready':
      return null;
  }
}
