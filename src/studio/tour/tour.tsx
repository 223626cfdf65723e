/**
 * The tour's card: what to do at this step, and the way on, back or out. It stands over the page without
 * covering what it speaks of; Escape skips it.
 */
import { computed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { BendView } from '../engine/protocol.js';
import { isCalm } from '../parts/motion.js';
import { resource } from '../state/resource.js';
import { TOUR_STEPS } from '../state/settings.js';
import { change, engine, model, ready, ruled, settings, spec } from '../state/store.js';
import { bendWords, TEXTS, tourState } from './steps.js';

const BEND_STEPS = 12;
const BEND_MILLISECONDS = 110;

const pause = (milliseconds: number): Promise<void> =>
  new Promise((done) => setTimeout(done, milliseconds));

const goTo = (step: number): void => change(tourState(step), true);
const leave = (): void => change({ tour: 0 });

/** Sought while the second and third step are looked at. */
const isSought = computed(() => settings.value.tour > 1);
const bending = resource<BendView | null>(() => {
  const wanted = spec.value;
  return ready.value === null || !isSought.value ? null : () => engine.bend(wanted);
});

/** Moves a rule to another one, on a straight way; at once if motion is unwanted. */
async function bend({ concept, rule: [toX, toY] }: BendView): Promise<void> {
  const rule = ruled.peek().value?.rules[concept - 1];
  if (rule === undefined) return;
  const [x, y] = rule.vector;
  for (let i = isCalm() ? BEND_STEPS : 1; i <= BEND_STEPS; i++) {
    const share = i / BEND_STEPS;
    const imposed = { concept, x: x + share * (toX - x), y: y + share * (toY - y) };
    // Who went on meanwhile wants nothing moved.
    if (settings.peek().tour !== TOUR_STEPS) return;
    change({ imposed });
    await pause(BEND_MILLISECONDS);
  }
}

/** The one button of the last step: moves the rule, and ends the tour once it was moved. */
function BendButton({ done }: { readonly done: string }) {
  const isBending = useSignal(false);
  const { value: wanted, pending } = bending.value;
  const isAwaited = pending || (ready.value === null && model.value.phase !== 'failed');
  const isMoved = settings.value.imposed !== null && !isBending.value;
  if (isMoved || (wanted === null && !isAwaited)) {
    return (
      <button type="button" class="main" onClick={leave}>
        {done}
      </button>
    );
  }
  return (
    <button
      type="button"
      class="main"
      disabled={wanted === null || ruled.value.value === null || isBending.value}
      onClick={() => {
        if (wanted === null) return;
        isBending.value = true;
        void bend(wanted).finally(() => (isBending.value = false));
      }}
    >
      Move it
    </button>
  );
}

/** Of the last step: opens the concept whose rule is to be bent. */
function useBentConcept(step: number): void {
  const concept = bending.value.value?.concept;
  useEffect(() => {
    if (step === TOUR_STEPS && concept !== undefined) change({ concept });
  }, [step, concept]);
}

export function Tour() {
  const { tour: step, revealed, imposed } = settings.value;
  const title = useRef<HTMLHeadingElement>(null);
  useBentConcept(step);
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
  const wanted = step === TOUR_STEPS ? bending.value.value : null;
  return (
    <aside class="tour" aria-label={`Tour, step ${step} of ${TOUR_STEPS}`} data-testid="tour">
      <h2 ref={title} tabIndex={-1}>
        {heading}
      </h2>
      <p>{wanted === null ? text : bendWords(wanted, imposed !== null)}</p>
      <div class="tour-actions">
        <span class="tour-step">
          {step} of {TOUR_STEPS}
        </span>
        {step === TOUR_STEPS ? (
          <BendButton done={next} />
        ) : (
          <>
            <button type="button" class="quiet" onClick={leave}>
              Skip
            </button>
            {step > 1 && (
              <button type="button" class="quiet" onClick={() => goTo(step - 1)}>
                Back
              </button>
            )}
            <button type="button" class="main" onClick={() => goTo(step + 1)}>
              {next}
            </button>
          </>
        )}
      </div>
    </aside>
  );
}
