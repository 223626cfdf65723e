/**
 * A picture of the machine, live for the matrix at hand: panels, their concepts as symbols, one rule for
 * each, what the rules predict, and the painted panel. Every part tells its number when it is pointed at.
 */
import { useSignal } from '@preact/signals';
import { findLayout } from '../../../../matrix/index.js';
import { subjectsOf } from '../../../engine/words.js';
import type { AnswerView, MatrixView } from '../../../engine/protocol.js';
import { panelSentence } from '../../../parts/certainty.js';
import { EmptyMatrix, MatrixGrid, POSITIONS } from '../../../parts/matrix-grid.js';
import { Blank, Drawing, Pixels } from '../../../parts/panel.js';
import { holdingRule, RuleTable } from '../../../parts/rule-table.js';
import { choice, ready, settings } from '../../../state/store.js';
import { Arrow, AttributeRow } from './attribute-row.js';
import { Looked, Part } from './part.js';

/** Stages with the paper's symbols for them: Section 3, "Module Instantiation". */
const STAGES = {
  panels: ['Panels', 'x', 'C'],
  concepts: ['Concepts', 'zᵐ', 'C'],
  rules: ['One rule for each', 'rᵐ', ''],
  predicted: ['Prediction', 'zᵐ', 'T'],
  painted: ['Painted panel', 'x', 'T'],
} as const;

const FORMULAS = [
  ['zᵐ', 'c', 'f_enc(x_c)', 'the encoder reads concepts from every panel that is there'],
  ['rᵐ', '', 'fᵐ_rule(zᵐ_C)', 'one parser for each concept reads its rule'],
  ['zᵐ', 'T', 'fᵐ_target(zᵐ_C, rᵐ)', 'one predictor for each concept follows the rule'],
  ['x', 'T', 'f_dec(z_T)', 'the decoder paints what was predicted'],
] as const;

/** A formula with its indices set low: `f_enc(x_c)`. */
function Formula({ text }: { readonly text: string }) {
  const pieces = text.split(/_([a-zA-Z]+)/);
  return <>{pieces.map((piece, i) => (i % 2 === 1 ? <sub key={i}>{piece}</sub> : piece))}</>;
}

function StageHead({
  stage,
  withSymbols,
}: {
  readonly stage: keyof typeof STAGES;
  readonly withSymbols: boolean;
}) {
  const [name, symbol, index] = STAGES[stage];
  return (
    <p class="stage-head">
      {name}
      {withSymbols && (
        <span class="math">
          {' '}
          {symbol}
          <sub>{index}</sub>
        </span>
      )}
    </p>
  );
}

function Panels({
  shown,
  missing,
}: {
  readonly shown: MatrixView;
  readonly missing: readonly number[];
}) {
  return (
    <MatrixGrid label="The panels it sees">
      {POSITIONS.map((position) => {
        const panel = shown.panels[position - 1];
        const isMissing = missing.includes(position) || panel === null;
        const said = isMissing
          ? 'missing, so the machine never sees it'
          : `${panel.alt}; 64 × 64 grey values go in`;
        return (
          <div key={position} class={`cell${isMissing ? ' open' : ''}`} data-position={position}>
            <Part
              text={`Panel ${position}: ${said}.`}
              kind="whole"
              cell={`panel ${position}`}
              isFirst={position === 1}
            >
              {isMissing ? (
                <Blank label={`panel ${position} is missing`} />
              ) : (
                <Drawing panel={panel} />
              )}
            </Part>
          </div>
        );
      })}
    </MatrixGrid>
  );
}

function Rows({ shown, answer }: { readonly shown: MatrixView; readonly answer: AnswerView }) {
  if (answer.named === null) return <RuleTable matrix={shown} info={ready.value} answer={answer} />;
  return (
    <ul class="machine-list">
      {answer.named.map((named) => (
        <AttributeRow
          key={named.key}
          named={named}
          truth={holdingRule(shown, named.key) ?? null}
          rules={answer.rules}
          missing={answer.missing}
        />
      ))}
    </ul>
  );
}

function Painted({ answer }: { readonly answer: AnswerView | null }) {
  const image = answer?.images.at(-1);
  if (answer === null || image === undefined) {
    return <Blank label="not painted yet" busy={choice.value.pending} />;
  }
  const position = answer.missing[answer.missing.length - 1];
  const sure = answer.sureness?.at(-1);
  const said = sure === undefined ? '' : panelSentence(sure);
  const text = `Panel ${position} as it was painted; all of it took ${Math.round(answer.milliseconds)} ms. ${said}`;
  return (
    <>
      <Part text={text} kind="whole imagined">
        <Pixels values={image} label={`panel ${position} as CRAB imagines it`} />
      </Part>
      <p class="aside">{said}</p>
    </>
  );
}

export function Machine({ shown }: { readonly shown: MatrixView | null }) {
  const looked = useSignal('');
  const withSymbols = useSignal(false);
  const answer = choice.value.value?.answer ?? null;
  const blank = shown?.blank ?? [];
  const missing = answer?.missing ?? (blank.length > 0 ? blank : [9]);
  // As many rows as there will be, so that nothing moves when they are there.
  const rows = subjectsOf(findLayout(settings.value.layout)).length;
  const head = (stage: keyof typeof STAGES) => (
    <StageHead stage={stage} withSymbols={withSymbols.value} />
  );
  return (
    <Looked.Provider value={(text) => (looked.value = text)}>
      <section class="machine" aria-label="The machine at work" data-testid="machine">
        <div class="machine-flow">
          <div class="machine-end">
            {head('panels')}
            {shown === null ? <EmptyMatrix /> : <Panels {...{ shown, missing }} />}
          </div>
          <Arrow />
          <div class="machine-middle" style={{ '--rows': rows }}>
            <div class="machine-heads" aria-hidden={answer?.named === null}>
              {head('concepts')}
              {head('rules')}
              {head('predicted')}
            </div>
            {shown !== null && answer !== null && <Rows {...{ shown, answer }} />}
          </div>
          <Arrow />
          <div class="machine-end painted">
            {head('painted')}
            <Painted answer={answer} />
          </div>
        </div>
        <div class="machine-foot">
          <p class={`machine-detail${looked.value === '' ? '' : ' told'}`} role="status">
            {looked.value ||
              'Point at any part, touch it, or go through them with the Tab and arrow keys.'}
          </p>
          <label class="toggle">
            <input
              type="checkbox"
              checked={withSymbols.value}
              onChange={() => (withSymbols.value = !withSymbols.value)}
            />
            <span>The paper’s symbols</span>
          </label>
        </div>
        {withSymbols.value && (
          <dl class="formulas">
            {FORMULAS.map(([symbol, index, right, words]) => (
              <div key={right}>
                <dt class="math">
                  {symbol}
                  <sub>{index}</sub> = <Formula text={right} />
                </dt>
                <dd>{words}</dd>
              </div>
            ))}
          </dl>
        )}
      </section>
    </Looked.Provider>
  );
}
