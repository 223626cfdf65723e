/** Goes from one sharp answer to the next different one, if a rule leaves something open. */
import { change, shownAnswer } from '../state/store.js';
import { percent } from './certainty.js';
import { misfit } from './misfit-notice.js';

/** A painted panel may be a mix that is like no value known: then its probability is zero. */
const likelihood = (probability: number): string =>
  probability === 0 ? ', a mix of what is likely' : ` that fit, ${percent(probability)} likely`;

export function AnotherAnswer() {
  const shown = shownAnswer.value;
  // Takes its place from the start, so that nothing moves when the answers are there.
  if (shown === null) return <div class="another" aria-busy="true" />;
  const { index, count, probability, isAll } = shown;
  if (count === 1) {
    return (
      <p class="another hint" role="status">
        No other answer is nearly as likely.
      </p>
    );
  }
  return (
    <div class="another" data-testid="another">
      <button type="button" onClick={() => change({ another: (index + 1) % count })}>
        Another answer
      </button>
      <p class="hint" role="status">
        Answer {index + 1} of {isAll ? count : 'many'}
        {misfit() === null && likelihood(probability)}
      </p>
    </div>
  );
}
