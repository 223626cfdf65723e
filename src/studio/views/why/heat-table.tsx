/** The table of the heat map: a row for each candidate, a column for each concept, and what they add up to. */
import type { ChoiceView, MatrixView, ModelInfo } from '../../engine/protocol.js';
import { shortTitle } from '../../engine/words.js';
import { badgeOf } from '../../parts/candidate-marks.js';
import { Drawing } from '../../parts/panel.js';
import type { HeatNumbers, Place } from './heat-numbers.js';

/** The name of a concept as narrow as a column: "Num/pos 1". */
const narrow = (name: string): string => shortTitle(name).replace('/', '/\u200b');

interface HeatTableProps {
  readonly shown: MatrixView;
  readonly info: ModelInfo;
  readonly value: ChoiceView;
  readonly numbers: HeatNumbers;
  /** The cell that is looked at; null for none. */
  readonly place: Place | null;
  readonly look: (place: Place) => void;
}

interface RowProps extends HeatTableProps {
  readonly candidate: number;
}

function RowHead({ shown, value, candidate }: RowProps) {
  const badge = badgeOf(shown, candidate);
  return (
    <th scope="row">
      <div class="row-head">
        <span class="thumb">
          <Drawing panel={shown.candidates[candidate]} />
        </span>
        <span class="unseen">Candidate </span>
        <span class="row-number">{candidate + 1}</span>
        <span class="row-tags">
          {value.index === candidate && <span class="tag crab">CRAB</span>}
          {badge !== '' && <span class="tag you">{badge}</span>}
        </span>
      </div>
    </th>
  );
}

/** How far a candidate is in one concept; `at`: its column, from 0. */
function Cell({ info, numbers, candidate, at, place, look }: RowProps & { readonly at: number }) {
  const { columns, rows, scale, text } = numbers;
  const m = columns[at];
  const share = rows[candidate].cells[at];
  const heat = Math.min(1, Math.max(0, share) / scale);
  // The Tab key stops at the cell that is looked at; at the first one before that.
  const stop = place ?? { candidate: 0, concept: columns[0] + 1 };
  const own = { candidate, concept: m + 1 };
  return (
    <td>
      <button
        type="button"
        class="heat"
        data-cell={`${candidate} ${m + 1}`}
        tabIndex={stop.candidate === candidate && stop.concept === m + 1 ? 0 : -1}
        style={{ '--heat': Math.sqrt(heat).toFixed(3) }}
        aria-label={`${info.concepts[m]} of candidate ${candidate + 1}: ${text(share)}`}
        onMouseEnter={() => look(own)}
        onFocus={() => look(own)}
        onClick={() => look(own)}
      >
        {text(share)}
      </button>
    </td>
  );
}

function Row(props: RowProps) {
  const { value, candidate, numbers } = props;
  const { columns, rows, hasFolded, hasDrawn, closest, text } = numbers;
  const { folded, drawn, total } = rows[candidate];
  return (
    <tr class={value.index === candidate ? 'chosen' : ''}>
      <RowHead {...props} />
      {columns.map((m, at) => (
        <Cell key={m} {...props} at={at} />
      ))}
      {hasFolded && <td class="added">{text(folded)}</td>}
      {hasDrawn && (
        <td class="added drawn">
          {drawn === null ? <span class="unseen">not drawn</span> : text(drawn)}
        </td>
      )}
      <td class="total">
        {text(total)}
        {closest.includes(candidate) && <span class="closest"> closest</span>}
        {drawn !== null && <span class="narrow-only drawn-part"> drawing {text(drawn)}</span>}
      </td>
    </tr>
  );
}

function Head({ info, numbers }: HeatTableProps) {
  const { columns, hasFolded, hasDrawn } = numbers;
  return (
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
          <th scope="col" class="added drawn" title="How much worse than the best it was drawn">
            Drawing
          </th>
        )}
        <th scope="col" class="total">
          Distance
        </th>
      </tr>
    </thead>
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

export function HeatTable(props: HeatTableProps) {
  const { numbers, place } = props;
  const { columns, rows, hasFolded, hasDrawn } = numbers;
  return (
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
      <Head {...props} />
      <tbody>
        {rows.map((_, candidate) => (
          <Row key={candidate} {...props} candidate={candidate} />
        ))}
      </tbody>
    </table>
  );
}
