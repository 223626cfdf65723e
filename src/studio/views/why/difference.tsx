/** What differs in one cell of the heat map: the imagined panel with one concept of the candidate. */
import type { ComponentChildren } from 'preact';
import { Drawing, Pixels } from '../../parts/panel.js';
import { useAsync } from '../../parts/use-async.js';
import { choice, engine, matrix, ready, spec } from '../../state/store.js';
import type { Place } from './heat-numbers.js';

export function Difference({
  place,
  children,
}: {
  readonly place: Place | null;
  /** Its numbers. */
  readonly children: ComponentChildren;
}) {
  const [shown, info] = [matrix.value.value, ready.value];
  const wanted = spec.value;
  const key = place === null ? '' : JSON.stringify([wanted, place, info?.name]);
  const swapped = useAsync(
    place === null ? null : () => engine.swap(wanted, place.concept, place.candidate),
    key,
  );
  const imagined = choice.value.value?.answer.images.at(-1);
  const candidate = place === null ? undefined : shown?.candidates.at(place.candidate);
  if (place === null || info === null || imagined === undefined || candidate === undefined) {
    return (
      <div class="difference">
        <p class="hint">
          Point at a cell, touch it, or go from one to the next with the arrow keys, to see what
          differs.
        </p>
      </div>
    );
  }
  const name = info.concepts[place.concept - 1];
  return (
    <div class="difference" data-testid="difference">
      <figure class="compared">
        <Pixels values={imagined} label="the panel as CRAB imagines it" />
        <figcaption>imagined</figcaption>
      </figure>
      <figure class="compared">
        <Pixels
          values={swapped.value ?? imagined}
          label={`the same with ${name} of candidate ${place.candidate + 1}`}
        />
        <figcaption>
          with its <em>{name.toLowerCase()}</em>
        </figcaption>
      </figure>
      <figure class="compared">
        <Drawing panel={candidate} />
        <figcaption>candidate {place.candidate + 1}</figcaption>
      </figure>
      <p class="hint">
        {candidate.difference} {children}
      </p>
    </div>
  );
}
