/**
 * Candidates against concepts: shares of their distances from the imagined panel. Calibrated distances
 * weigh all concepts together, so that one may take away what another adds: a share below zero speaks for
 * a candidate as little as one of zero, and its cell is empty too. The whole of a row counts it as it is,
 * and is told as a multiple of the closest one's; the numbers themselves are told of the cell looked at.
 */
import { useSignal } from '@preact/signals';
import type { CandidateScore, ChoiceView, MatrixView, ModelInfo } from '../../engine/protocol.js';
import { shortTitle } from '../../engine/words.js';
import { badgeOf } from '../../parts/candidate-marks.js';
import { closenessWords } from '../../parts/certainty.js';
import { openWords } from '../../parts/mistakes.js';
import { misfit } from '../../parts/misfit-notice.js';
import { Drawing } from '../../parts/panel.js';
import { change, choice, matrix, ready, settings } from '../../state/store.js';
import { DISTANCES } from '../../state/settings.js';
import { Difference } from './difference.js';

const DISTANCE_NAMES = { calibrated: 'Calibrated', l2: 'Plain L2' } as const;

/** A cell of the map: candidate from 0, concept from 1. */
export interface Place {
  readonly candidate: number;
  readonly concept: number;
}

function sharesOf(score: CandidateScore, distance: 'calibrated' | 'l2'): readonly number[] {
  return distance === 'calibrated' ? (score.calibratedShares ?? score.l2Shares) : score.l2Shares;
}

function DistanceChoice({ hasCalibrated }: { readonly hasCalibrated: boolean }) {
  const { distance } = settings.value;
  return (
    <fieldset class="segmented">
      <legend class="unseen">Distance</legend>
      {DISTANCES.map((name) => (
        <label key={name}>
          <input
            type="radio"
            name="distance"
            checked={(hasCalibrated ? distance : 'l2') === name}
            disabled={name === 'calibrated' && !hasCalibrated}
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

/** How far a candidate is, as people say it: "closest", "29×" as far as that. Distances are squares. */
function distanceWords(total: number, least: number): string {
  if (total === least) return 'closest';
  const times = Math.sqrt(total / Math.max(1e-9, least));
  return `${times < 9.95 ? times.toFixed(1) : Math.round(times).toLocaleString('en')}×`;
}

/** A distance as it was worked out. */
const raw = (value: number): string =>
  value < 100 ? value.toPrecision(2) : Math.round(value).toLocaleString('en');

/** The name of a concept as narrow as a column: "Num/pos 1". */
const narrow = (name: string): string => shortTitle(name).replace('/', '/\u200b');

function Row({
  shown,
  info,
  value,
  candidate,
  columns,
  shares,
  total,
  least,
  scale,
  looked,
  look,
}: {
  readonly shown: MatrixView;
  readonly info: ModelInfo;
  readonly value: ChoiceView;
  readonly candidate: number;
  /** Concepts that are shown, from 0. */
  readonly columns: readonly number[];
  readonly shares: readonly number[];
  /** The whole distance. */
  readonly total: number;
  /** That of the closest candidate. */
  readonly least: number;
  readonly scale: number;
  readonly looked: Place;
  readonly look: (place: Place) => void;
}) {
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
          {candidate + 1}
          <span class="row-tags">
            {isChosen && <span class="tag crab">CRAB</span>}
            {badge !== '' && <span class="tag you">{badge}</span>}
          </span>
        </div>
      </th>
      {columns.map((m) => {
        const against = Math.max(0, shares[m]);
        const heat = Math.min(1, against / scale);
        const place = { candidate, concept: m + 1 };
        return (
          <td key={m}>
            <button
              type="button"
              class="heat"
              data-cell={`${candidate} ${m + 1}`}
              tabIndex={looked.candidate === candidate && looked.concept === m + 1 ? 0 : -1}
              style={{ '--heat': Math.sqrt(heat).toFixed(3) }}
              aria-label={`${info.concepts[m]} of candidate ${candidate + 1}: distance ${against.toFixed(2)}`}
              onMouseEnter={() => look(place)}
              onFocus={() => look(place)}
              onClick={() => look(place)}
            />
          </td>
        );
      })}
      <td class="total" title={`Distance ${raw(total)}`}>
        {distanceWords(total, least)}
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

export function HeatMap() {
  const looked = useSignal<Place | null>(null);
  const isUnfolded = useSignal(false);
  const [shown, info, value] = [matrix.value.value, ready.value, choice.value.value];
  if (shown === null || info === null || value === null || value.index === null) {
    return (
      <div class="heat-place">
        {value !== null && (
          <p class="hint">Where a matrix has no candidates there is nothing to compare.</p>
        )}
      </div>
    );
  }
  const hasCalibrated = value.candidates[0].calibrated !== null;
  const distance = hasCalibrated ? settings.value.distance : 'l2';
  const rows = value.candidates.map((score) => sharesOf(score, distance));
  const scale = strongest(rows);
  const painted = value.candidates.map((each) => (distance === 'l2' ? 0 : (each.painted ?? 0)));
  const totals = rows.map((shares, i) => shares.reduce((sum, share) => sum + share, painted[i]));
  const least = Math.min(...totals);
  const place = looked.value;
  const used = info.concepts.flatMap((_, m) => (info.unused.includes(m + 1) ? [] : [m]));
  const columns = isUnfolded.value ? info.concepts.map((_, m) => m) : used;
  const folded = info.concepts.length - used.length;
  return (
    <div class="heat-columns">
      <div class="heat-scroll">
        <table
          class="heat-map"
          style={{ '--concepts': columns.length }}
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
              <th scope="col" class="total">
                Distance
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((shares, candidate) => (
              <Row
                key={candidate}
                {...{ shown, info, value, candidate, columns, shares, scale, least }}
                total={totals[candidate]}
                looked={place ?? { candidate: 0, concept: columns[0] + 1 }}
                look={(place) => (looked.value = place)}
              />
            ))}
          </tbody>
        </table>
      </div>
      <div class="heat-side">
        {misfit() === null && (
          <p data-testid="closeness">
            {closenessWords(value.index, value)} {openWords(shown)}
          </p>
        )}
        <Difference place={place}>
          {place !== null && (
            <span data-testid="raw-distance">
              Its distance is {raw(totals[place.candidate])} in all, by this concept{' '}
              {raw(Math.max(0, rows[place.candidate][place.concept - 1]))}.
            </span>
          )}
        </Difference>
        <p class="hint">
          The last column is the distance from the imagined panel, all concepts together: how many
          times as far it is as the closest candidate.
          {painted.map(
            (added, i) =>
              added > 0 &&
              ` Candidate ${i + 1} counts as further away, because it came out worse when drawn from these concepts.`,
          )}
        </p>
        <DistanceChoice hasCalibrated={hasCalibrated} />
        {distance === 'calibrated' && (
          <p class="hint">
            Calibrated distances weigh all concepts together by how well each is usually foretold;
            plain L2, the paper’s, adds them up as they are.
          </p>
        )}
        {folded > 0 && (
          <label class="toggle">
            <input
              type="checkbox"
              checked={isUnfolded.value}
              onChange={() => (isUnfolded.value = !isUnfolded.value)}
            />
            <span>
              Show {folded} unused concept{folded === 1 ? '' : 's'}
            </span>
          </label>
        )}
      </div>
    </div>
  );
}
