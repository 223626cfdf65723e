/**
 * Candidates against concepts: how far each is from the imagined panel in each concept, as a number and a
 * colour, and in all. Calibrated distances weigh all concepts together, so that one may take away what
 * another adds: a number below zero speaks for a candidate as little as zero, and its cell has no colour.
 */
import { useSignal } from '@preact/signals';
import type { ChoiceView, MatrixView, ModelInfo } from '../../engine/protocol.js';
import { inList, shortTitle } from '../../engine/words.js';
import { badgeOf } from '../../parts/candidate-marks.js';
import { closenessWords } from '../../parts/certainty.js';
import {
  closestOf,
  decimalsFor,
  distanceRows,
  distanceText,
  ownDistance,
  roundedParts,
  type DistanceName,
  type DistanceRow,
} from '../../parts/distances.js';
import { openWords } from '../../parts/mistakes.js';
import { misfit } from '../../parts/misfit-notice.js';
import { Drawing } from '../../parts/panel.js';
import { SideScroll } from '../../parts/side-scroll.js';
import { change, choice, matrix, ready, settings } from '../../state/store.js';
import { DISTANCES } from '../../state/settings.js';
import { Difference } from './difference.js';

const DISTANCE_NAMES = { calibrated: 'Calibrated', l2: 'Plain L2' } as const;

/** A cell of the map: candidate from 0, concept from 1. */
export interface Place {
  readonly candidate: number;
  readonly concept: number;
}

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

/** The strongest share that is drawn in full: one far candidate must not leave the others pale. */
function strongest(rows: readonly (readonly number[])[]): number {
  const all = rows.flat().sort((a, b) => a - b);
  return Math.max(1e-9, all[Math.floor(0.95 * (all.length - 1))]);
}

/** The name of a concept as narrow as a column: "Num/pos 1". */
const narrow = (name: string): string => shortTitle(name).replace('/', '/\u200b');

/** A row as it is shown: its numbers add up. */
interface ShownRow {
  /** A number for each concept that has a column. */
  readonly cells: readonly number[];
  /** Those of concepts that are folded away, together. */
  readonly folded: number;
  readonly drawn: number | null;
  readonly total: number;
}

/** A row with its numbers rounded; those of concepts without a column are one. */
function roundedRow(
  { shares, drawn }: DistanceRow,
  columns: readonly number[],
  decimals: number,
): ShownRow {
  const hidden = shares.reduce((sum, share, m) => (columns.includes(m) ? sum : sum + share), 0);
  const rounded = roundedParts([...columns.map((m) => shares[m]), hidden, drawn ?? 0], decimals);
  const [folded, added] = rounded.slice(columns.length);
  return {
    cells: rounded.slice(0, columns.length),
    folded,
    drawn: drawn === null ? null : added,
    total: rounded.reduce((sum, part) => sum + part, 0),
  };
}

interface RowProps {
  readonly shown: MatrixView;
  readonly info: ModelInfo;
  readonly value: ChoiceView;
  readonly candidate: number;
  /** Concepts that are shown, from 0. */
  readonly columns: readonly number[];
  readonly row: ShownRow;
  readonly hasFolded: boolean;
  readonly hasDrawn: boolean;
  readonly isClosest: boolean;
  readonly text: (value: number) => string;
  /** The share that is coloured in full. */
  readonly scale: number;
  readonly looked: Place;
  readonly look: (place: Place) => void;
}

function Row(props: RowProps) {
  const { shown, info, value, candidate, columns, row, text, scale, looked, look } = props;
  const isChosen = value.index === candidate;
  const badge = badgeOf(shown, candidate);
  return (
    <tr class={isChosen ? 'chosen' : ''}>
      <th scope="row">
        <div class="row-head">
          <span class="thumb">
            <Drawing panel={shown.candidates[candidate]} />
          </span>
          <span class="unseen">Candidate </span>
          <span class="row-number">{candidate + 1}</span>
          <span class="row-tags">
            {isChosen && <span class="tag crab">CRAB</span>}
            {badge !== '' && <span class="tag you">{badge}</span>}
          </span>
        </div>
      </th>
      {columns.map((m, at) => {
        const heat = Math.min(1, Math.max(0, row.cells[at]) / scale);
        const place = { candidate, concept: m + 1 };
        const told = text(row.cells[at]);
        return (
          <td key={m}>
            <button
              type="button"
              class="heat"
              data-cell={`${candidate} ${m + 1}`}
              tabIndex={looked.candidate === candidate && looked.concept === m + 1 ? 0 : -1}
              style={{ '--heat': Math.sqrt(heat).toFixed(3) }}
              aria-label={`${info.concepts[m]} of candidate ${candidate + 1}: ${told}`}
              onMouseEnter={() => look(place)}
              onFocus={() => look(place)}
              onClick={() => look(place)}
            >
              {told}
            </button>
          </td>
        );
      })}
      {props.hasFolded && <td class="added">{text(row.folded)}</td>}
      {props.hasDrawn && (
        <td class="added drawn">
          {row.drawn === null ? <span class="unseen">not drawn</span> : text(row.drawn)}
        </td>
      )}
      <td class="total">
        {text(row.total)}
        {props.isClosest && <span class="closest"> closest</span>}
        {row.drawn !== null && (
          <span class="narrow-only drawn-part"> drawing {text(row.drawn)}</span>
        )}
      </td>
    </tr>
  );
}

