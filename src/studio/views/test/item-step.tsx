/** One item to answer: the matrix, its candidates and a clock. Only the practice item says what was right. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { MatrixView } from '../../engine/protocol.js';
import { badgeOf, CandidateMarks, yourChoice } from '../../parts/candidate-marks.js';
import { alsoRightWords, mistakeWords } from '../../parts/mistakes.js';
import { EmptyMatrix, ShownMatrix } from '../../parts/matrix-grid.js';
import { Drawing } from '../../parts/panel.js';
import { useAsync } from '../../parts/use-async.js';
import { engine } from '../../state/store.js';
import {
  answerItem,
  endTest,
  items,
  practiceItem,
  session,
  startClock,
  startItems,
} from '../../state/test-session.js';

const NOTHING: ReadonlyMap<number, Float32Array> = new Map();
const SECOND = 1000;

/** Minutes and seconds since the item was shown. */
function Clock({ since }: { readonly since: number }) {
  const now = useSignal(Date.now());
  useEffect(() => {
    const read = (): number => (now.value = Date.now());
    read();
    const timer = setInterval(read, SECOND / 4);
    return () => clearInterval(timer);
  }, [since]);
  const seconds = Math.max(0, Math.floor((now.value - since) / SECOND));
  return (
    <span class="clock" role="timer" aria-label="Time on this item">
      {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, '0')}
    </span>
  );
}

interface ChoicesProps {
  readonly matrix: MatrixView;
  readonly picked: number;
  /** Whether the right one is shown, and no more can be chosen. */
  readonly told: boolean;
  readonly onPick: (candidate: number) => void;
}

function Choices({ matrix, picked, told, onPick }: ChoicesProps) {
  return (
    <ol class="candidates">
      {matrix.candidates.map((candidate, i) => (
        <li key={i}>
          <button
            type="button"
            class={`candidate${!told ? '' : matrix.right.includes(i) ? ' right' : picked === i + 1 ? ' wrong' : ''}`}
            data-candidate={i + 1}
            aria-pressed={picked === i + 1}
            disabled={told}
            onClick={() => onPick(i + 1)}
          >
            <Drawing panel={candidate} />
            <CandidateMarks
              number={i + 1}
              badge={told ? badgeOf(matrix, i) : ''}
              choosers={told && picked === i + 1 ? [yourChoice(!matrix.right.includes(i))] : []}
            />
          </button>
        </li>
      ))}
    </ol>
  );
}

function practiceWords(picked: number, matrix: MatrixView): string {
  if (matrix.target === null) return '';
  return matrix.right.includes(picked - 1)
    ? `Right: candidate ${picked} completes the matrix.`
    : `Candidate ${matrix.target + 1} completes the matrix.`;
}

/** What the practice item says once it is answered. */
function Told({ picked, matrix }: { readonly picked: number; readonly matrix: MatrixView }) {
  return (
    <>
      <p class="headline">{practiceWords(picked, matrix)}</p>
      {!matrix.right.includes(picked - 1) && (
        <p>{mistakeWords(picked - 1, matrix.candidates[picked - 1])}</p>
      )}
      <p>{alsoRightWords(matrix)}</p>
    </>
  );
}

/** Asks once more before it ends the test; the practice item is simply left. */
function EndButton({ isPractice }: { readonly isPractice: boolean }) {
  const isAsking = useSignal(false);
  const { given } = session.value;
  if (!isAsking.value) {
    return (
      <button
        type="button"
        class="quiet"
        onClick={() => (isPractice ? endTest() : (isAsking.value = true))}
      >
        End the test
      </button>
    );
  }
  const kept = given.length === 0 ? 'Nothing is answered yet.' : `${given.length} answered.`;
  return (
    <div class="actions end-test" role="group" aria-label="End the test?">
      <span>End it here? {kept}</span>
      <button type="button" onClick={endTest}>
        End it
      </button>
      <button type="button" class="quiet" onClick={() => (isAsking.value = false)}>
        Go on
      </button>
    </div>
  );
}

