/** How sure CRAB is of each painted panel, and all its answers at once: a blur where they differ. */
import { panelCertainty } from '../../parts/certainty.js';
import { AnotherAnswer } from '../../parts/another-answer.js';
import { Pixels } from '../../parts/panel.js';
import { painted, shownAnswer } from '../../state/store.js';

function Mean({ position }: { readonly position: number }) {
  const shown = shownAnswer.value;
  const values = shown?.mean[shown.missing.indexOf(position)];
  return values === undefined ? (
    <span class="panel blank busy" />
  ) : (
    <Pixels values={values} label={`panel ${position}: all answers at once`} />
  );
}

export function Sureness() {
  const answer = painted.value.value;
  if (answer !== null && answer.sureness === null) {
    return (
      <p class="hint">
        This model has no vocabulary: it paints the mean of all panels it finds possible.
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
            <Mean position={position} />
            <span>
              <strong>{position}</strong> {panelCertainty(answer.sureness?.[i] ?? [])}
            </span>
          </li>
        ))}
      </ul>
      <p class="hint">
        Each picture is the mean of all answers it finds possible: sharp if there is one, a blur
        where they differ.
      </p>
    </section>
  );
}
