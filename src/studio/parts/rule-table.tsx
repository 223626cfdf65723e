/**
 * The rules of a matrix: what is true beside what CRAB read, attribute by attribute, in the same words.
 * With a vocabulary they are named from the symbols of all nine panels; without one, from the known
 * matrices closest to the rule of the concept that tells of the attribute best.
 */
import type { AnswerView, MatrixView, ModelInfo, RuleView, TrueRule } from '../engine/protocol.js';
import { model } from '../state/store.js';
import { ruleCertainty } from './certainty.js';
import { AgreementIcon } from './icons.js';
import { RuleTerm } from './term.js';

/** What was read of one attribute. */
interface Reading extends Pick<TrueRule, 'key' | 'subject'> {
  /** Every rule that fits. */
  readonly rules: readonly string[];
  /** What the rule does; empty unless one alone fits. */
  readonly meaning: string;
  /** Whether the painted panel follows them. */
  readonly obeyed: boolean;
  /** How sure that is, or by which concept it was read. */
  readonly note: string;
}

/** For each attribute the reading of the concept that tells of it best. */
function readByConcepts(rules: readonly RuleView[], info: ModelInfo | null): Reading[] {
  const best = new Map<string, Reading & { readonly skill: number }>();
  for (const { words, concept } of rules) {
    if (words === null) continue;
    const { key, subject, skill } = words;
    if ((best.get(key)?.skill ?? -1) >= skill) continue;
    const note = `by ${info?.concepts[concept - 1].replace('/', '/\u200b') ?? concept}`;
    const { rule, meaning } = words;
    best.set(key, { key, subject, rules: [rule], meaning, obeyed: true, note, skill });
  }
  return [...best.values()];
}

function readingsOf(answer: AnswerView, info: ModelInfo | null): ReadonlyMap<string, Reading> {
  const found =
    answer.named === null
      ? readByConcepts(answer.rules, info)
      : answer.named
          .filter(({ rules }) => rules.length > 0)
          .map((each) => ({ ...each, note: ruleCertainty(each) }));
  return new Map(found.map((reading) => [reading.key, reading]));
}

/** The true rule on a subject; undefined if it is not known, or if panels changed by hand break it. */
export const holdingRule = (
  { rules, broken }: MatrixView,
  subject: string | undefined,
): TrueRule | undefined => rules.find(({ key }) => key === subject && !broken.includes(key));

type Line = Pick<TrueRule, 'key' | 'subject'> & {
  readonly truth: TrueRule | null;
  readonly reading: Reading | null;
  /** Whether panels changed by hand break the true rule. */
  readonly isBroken: boolean;
};

function linesOf({ rules, broken }: MatrixView, readings: ReadonlyMap<string, Reading>): Line[] {
  if (rules.length > 0) {
    return rules.map((truth) => ({
      key: truth.key,
      subject: truth.subject,
      truth,
      reading: readings.get(truth.key) ?? null,
      isBroken: broken.includes(truth.key),
    }));
  }
  return [...readings.values()].map((reading) => ({
    ...reading,
    truth: null,
    reading,
    isBroken: false,
  }));
}

/** Whether what was read has the true rule in it; null if there is nothing to compare. */
const agrees = ({ truth, reading, isBroken }: Line): boolean | null =>
  truth === null || isBroken || reading === null ? null : reading.rules.includes(truth.rule);

function Verdict({ line }: { readonly line: Line }) {
  const found = agrees(line);
  if (found === null) return null;
  // A tick beside a rule that the painted panel breaks would say that all is well.
  const isSame = found && line.reading?.obeyed === true;
  return (
    <span class={`agreement ${isSame ? 'same' : 'other'}`}>
      <AgreementIcon isSame={isSame} />
      <span class="unseen">{isSame ? 'the same' : found ? 'not followed' : 'another'}</span>
    </span>
  );
}

function Read({
  reading,
  known,
  info,
  none,
}: {
  readonly reading: Reading | null;
  /** What the true rule does, which stands beside it. */
  readonly known: string | undefined;
  readonly info: ModelInfo | null;
  /** Said if nothing was read. */
  readonly none: string;
}) {
  if (info === null) {
    const isComing = model.value.phase !== 'failed';
    return <span class="aside">{isComing ? 'waiting for the model' : 'there is no model'}</span>;
  }
  if (reading === null) return <span class="aside">{none}</span>;
  return (
    <>
      {reading.rules.map((rule, i) => (
        <>
          {i > 0 && ' or '}
          <RuleTerm rule={rule} meaning={reading.meaning} />
        </>
      ))}
      {reading.meaning !== known && <span class="aside">{reading.meaning}</span>}
      <span class="aside">{reading.note}</span>
    </>
  );
}

export function RuleTable({
  matrix,
  info,
  answer,
}: {
  readonly matrix: MatrixView;
  readonly info: ModelInfo | null;
  /** What the model made of it; null before. */
  readonly answer: AnswerView | null;
}) {
  const lines = linesOf(matrix, answer === null ? new Map() : readingsOf(answer, info));
  const hasTruth = matrix.rules.length > 0;
  if (lines.length === 0) return null;
  const differs = lines.some((line) => agrees(line) === false);
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
                  <RuleTerm rule={line.truth.rule} meaning={line.truth.meaning} />
                  {line.isBroken ? (
                    <span class="aside">broken by the changed panels</span>
                  ) : (
                    <span class="aside meaning">{line.truth.meaning}</span>
                  )}
                </td>
              )}
              <td>
                <Verdict line={line} />
                <span>
                  <Read
                    reading={line.reading}
                    known={line.isBroken ? undefined : line.truth?.meaning}
                    info={answer === null ? null : info}
                    none={answer?.named === null ? 'no concept tells of it here' : 'found no rule'}
                  />
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="aside note">
        {answer?.named === null
          ? 'CRAB’s rules have no names; each is called after the known matrices closest to it.'
          : 'A rule counts as read if it holds for the symbols CRAB sees in the panels and in the one it imagines.'}
        {differs && ' One rule can pass for another where both paint the same panel.'}
      </p>
    </>
  );
}

/** True rules alone, for matrices that no model has looked at. */
export function TrueRules({ rules }: { readonly rules: readonly TrueRule[] }) {
  return (
    <ul class="rules">
      {rules.map(({ key, subject, rule, meaning }) => (
        <li key={key}>
          {subject}: <RuleTerm rule={rule} meaning={meaning} />
        </li>
      ))}
    </ul>
  );
}
