/** The end of a test: the score beside people and CRAB, every item with its time, and the tables. */
import { useEffect } from 'preact/hooks';
import { median, percent } from '../../../base/index.js';
import type { SampledSpec } from '../../engine/protocol.js';
import { Command } from '../../parts/command.js';
import { saveFile } from '../../parts/save-file.js';
import { StateLink } from '../../parts/state-link.js';
import { engine, ofMatrix, settings } from '../../state/store.js';
import {
  ANONYMOUS,
  humanPercent,
  items,
  responsesCsv,
  session,
  startOver,
  type Given,
} from '../../state/test-session.js';

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;
const isRight = ({ choice, right }: Given): boolean => right.includes(choice);

interface LineProps {
  readonly name: string;
  /** For its colour. */
  readonly kind: 'you' | 'crab' | 'people';
  /** 0..1, or null before it is known. */
  readonly share: number | null;
  readonly detail: string;
}

function Line({ name, kind, share, detail }: LineProps) {
  return (
    <tr data-who={name}>
      <th scope="row">{name}</th>
      <td class="figure">{share === null ? '–' : percent(share)}</td>
      <td class="bar">
        <span class={`score-bar ${kind}`} aria-hidden="true">
          <span style={{ width: `${100 * (share ?? 0)}%` }} />
        </span>
      </td>
      <td class="detail">{detail}</td>
    </tr>
  );
}

function Scores() {
  const { given, models } = session.value;
  const right = given.filter(isRight).length;
  const asked = given.flatMap((_, i) => (i in models ? [i] : []));
  const scored = asked.filter((i) => models[i] !== null);
  const modelRight = scored.filter((i) => given[i].right.includes(models[i] ?? 0)).length;
  const isDone = asked.length === given.length;
  const open = items.value.length - given.length;
  const absent = asked.length - scored.length;
  const modelWords = !isDone
    ? `answering: ${asked.length} of ${given.length}`
    : `${modelRight} of ${scored.length}${absent > 0 ? `; no model here for ${absent}` : ''}`;
  const { testLayouts } = settings.value;
  return (
    <table class="test-scores" data-testid="scores" aria-busy={!isDone}>
      <caption class="unseen">Share of right answers</caption>
      <tbody>
        <Line
          name="You"
          kind="you"
          share={right / given.length}
          detail={`${right} of ${given.length}${open > 0 ? `; ended with ${open} left` : ''}`}
        />
        <Line
          name="People"
          kind="people"
          share={humanPercent(testLayouts) / 100}
          detail="on such problems of RAVEN (Zhang et al. 2019)"
        />
        <Line
          name="CRAB"
          kind="crab"
          share={!isDone || scored.length === 0 ? null : modelRight / scored.length}
          detail={modelWords}
        />
        <Line name="Chance" kind="people" share={1 / 8} detail="one of eight candidates" />
      </tbody>
    </table>
  );
}

/** The item as Play shows it after its answer. */
const answeredItem = ({ layout, seed, index, difficulty }: SampledSpec, picked: number) =>
  ofMatrix({ tab: 'play', layout, model: '', seed, index, difficulty, picked, revealed: true });

function ItemTable() {
  const { given, models } = session.value;
  // While CRAB answers, the page goes from one configuration to the next.
  const isDone = given.every((_, i) => i in models);
  return (
    <div class="table-scroll">
      <table class="runs" data-testid="answers">
        <thead>
          <tr>
            <th scope="col">Item</th>
            <th scope="col">You</th>
            <th scope="col">Answer</th>
            <th scope="col">CRAB</th>
            <th scope="col">Time</th>
          </tr>
        </thead>
        <tbody>
          {given.map((each, i) => (
            <tr key={items.value[i].name} class={isRight(each) ? 'right' : ''}>
              <th scope="row">
                {isDone ? (
                  <StateLink to={answeredItem(items.value[i].spec, each.choice)}>
                    {items.value[i].name}
                  </StateLink>
                ) : (
                  items.value[i].name
                )}
              </th>
              <td>
                {each.choice === 0 ? '–' : each.choice}
                <span class="unseen">{isRight(each) ? ', right' : ', wrong'}</span>
              </td>
              <td>{each.right.join(' or ')}</td>
              <td>{models[i] ?? '–'}</td>
              <td>{seconds(each.milliseconds)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const saveResponses = (): void =>
  saveFile({
    name: 'responses.csv',
    type: 'text/csv',
    bytes: new TextEncoder().encode(responsesCsv()),
  });

const saveKey = async (): Promise<void> =>
  saveFile(await engine.answerKey(items.peek().map(({ spec }) => spec)));

export function Outcome() {
  const name = session.value.respondent;
  useEffect(() => scrollTo(0, 0), []);
  const hasTwo = session.value.given.some(({ right }) => right.length > 1);
  const times = session.value.given.map(({ milliseconds }) => milliseconds);
  return (
    <section class="test-outcome" aria-label="Result">
      <h2>Done{name === ANONYMOUS ? '' : `, ${name}`}</h2>
      <Scores />
      <p class="hint">
        {seconds(times.reduce((sum, each) => sum + each, 0))} in all; the median item took{' '}
        {seconds(median(times))}.
      </p>
      <div class="actions">
        <button type="button" class="main" onClick={saveResponses}>
          Responses (CSV)
        </button>
        <button type="button" onClick={() => void saveKey()}>
          Answer key (CSV)
        </button>
        <button type="button" class="quiet" onClick={startOver}>
          Again from the start
        </button>
      </div>
      <p class="hint">
        <Command text="crab grade responses.csv --items key.csv --model zoo --out report.html" />
      </p>
      <p class="hint">Choose an item to see what you chose, the answer and its rules.</p>
      <ItemTable />
      {hasTwo && (
        <p class="hint">
          Two answers: the panels of such an item allow other rules too. Either counts as right,
          here and in <code>crab grade</code>.
        </p>
      )}
    </section>
  );
}
