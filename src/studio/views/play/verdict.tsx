/** What you chose, what CRAB imagined, and what is right, side by side, with the rules in words. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { AnotherAnswer } from '../../parts/another-answer.js';
import { certaintyWithNumber, panelCertainty } from '../../parts/certainty.js';
import { Blank, Drawing, Pixels } from '../../parts/panel.js';
import { RuleTable } from '../../parts/rule-table.js';
import { choice, matrix, ready, settings, shownAnswer } from '../../state/store.js';

function Shown({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}) {
  return (
    <figure class="compared">
      {children}
      <figcaption>{label}</figcaption>
    </figure>
  );
}

function summary(picked: number, target: number | null, models: number | null): string {
  if (target === null) return 'CRAB imagined the missing panel.';
  const you = picked === 0 ? null : picked - 1 === target;
  const crab = models === null ? null : models === target;
  if (you === true && crab === true) return 'You are both right.';
  if (you === true && crab === false) return 'You are right, CRAB is not.';
  if (you === false && crab === true) return 'CRAB is right this time.';
  if (you === false && crab === false) return 'Neither of you is right.';
  if (you !== null) return you ? 'You are right.' : 'Not this one.';
  return crab === true ? 'CRAB is right.' : crab === false ? 'CRAB is wrong here.' : '';
}

/** Beside the matrix the verdict is noticed by its headline; below it, in one column, all of it is wanted. */
const HEADLINE_PIXELS = 48;
const ONE_COLUMN = '(max-width: 720px)';

/**
 * On a phone the verdict lies below what fits on the screen: it is brought into sight, and the next matrix
 * is back where the page was. Where its headline is in sight nothing moves.
 */
function useSight(isShown: boolean) {
  const place = useRef<HTMLDivElement>(null);
  const wasShown = useRef(isShown);
  const cameFrom = useRef<number | null>(null);
  useEffect(() => {
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const behavior = isCalm ? 'auto' : 'smooth';
    const box = place.current?.getBoundingClientRect();
    if (isShown && !wasShown.current && box !== undefined) {
      const wanted = matchMedia(ONE_COLUMN).matches ? box.height : HEADLINE_PIXELS;
      const isInSight = box.top >= 0 && box.top + wanted <= innerHeight;
      cameFrom.current = isInSight ? null : scrollY;
      if (!isInSight) place.current?.scrollIntoView({ block: 'nearest', behavior });
    }
    if (!isShown && wasShown.current && cameFrom.current !== null) {
      scrollTo({ top: cameFrom.current, behavior });
      cameFrom.current = null;
    }
    wasShown.current = isShown;
  }, [isShown]);
  return place;
}

export function Verdict() {
  const { revealed, picked } = settings.value;
  const shown = matrix.value.value;
  const place = useSight(revealed && shown !== null);
  if (!revealed || shown === null) {
    return (
      <div class="verdict waiting">
        <p class="hint">
          Look along the rows: shape, size, colour and number each follow a rule of their own. Then
          see what CRAB paints into the empty place without ever looking at the candidates.
        </p>
      </div>
    );
  }
  const { value, fault } = choice.value;
  const target = shown.target;
  const image = (shownAnswer.value ?? value?.answer)?.images.at(-1);
  const sureness = value?.answer.sureness?.at(-1) ?? null;
  const chosen = picked > 0 ? shown.candidates.at(picked - 1) : undefined;
  return (
    <div class="verdict" data-testid="verdict" ref={place}>
      <p class="headline" role="status">
        {summary(picked, target, value?.index ?? null)}
      </p>
      <div class="comparison">
        {chosen !== undefined && (
          <Shown label="You chose">
            <Drawing panel={chosen} />
          </Shown>
        )}
        <Shown label="CRAB imagined">
          {image === undefined ? (
            <Blank label="not imagined yet" busy={ready.value !== null || fault === null} />
          ) : (
            <Pixels values={image} label="the missing panel as CRAB imagines it" />
          )}
        </Shown>
        {target !== null && (
          <Shown label="The answer">
            <Drawing panel={shown.candidates[target]} />
          </Shown>
        )}
      </div>
      {value !== null && value.index !== null && (
        <p class="hint">
          CRAB painted the panel first, without looking at the candidates, and then chose the one
          closest to it: number {value.index + 1}, in {Math.round(value.answer.milliseconds)} ms.
          Its choice: {certaintyWithNumber(value.confidence)}.
          {sureness !== null && ` Its panel: ${panelCertainty(sureness)}.`}
        </p>
      )}
      {sureness !== null && <AnotherAnswer />}
      {value !== null && shown.rules.some(({ attribute }) => attribute === 'Number') && (
        <p class="hint">
          The rule here says how many, not where: several panels are right. “Another answer” shows
          them.
        </p>
      )}
      {fault !== null && <p class="fault">{fault}</p>}
      {shown.rules.length > 0 && (
        <details>
          <summary>The rules of this matrix</summary>
          <RuleTable matrix={shown} info={ready.value} answer={value?.answer ?? null} />
        </details>
      )}
    </div>
  );
}
