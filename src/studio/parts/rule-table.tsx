/**
 * The rules of a matrix: what is true beside what CRAB read, attribute by attribute, in the same words.
 * CRAB sees no attributes; each reading is that of the concept whose rules tell of the attribute best.
 */
import type { MatrixView, ModelInfo, RuleView, RuleWords, TrueRule } from '../engine/protocol.js';
import { model } from '../state/store.js';
import { AgreementIcon } from './icons.js';

interface Reading {
  readonly words: RuleWords;
  readonly concept: number;
}

/** For each attribute the reading of the concept that tells of it best. */
function readingsOf(rules: readonly RuleView[]): ReadonlyMap<string, Reading> {
  const best = new Map<string, Reading>();
  for (const { words, concept } of rules) {
    if (words === null) continue;
    const before = best.get(words.key);
    if (before === undefined || before.words.skill < words.skill) {
      best.set(words.key, { words, concept });
    }
  }
  return best;
}

/** A rule whose sign stays in the line of its word. */
export function RuleName({ rule }: { readonly rule: string }) {
  const [, before, signed] = /^(.*?)(\S+ [+−]\d?)$/.exec(rule) ?? [];
  if (signed === undefined) return <>{rule}</>;
  return (
    <>
      {before}
      <span class="unbroken">{signed}</span>
    </>
  );
}

type Line = Pick<TrueRule, 'key' | 'subject'> & {
  readonly truth: TrueRule | null;
  readonly reading: Reading | null;
};

function linesOf(truth: readonly TrueRule[], readings: ReadonlyMap<string, Reading>): Line[] {
  if (truth.length > 0) {
    return truth.map((rule) => ({ ...rule, truth: rule, reading: readings.get(rule.key) ?? null }));
  }
  return [...readings.values()].map((reading) => ({ ...reading.words, truth: null, reading }));
}

function Verdict({ line: { truth, reading } }: { readonly line: Line }) {
  if (truth === null || reading === null) return null;
  const isSame = truth.rule === reading.words.rule;
  return (
    <span class={`agreement ${isSame ? 'same' : 'other'}`}>
      <AgreementIcon isSame={isSame} />
      <span class="unseen">{isSame ? 'the same' : 'another'}</span>
    </span>
  );
}

function Read({
  reading,
  info,
}: {
  readonly reading: Reading | null;
  readonly info: ModelInfo | null;
}) {
  if (info === null) {
    const isComing = model.value.phase !== 'failed';
    return <span class="aside">{isComing ? 'waiting for the model' : 'there is no model'}</span>;
  }
  if (reading === null) return <span class="aside">no concept tells of it here</span>;
  return (
    <>
      <RuleName rule={reading.words.rule} />
      <span class="aside">by {info.concepts[reading.concept - 1].replace('/', '/\u200b')}</span>
    </>
  );
}

export function RuleTable({
  matrix,
  info,
  rules,
}: {
  readonly matrix: MatrixView;
  readonly info: ModelInfo | null;
  /** What the model read; null before. */
  readonly rules: readonly RuleView[] | null;
}) {
  const lines = linesOf(matrix.rules, readingsOf(rules ?? []));
  const hasTruth = matrix.rules.length > 0;
  if (lines.length === 0) return null;
  const differs = lines.some(
    ({ truth, reading }) => truth !== null && reading !== null && truth.rule !== reading.words.rule,
  );
  return (
    <>
      <table class="rule-table" data-testid="rule-table">
        <thead>
          <tr>
            <th scope="col">
              <span class="unseen">Attribute</span>
            </th>
            {hasTruth && <th scope="col">True rule</th>}
            <th scope="col">CRAB read</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={line.key} data-attribute={line.subject}>
              <th scope="row">{line.subject.replace('/', '/\u200b')}</th>
              {line.truth !== null && (
                <td>
                  <RuleName rule={line.truth.rule} />
                  <span class="aside meaning">{line.truth.meaning}</span>
                </td>
              )}
              <td>
                <Verdict line={line} />
                <span>
                  <Read reading={line.reading} info={rules === null ? null : info} />
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="aside note">
        CRAB’s rules have no names; each is called after the known matrices closest to it.
        {differs && ' One rule can pass for another where both paint the same panel.'}
      </p>
    </>
  );
}

/** True rules alone, for matrices that no model has looked at. */
export function TrueRules({ rules }: { readonly rules: readonly TrueRule[] }) {
  return (
    <ul class="rules">
      {rules.map(({ key, subject, rule }) => (
        <li key={key}>
          {subject}: {rule}
        </li>
      ))}
    </ul>
  );
}