const ARROWS: Readonly<Record<string, readonly [down: number, right: number]>> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
};

/** Arrow keys go from cell to cell; the Tab key has one stop in the whole map. */
function moveFocus(event: KeyboardEvent, from: Place | null, columns: readonly number[]): void {
  const arrow = ARROWS[event.key];
  if (arrow === undefined || from === null) return;
  event.preventDefault();
  const column = columns.at(Math.max(0, columns.indexOf(from.concept - 1) + arrow[1])) ?? 0;
  const cell = `${from.candidate + arrow[0]} ${column + 1}`;
  document.querySelector<HTMLElement>(`[data-cell="${cell}"]`)?.focus();
}

/** What stands beside the table: who is closest, by the distance that is shown. */
function closestWords(value: ChoiceView, index: number, distance: DistanceName, nearest: number[]) {
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
  const hasCalibrated = ownDistance(value.candidates) === 'calibrated';
  const distance = hasCalibrated ? settings.value.distance : 'l2';
  const distances = distanceRows(value, distance);
  const totals = distances.map(({ total }) => total);
  const nearest = closestOf(totals);
  const decimals = decimalsFor(totals);
  const text = (number: number): string => distanceText(number, decimals);
  const used = info.concepts.flatMap((_, m) => (info.unused.includes(m + 1) ? [] : [m]));
  const unused = info.concepts.length - used.length;
  const columns = isUnfolded.value ? info.concepts.map((_, m) => m) : used;
  const hasFolded = columns.length < info.concepts.length;
  const rows = distances.map((row) => roundedRow(row, columns, decimals));
  const hasDrawn = rows.some(({ drawn }) => drawn !== null && drawn > 0);
  const scale = strongest(distances.map(({ shares }) => shares));
  const place = looked.value;
  const lookedAt = place === null ? -1 : columns.indexOf(place.concept - 1);
  return (
    <div class="heat-columns">
      <SideScroll class="heat-scroll">
        <table
          class="heat-map"
          style={{
            '--concepts': columns.length,
            '--folded': Number(hasFolded),
            '--drawn': Number(hasDrawn),
          }}
          data-testid="heat-map"
          onKeyDown={(event) => moveFocus(event, place, columns)}
        >
          <thead>
            <tr>
              <td />
              {columns.map((m) => (
                <th
                  scope="col"
                  key={m}
                  aria-label={info.concepts[m]}
                  title={`Concept ${m + 1} ${info.aboutConcepts[m]}`}
                >
                  <span>{narrow(info.concepts[m])}</span>
                </th>
              ))}
              {hasFolded && (
                <th scope="col" class="added" title="Concepts it hardly uses, together">
                  Unused
                </th>
              )}
              {hasDrawn && (
                <th
                  scope="col"
                  class="added drawn"
                  title="How much worse than the best it was drawn"
                >
                  Drawing
                </th>
              )}
              <th scope="col" class="total">
                Distance
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, candidate) => (
              <Row
                key={candidate}
                {...{ shown, info, value, candidate, columns, row, text, scale }}
                {...{ hasFolded, hasDrawn }}
                isClosest={nearest.includes(candidate)}
                looked={place ?? { candidate: 0, concept: columns[0] + 1 }}
                look={(place) => (looked.value = place)}
              />
            ))}
          </tbody>
        </table>
      </SideScroll>
      <p class="hint swipe">Swipe the table sideways for the other concepts.</p>
      <div class="heat-side">
        {misfit() === null && (
          <p data-testid="closeness">
            {closestWords(value, value.index, distance, nearest)} {openWords(shown)}
          </p>
        )}
        <Difference place={place}>
          {place !== null && lookedAt >= 0 && (
            <span data-testid="raw-distance">
              This concept counts {text(rows[place.candidate].cells[lookedAt])} of{' '}
              {text(rows[place.candidate].total)}.
            </span>
          )}
        </Difference>
        <p class="hint">
          Each number says how far a candidate is from the imagined panel in one concept. A row adds
          up to the distance on its right: the less, the closer.
          {rows.some(({ cells }) => cells.some((cell) => cell < 0)) &&
            ' A number below zero takes away from what other concepts count.'}
          {hasDrawn && ` ${drawnWords(rows)}`}
        </p>
        {hasCalibrated && <DistanceChoice distance={distance} />}
        <p class="hint">{ABOUT_DISTANCES[distance]}</p>
        {unused > 0 && (
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
        )}
      </div>
    </div>
  );
}
