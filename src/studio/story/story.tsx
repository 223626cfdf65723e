/** What this is, in one line, and where to start: the tour and a few examples. */
import { StateLink } from '../parts/state-link.js';
import { tourState } from '../tour/steps.js';
import { change, settings } from '../state/store.js';
import { readSettings } from '../state/settings.js';
import { EXAMPLES, exampleAt, linkOf, type Example } from './examples.js';

function ExampleLink({ example }: { readonly example: Example }) {
  const { backend } = settings.value;
  return (
    <StateLink to={{ ...readSettings(linkOf(example)), backend }} title={example.about}>
      {example.title}
    </StateLink>
  );
}

/** What there is to see in the example at hand; nothing if it is none. */
export function ExampleNote() {
  const { title, about } = exampleAt(settings.value) ?? {};
  if (title === undefined) return null;
  return (
    <p class="example-note" data-testid="example-note">
      <strong>{title}.</strong> {about}
    </p>
  );
}

export function Story() {
  return (
    <section class="story" aria-label="What this is">
      <p>
        A network that was never told what shape, size or colour is: it looks at the panels that are
        left and paints the missing one.
      </p>
      <nav class="starts" aria-label="Where to start">
        <button type="button" class="main" onClick={() => change(tourState(1), true)}>
          Take the tour
        </button>
        {EXAMPLES.map((example) => (
          <ExampleLink key={example.title} example={example} />
        ))}
      </nav>
    </section>
  );
}
