/** What you chose, what CRAB imagined, and what is right, side by side, with the rules in words. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { findLayout } from '../../../matrix/index.js';
import type { ChoiceView, MatrixSpec, MatrixView } from '../../engine/protocol.js';
import { changingWords } from '../../engine/words.js';
import { AnotherAnswer } from '../../parts/another-answer.js';
import { closenessWords, panelSentence } from '../../parts/certainty.js';
import {
  alsoRightWords,
  failureWords,
  lookalikeWords,
  mistakeWords,
  openWords,
} from '../../parts/mistakes.js';
import { isCalm } from '../../parts/motion.js';
import { Blank, Drawing, Pixels } from '../../parts/panel.js';
import { RuleTable } from '../../parts/rule-table.js';
import type { Settings } from '../../state/settings.js';
import { exampleAt } from '../../story/examples.js';
import { choice, matrix, ready, settings, shownAnswer, spec } from '../../state/store.js';

/** The matrix whose answer did not count, because it had been shown before; null if the last one did. */
export const uncounted = signal<MatrixSpec | null>(null);

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

function summary(picked: number, right: readonly number[], models: number | null): string {
  if (right.length === 0) return 'CRAB imagined the missing panel.';
  const you = picked === 0 ? null : right.includes(picked - 1);
  const crab = models === null ? null : right.includes(models);
  if (you === true && crab === true) return 'You are both right.';
  if (you === true && crab === false) return 'You are right, CRAB is not.';
  if (you === false && crab === true) return 'Not this one. CRAB is right this time.';
  if (you === false && crab === false) return 'Neither of you is right.';
  if (you !== null) return you ? 'You are right.' : 'Not this one.';
  return crab === true ? 'CRAB is right.' : crab === false ? 'CRAB is wrong here.' : '';
}

/** What there is to look for along the rows. */
const rowWords = ({ difficulty, constraints, pictures, layout }: Settings): string =>
  difficulty === 'gentle' && constraints === '' && pictures === ''
    ? 'one thing changes in equal steps, the rest stays'
    : changingWords(findLayout(layout));

/** Whether a candidate, counted from 1 (0 for none), is known to be wrong. */
const isWrong = (candidate: number, right: readonly number[]): boolean =>
  candidate > 0 && right.length > 0 && !right.includes(candidate - 1);

/** Which rules the chosen candidates break, and why CRAB took its own. */
function Mistakes({
  matrix: { candidates, right },
  choice: crab,
}: {
  readonly matrix: MatrixView;
  readonly choice: ChoiceView | null;
}) {
  const { picked } = settings.value;
  const models = crab?.index ?? null;
  const you = isWrong(picked, right) ? mistakeWords(picked - 1, candidates[picked - 1]) : '';
  const isModelWrong = crab !== null && models !== null && isWrong(models + 1, right);
  const own =
    models === null || models + 1 === picked ? '' : mistakeWords(models, candidates[models]);
  const seen = lookalikeWords(right, crab?.lookalike ?? null);
  const why = isModelWrong ? `${failureWords(candidates[models], crab.answer)} ${own} ${seen}` : '';
  return (
    <>
      {you !== '' && <p data-testid="mistake">{you}</p>}
      {why.trim() !== '' && <p data-testid="failure">{why}</p>}
    </>
  );
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
    const behavior = isCalm() ? 'auto' : 'smooth';
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
  // The note on an example stands above the matrix, and is read first.
  const isExample = exampleAt(settings.value) !== undefined;
  const place = useSight(revealed && shown !== null && !isExample);
  if (!revealed || shown === null) {
    return (
      <div class="verdict waiting">
        <p class="hint">
          Look along the rows: {rowWords(settings.value)}. Then see what CRAB paints into the empty
          place without ever looking at the candidates.
        </p>
      </div>
    );
  }
  const { value, fault } = choice.value;
  const { target, right } = shown;
  const also = alsoRightWords(shown);
  const image = (shownAnswer.value ?? value?.answer)?.images.at(-1);
  const sureness = value?.answer.sureness?.at(-1) ?? null;
  const chosen = picked > 0 ? shown.candidates.at(picked - 1) : undefined;
  return (
    <div class="verdict" data-testid="verdict" ref={place}>
      <p class="headline" role="status">
        {summary(picked, right, value?.index ?? null)}
      </p>
      <Mistakes matrix={shown} choice={value} />
      {also !== '' && <p data-testid="also-right">{also}</p>}
      {also === '' && shown.fault !== null && <p data-testid="item-fault">{shown.fault}</p>}
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
          CRAB painted the panel first, without looking at the candidates, in{' '}
          {Math.round(value.answer.milliseconds)} ms.
          {sureness !== null && ` ${panelSentence(sureness)}`} {closenessWords(value.index, value)}
        </p>
      )}
      {sureness !== null && <AnotherAnswer />}
      {(shownAnswer.value?.count ?? 1) > 1 && openWords(shown) !== '' && (
        <p class="hint">{openWords(shown)} “Another answer” shows them.</p>
      )}
      {fault !== null && <p class="fault">{fault}</p>}
      {uncounted.value === spec.value && picked > 0 && (
        <p class="hint">The answer to this matrix was shown before, so it does not count.</p>
      )}
      {shown.rules.length > 0 && (
        <details open={isWrong(picked, right) || isWrong((value?.index ?? -1) + 1, right)}>
          <summary>The rules of this matrix</summary>
          <RuleTable matrix={shown} info={ready.value} answer={value?.answer ?? null} />
        </details>
      )}
    </div>
  );
}
