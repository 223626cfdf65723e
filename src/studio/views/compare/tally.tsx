/** How often each is right over many matrices, and what that number is worth. */
import { wilsonInterval } from '../../../base/index.js';
import { VARIANT_NAMES, VARIANTS } from '../../../matrix/index.js';
import { change, settings } from '../../state/store.js';
import {
  canTry,
  hasRival,
  SERIES,
  stopTrials,
  trials,
  tryMore,
  type Trial,
} from '../../state/trials.js';

const whole = (share: number): number => Math.round(100 * share);

interface LineProps {
  readonly name: string;
  readonly kind: string;
  readonly right: number;
  readonly total: number;
  /** Said before anything was tried. */
  readonly untried?: string;
}

function Line({ name, kind, right, total, untried = 'not tried yet' }: LineProps) {
  const range = total === 0 ? null : wilsonInterval(right, total);
  return (
    <tr data-who={kind} class={kind}>
      <th scope="row">{name}</th>
      <td class="figure">{total === 0 ? '–' : `${right} of ${total}`}</td>
      <td class="interval" aria-hidden="true">
        <span class="track">
          {range !== null && (
            <>
              <span class="share-bar" style={{ width: `${(100 * right) / total}%` }} />
              <span
                class="range"
                style={{ left: `${100 * range.low}%`, width: `${100 * (range.high - range.low)}%` }}
              />
            </>
          )}
        </span>
      </td>
      <td class="detail">
        {range === null
          ? untried
          : `${whole(right / total)}%; 95% interval ${whole(range.low)}% to ${whole(range.high)}%`}
      </td>
    </tr>
  );
}

/** How wrong candidates are made. */
function VariantChoice() {
  const { variant } = settings.value;
  return (
    <label class="field">
      <span>Candidates</span>
      <select
        value={variant}
        onChange={(event) => {
          const found = VARIANTS.find((each) => each === event.currentTarget.value);
          if (found !== undefined) change({ variant: found, picked: 0, revealed: false });
        }}
      >
        {VARIANTS.map((each) => (
          <option key={each} value={each}>
            {VARIANT_NAMES[each]}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Tally() {
  const { done, goal, isRunning, fault } = trials.value;
  const right = (of: (trial: Trial) => boolean): number => done.filter(of).length;
  return (
    <section class="tally" aria-label="Many matrices" data-running={isRunning}>
      <div class="actions">
        {isRunning ? (
          <button type="button" onClick={stopTrials}>
            Stop
          </button>
        ) : (
          <button
            type="button"
            class="main"
            disabled={!canTry.value}
            onClick={() => void tryMore()}
          >
            Try {SERIES} {done.length === 0 ? 'matrices' : 'more'}
          </button>
        )}
        <VariantChoice />
        <p class="hint" role="status">
          {isRunning
            ? `${done.length} of ${goal}`
            : done.length === 0
              ? `The next ones, each with its last panel missing${hasRival.value ? '' : '; CRAB alone'}.`
              : `${done.length} tried.`}
        </p>
      </div>
      <progress
        class="load"
        max={Math.max(1, goal)}
        value={done.length}
        aria-label="Matrices tried"
        hidden={!isRunning}
      />
      {fault !== null && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      <table class="tally-table" data-testid="tally">
        <caption class="unseen">Right choices, with 95% intervals</caption>
        <tbody>
          <Line
            name="CRAB"
            kind="crab"
            right={right(({ isCrabRight }) => isCrabRight)}
            total={done.length}
          />
          <Line
            name="Transformer"
            kind="rival"
            right={right(({ isRivalRight }) => isRivalRight === true)}
            total={right(({ isRivalRight }) => isRivalRight !== null)}
            untried={hasRival.value ? undefined : 'none to try here'}
          />
        </tbody>
      </table>
    </section>
  );
}
