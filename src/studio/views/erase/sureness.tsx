/** How sure CRAB is of each painted panel, and its answers laid over one another: faint where they differ. */
import { panelCertainty } from '../../parts/certainty.js';
import { AnotherAnswer } from '../../parts/another-answer.js';
import { Pixels } from '../../parts/panel.js';
import { painted, shownAnswer } from '../../state/store.js';

function Overlaid({ position }: { readonly position: number }) {
  const shown = shownAnswer.value;
  const values = shown?.overlaid[shown.missing.indexOf(position)];
  return values === undefined ? (
    <span class="panel blank busy" />
  ) : (
    <Pixels values={values} label={`panel ${position}: its answers laid over one another`} />
  );
}

export function Sureness() {
  const answer = painted.value.value;
  if (answer !== null && answer.sureness === null) {
    return (
      <p class="hint">
        This model has no vocabulary: it paints one panel, the mean of all that it finds possible.
      </p>
    );
  }
  return (
    <section class="sureness" aria-label="How sure CRAB is">
      <h2>How sure it is</h2>
      <AnotherAnswer />
      <ul class="sureness-list">
        {answer?.missing.map((position, i) => (
          <li key={position} data-position={position}>
            <Overlaid position={position} />
            <span>
              <strong>{position}</strong> {panelCertainty(answer.sureness?.[i] ?? [])}
            </span>
          </li>
        ))}
      </ul>
      <p class="hint">
        Each small picture lays the likeliest answers for its panel over one another: strong where
        they agree, faint where they do not.
      </p>
    </section>
  );
}
