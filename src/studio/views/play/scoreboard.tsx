/** You, the model on the same matrices, and people in the published study. */
import { findLayout, HUMAN_ACCURACY } from '../../../matrix/index.js';
import { forget, scoreOf, type Tally } from '../../state/score.js';
import { ready, settings } from '../../state/store.js';

interface Line {
  readonly name: string;
  readonly kind: 'you' | 'crab' | 'people';
  /** 0..1, or null before the first. */
  readonly share: number | null;
  readonly detail: string;
}

const shareOf = ({ right, total }: Tally): number | null => (total === 0 ? null : right / total);

const percent = (share: number): string =>
  `${(100 * share).toFixed(share === 0 || share === 1 ? 0 : 1)}%`;

function ScoreLine({ name, kind, share, detail }: Line) {
  return (
    <div class="score-line">
      <dt>{name}</dt>
      <dd>
        <span class={`score-bar ${kind}`}>
          <span style={{ width: `${100 * (share ?? 0)}%` }} />
        </span>
        <span class="score-value">{share === null ? '–' : percent(share)}</span>
        <span class="score-detail">{detail}</span>
      </dd>
    </div>
  );
}

const counted = ({ right, total }: Tally): string =>
  total === 0 ? 'no answers yet' : `${right} of ${total}`;

/** What the model did here, and in tests where its bundle tells. */
function modelDetail(tally: Tally, measured: number | null): string {
  if (measured === null) return counted(tally);
  const tested = `${percent(measured)} in tests`;
  return tally.total === 0 ? tested : `${counted(tally)}; ${tested}`;
}

export function Scoreboard() {
  const { layout, variant } = settings.value;
  const score = scoreOf(layout);
  const measured = ready.value?.accuracy?.[variant] ?? null;
  const people = HUMAN_ACCURACY[findLayout(layout).configuration] / 100;
  return (
    <section class="scoreboard" aria-label="Score">
      <div class="score-head">
        <h2>Score</h2>
        <p data-testid="streak">
          Streak <strong>{score.streak}</strong> · best <strong>{score.best}</strong>
        </p>
        <button
          type="button"
          class="quiet"
          disabled={score.you.total === 0}
          onClick={() => forget(layout)}
        >
          Reset
        </button>
      </div>
      <dl data-testid="score">
        <ScoreLine name="You" kind="you" share={shareOf(score.you)} detail={counted(score.you)} />
        <ScoreLine
          name="CRAB"
          kind="crab"
          share={shareOf(score.model)}
          detail={modelDetail(score.model, measured)}
        />
        <ScoreLine name="People" kind="people" share={people} detail="Zhang et al. 2019" />
      </dl>
    </section>
  );
}
