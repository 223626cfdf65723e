/** What CRAB makes of a matrix: the rules it read beside the true ones, and its choice. */
import { LEVELS } from '../../engine/words.js';
import type { ChoiceView, MatrixView } from '../../engine/protocol.js';
import { closenessWords } from '../../parts/certainty.js';
import { openWords } from '../../parts/mistakes.js';
import { misfit } from '../../parts/misfit-notice.js';
import { Drawing } from '../../parts/panel.js';
import { RuleTable } from '../../parts/rule-table.js';
import { choice, matrix, ready } from '../../state/store.js';

/** What to think of the choice of a candidate. */
function choiceWords(
  index: number,
  value: ChoiceView,
  { target, right, described }: MatrixView,
): string {
  if (misfit() !== null) return 'A guess: it does not know such pictures.';
  const close = closenessWords(index, value);
  if (target === null) {
    return described === null ? close : `${close} But this item has no one right answer.`;
  }
  return `${close} ${right.includes(index) ? 'It is right.' : `But the answer is ${target + 1}.`}`;
}

export function Reading() {
  const [info, value, shown] = [ready.value, choice.value.value, matrix.value.value];
  if (shown === null) return <div class="reading" />;
  const chosen = typeof value?.index === 'number' ? shown.candidates.at(value.index) : undefined;
  return (
    <section class="reading" aria-label="What CRAB makes of it" data-testid="reading">
      <h2>What CRAB makes of it</h2>
      {shown.levels.length > 0 && (
        <p class="hint" data-testid="levels">
          {LEVELS} {shown.levels.join('; ')}.
        </p>
      )}
      <RuleTable matrix={shown} info={info} answer={value?.answer ?? null} />
      {choice.value.fault !== null && <p class="fault">{choice.value.fault}</p>}
      {chosen !== undefined && typeof value?.index === 'number' && (
        <div class="choice-made">
          <figure class="compared">
            <Drawing panel={chosen} />
            <figcaption>chooses {value.index + 1}</figcaption>
          </figure>
          <p class="hint">
            {choiceWords(value.index, value, shown)} {openWords(shown)}
          </p>
        </div>
      )}
    </section>
  );
}
