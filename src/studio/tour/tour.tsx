/**
 * The tour's card: what to do at this step, and the way on, back or out. It stands over the page without
 * covering what it speaks of; Escape skips it.
 */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ModelInfo } from '../engine/protocol.js';
import { TOUR_STEPS } from '../state/settings.js';
import { change, concept, planeOf, ready, ruled, settings } from '../state/store.js';
import { otherRule, TEXTS, tourState } from './steps.js';

const BEND_STEPS = 12;
const BEND_MILLISECONDS = 110;

const isCalm = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;
const pause = (milliseconds: number): Promise<void> =>
  new Promise((done) => setTimeout(done, milliseconds));

const goTo = (step: number): void => change(tourState(step), true);
const leave = (): void => change({ tour: 0 });

/** Moves the rule of the concept at hand to another one, on a straight way; at once if motion is unwanted. */
async function bend(info: ModelInfo, number: number): Promise<void> {
  const rule = ruled.peek().value?.rules[number - 1];
  const target = rule && otherRule(await planeOf(info, number), rule);
  if (rule === undefined || !target) return;
  const [x, y] = rule.vector;
  for (let i = isCalm() ? BEND_STEPS : 1; i <= BEND_STEPS; i++) {
    const share = i / BEND_STEPS;
    const imposed = {
      concept: number,
      x: x + share * (target[0] - x),
      y: y + share * (target[1] - y),
    };
    // Who went on meanwhile wants nothing moved.
    if (settings.peek().tour !== TOUR_STEPS) return;
    change({ imposed });
    await pause(BEND_MILLISECONDS);
  }
}

function BendButton() {
  const isBending = useSignal(false);
  const info = ready.value;
  const isReady = info !== null && ruled.value.value !== null && info.moments.length > 0;
  return (
    <button
      type="button"
      disabled={!isReady || isBending.value}
      onClick={() => {
        if (info === null) return;
        isBending.value = true;
        void bend(info, concept.value).finally(() => (isBending.value = false));
      }}
    >
      Move it
    </button>
  );
}

/** Of the last step: a concept whose change is seen best. */
function useLiveConcept(step: number): void {
  const info = ready.value;
  useEffect(() => {
    const at = info?.concepts.findIndex((name) => /size/i.test(name)) ?? -1;
    if (step === TOUR_STEPS && at >= 0) change({ concept: at + 1 });
  }, [step, info?.name]);
}

export function Tour() {
  const { tour: step, revealed } = settings.value;
  const title = useRef<HTMLHeadingElement>(null);
  useLiveConcept(step);
  useEffect(() => {
    if (step === 0) return undefined;
    title.current?.focus({ preventScroll: true });
    scrollTo({ top: 0, behavior: isCalm() ? 'auto' : 'smooth' });
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') leave();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [step]);
  // Who chose a candidate has taken the first step.
  useEffect(() => {
    if (step === 1 && revealed) change({ tour: 2 });
  }, [step, revealed]);
  if (step === 0) return null;
  const { title: heading, text, next } = TEXTS[step - 1];
  return (
    <aside class="tour" aria-label={`Tour, step ${step} of ${TOUR_STEPS}`} data-testid="tour">
      <h2 ref={title} tabIndex={-1}>
        {heading}
      </h2>
      <p>{text}</p>
      <div class="tour-actions">
        <span class="tour-step">
          {step} of {TOUR_STEPS}
        </span>
        <button type="button" class="quiet" onClick={leave}>
          Skip
        </button>
        {step > 1 && (
          <button type="button" class="quiet" onClick={() => goTo(step - 1)}>
            Back
          </button>
        )}
        {step === TOUR_STEPS && <BendButton />}
        <button
          type="button"
          class="main"
          onClick={() => (step === TOUR_STEPS ? leave() : goTo(step + 1))}
        >
          {next}
        </button>
      </div>
    </aside>
  );
}
