/**
 * Candidates against concepts: how far each is from the imagined panel in each concept, as a number and a
 * colour, and in all. Calibrated distances weigh all concepts together, so that one may take away what
 * another adds: a number below zero speaks for a candidate as little as zero, and its cell has no colour.
 */
import { useSignal, type Signal } from '@preact/signals';
import type { ChoiceView, MatrixView, ModelInfo } from '../../engine/protocol.js';
import { inList } from '../../engine/words.js';
import { closenessWords } from '../../parts/certainty.js';
import { ownDistance, type DistanceName } from '../../parts/distances.js';
import { openWords } from '../../parts/mistakes.js';
import { misfit } from '../../parts/misfit-notice.js';
import { SideScroll } from '../../parts/side-scroll.js';
import { change, choice, matrix, ready, settings } from '../../state/store.js';
import { DISTANCES } from '../../state/settings.js';
import { Difference } from './difference.js';
import { heatNumbers, type HeatNumbers, type Place, type ShownRow } from './heat-numbers.js';
import { HeatTable } from './heat-table.js';

const DISTANCE_NAMES = { calibrated: 'Calibrated', l2: 'Plain L2' } as const;

const ABOUT_DISTANCES = {
  calibrated:
    'Calibrated: all concepts are weighed together, by how well each is usually foretold.',
  l2: 'Plain L2, as in the paper: squared differences of all concepts, added up.',
} as const;

function DistanceChoice({ distance }: { readonly distance: DistanceName }) {
  return (
    <fieldset class="segmented">
      <legend class="unseen">Distance</legend>
      {DISTANCES.map((name) => (
        <label key={name}>
          <input
            type="radio"
            name="distance"
            checked={distance === name}
            onChange={() => change({ distance: name })}
          />
          <span>{DISTANCE_NAMES[name]}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** What stands beside the table: who is closest, by the distance that is shown. */
function closestWords(
  value: ChoiceView,
  index: number,
  distance: DistanceName,
  nearest: readonly number[],
) {
  if (distance === ownDistance(value.candidates)) return closenessWords(index, value);
  const names = inList(nearest.map((i) => String(i + 1)));
  const closest =
    nearest.length === 1 ? `candidate ${names} is` : `candidates ${names} are equally`;
  const own = nearest.includes(index)
    ? ''
    : ` CRAB chose candidate ${index + 1}: it goes by another distance.`;
  return `By plain L2 ${closest} the closest to what it painted.${own}`;
}

/** Whom drawing pushed away. */
function drawnWords(rows: readonly ShownRow[]): string {
  const worse = rows.flatMap(({ drawn }, i) => (drawn !== null && drawn > 0 ? [`${i + 1}`] : []));
  const [subject, came, them] =
    worse.length === 1 ? ['candidate', 'it came', 'it'] : ['candidates', 'they came', 'them'];
  return `Drawing added to ${subject} ${inList(worse)}, because ${came} out worse when CRAB drew ${them} from these concepts.`;
}

/** What a row adds up to, and what is odd in the numbers at hand. */
function AboutNumbers({ rows, hasDrawn }: HeatNumbers) {
  return (
    <p class="hint">
      Each number says how far a candidate is from the imagined panel in one concept. A row adds up
      to the distance on its right: the less, the closer.
      {rows.some(({ cells }) => cells.some((cell) => cell < 0)) &&
        ' A number below zero takes away from what other concepts count.'}
      {hasDrawn && ` ${drawnWords(rows)}`}
    </p>
  );
}

/** The numbers of the cell that is looked at, if its concept has a column. */
function CountOfCell({ numbers, place }: { readonly numbers: HeatNumbers; readonly place: Place }) {
  const at = numbers.columns.indexOf(place.concept - 1);
  if (at < 0) return null;
  const { cells, total } = numbers.rows[place.candidate];
  return (
    <span data-testid="raw-distance">
      This concept counts {numbers.text(cells[at])} of {numbers.text(total)}.
    </span>
  );
}

function FoldToggle({
  unused,
  isUnfolded,
}: {
  readonly unused: number;
  readonly isUnfolded: Signal<boolean>;
}) {
  if (unused === 0) return null;
  return (
    <label class="toggle">
      <input
        type="checkbox"
        checked={isUnfolded.value}
        onChange={() => (isUnfolded.value = !isUnfolded.value)}
      />
      <span>
        Show {unused} unused concept{unused === 1 ? '' : 's'}
      </span>
    </label>
  );
}

interface ChosenProps {
  readonly shown: MatrixView;
  readonly info: ModelInfo;
  readonly value: ChoiceView;
  /** The candidate that CRAB chose, from 0. */
  readonly index: number;
  /** The cell that is looked at; null for none. */
  readonly looked: Signal<Place | null>;
  readonly isUnfolded: Signal<boolean>;
}

/** The map of a matrix with candidates, and what it says in words. */
function ChosenMap({ shown, info, value, index, looked, isUnfolded }: ChosenProps) {
  const hasCalibrated = ownDistance(value.candidates) === 'calibrated';
  const distance = hasCalibrated ? settings.value.distance : 'l2';
  const numbers = heatNumbers(value, info, distance, isUnfolded.value);
  const place = looked.value;
  return (
    <div class="heat-columns">
      <SideScroll class="heat-scroll">
        <HeatTable {...{ shown, info, value, numbers, place }} look={(at) => (looked.value = at)} />
      </SideScroll>
      <p class="hint swipe">Swipe the table sideways for the other concepts.</p>
      <div class="heat-side">
        {misfit() === null && (
          <p data-testid="closeness">
            {closestWords(value, index, distance, numbers.closest)} {openWords(shown)}
          </p>
        )}
        <Difference place={place}>
          {place !== null && <CountOfCell numbers={numbers} place={place} />}
        </Difference>
        <AboutNumbers {...numbers} />
        {hasCalibrated && <DistanceChoice distance={distance} />}
        <p class="hint">{ABOUT_DISTANCES[distance]}</p>
        <FoldToggle unused={info.unused.length} isUnfolded={isUnfolded} />
      </div>
    </div>
  );
}

export function HeatMap() {
  const looked = useSignal<Place | null>(null);
  const isUnfolded = useSignal(false);
  const [shown, info, value] = [matrix.value.value, ready.value, choice.value.value];
  if (shown === null || info === null || value === null || value.index === null) {
    return (
      <div class="heat-place">
        {value !== null && (
          <p class="hint">If a matrix has no candidates, there is nothing to compare.</p>
        )}
      </div>
    );
  }
  return <ChosenMap {...{ shown, info, value, looked, isUnfolded }} index={value.index} />;
}