/** "Practice", "Item 3 of 12". */
const titleOfItem = (): string =>
  session.value.phase === 'practice'
    ? 'Practice'
    : `Item ${session.value.given.length + 1} of ${items.value.length}`;

/** Where the test is: its title, the clock, how much is answered. */
function Progress() {
  const { phase, given, since } = session.value;
  return (
    <>
      <div class="score-head">
        <h2>{titleOfItem()}</h2>
        {since !== null && <Clock since={since} />}
      </div>
      {phase !== 'practice' && (
        <progress
          class="load"
          max={items.value.length}
          value={given.length}
          aria-label="Items answered"
        />
      )}
    </>
  );
}

interface WayOnProps {
  readonly isPractice: boolean;
  readonly canGoOn: boolean;
  /** Whether the item is there to be answered. */
  readonly isShown: boolean;
  readonly told: boolean;
  readonly next: () => void;
  readonly giveUp: () => void;
}

/** The buttons: on to the next item, without an answer, or out of the test. */
function WayOn({ isPractice, canGoOn, isShown, told, next, giveUp }: WayOnProps) {
  const place = useRef<HTMLDivElement>(null);
  // On a phone what is said of the practice item pushes the way on out of sight.
  useEffect(() => {
    if (told) place.current?.scrollIntoView({ block: 'nearest' });
  }, [told]);
  return (
    <div class="actions" ref={place}>
      <button type="button" class="main" disabled={!canGoOn} onClick={next}>
        {!isPractice ? 'Next' : told ? 'Start the test' : 'Check'}
      </button>
      {!isPractice && (
        <button type="button" class="quiet" disabled={!isShown} onClick={giveUp}>
          I do not know
        </button>
      )}
      <EndButton isPractice={isPractice} />
    </div>
  );
}

export function ItemStep() {
  const isPractice = session.value.phase === 'practice';
  const spec = isPractice ? practiceItem.value : items.value[session.value.given.length].spec;
  const made = useAsync(() => engine.matrix(spec), JSON.stringify(spec));
  const matrix = made.value;
  const picked = useSignal(0);
  const told = useSignal(false);
  const place = useRef<HTMLElement>(null);
  // Time counts from when the matrix is there to be looked at.
  useEffect(() => {
    if (matrix !== null) startClock();
  }, [matrix]);
  useEffect(() => {
    scrollTo(0, 0);
    place.current?.focus({ preventScroll: true });
  }, []);

  const next = (): void => {
    if (matrix === null || matrix.target === null) return;
    if (isPractice && !told.value) told.value = true;
    else if (isPractice) startItems();
    else answerItem(picked.value, matrix);
  };
  const giveUp = (): void => {
    picked.value = 0;
    next();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (/^[1-8]$/.test(event.key) && !told.value) picked.value = Number(event.key);
    const onButton = event.target instanceof HTMLButtonElement;
    if (event.key === 'Enter' && !onButton && picked.value > 0) next();
  };
  return (
    <section
      class="columns test-item"
      ref={place}
      tabIndex={-1}
      aria-label={isPractice ? 'Practice item' : titleOfItem()}
      onKeyDown={onKey}
    >
      <div class="stage">
        <Progress />
        {made.fault !== null && <p class="fault">{made.fault}</p>}
        {matrix === null ? (
          <EmptyMatrix />
        ) : (
          <ShownMatrix label="The matrix" matrix={matrix} missing={[9]} painted={NOTHING} />
        )}
      </div>
      <div class="side">
        <p class="hint">
          Which candidate completes the matrix?
          <span class="wide-only"> Click it, or press 1 to 8.</span>
        </p>
        {matrix !== null && (
          <Choices
            matrix={matrix}
            picked={picked.value}
            told={told.value}
            onPick={(candidate) => (picked.value = candidate)}
          />
        )}
        {isPractice && (
          <div class="told" role="status">
            {told.value && matrix !== null && <Told picked={picked.value} matrix={matrix} />}
          </div>
        )}
        <WayOn
          {...{ isPractice, next, giveUp }}
          canGoOn={picked.value > 0 || told.value}
          isShown={matrix !== null}
          told={told.value}
        />
      </div>
    </section>
  );
}
