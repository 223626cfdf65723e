/** One attribute on its way through the machine: its symbols, its rule, and what the rule predicts. */
import type { NamedView, RuleView, SymbolView, TrueRule } from '../../../engine/protocol.js';
import { inList, shortTitle } from '../../../engine/words.js';
import { certaintyWithNumber, ruleCertainty } from '../../../parts/certainty.js';
import { AgreementIcon } from '../../../parts/icons.js';
import { moveInTable } from '../../../parts/move-in-table.js';
import { RuleName } from '../../../parts/term.js';
import { SymbolGlyph } from '../../../parts/symbol-glyph.js';
import { ready } from '../../../state/store.js';
import { Part } from './part.js';

export function Arrow() {
  return (
    <svg class="arrow" viewBox="0 0 24 12" aria-hidden="true">
      <path d="M1 6h20M16 1.500l5 4.500-5 4.500" fill="none" stroke="currentColor" />
    </svg>
  );
}

/** What a concept (1..M) is called on the whole page. */
const titleOf = (concept: number): string =>
  shortTitle(ready.value?.concepts[concept - 1] ?? `Concept ${concept}`);

const listed = (concepts: readonly number[]): string =>
  `concept${concepts.length === 1 ? '' : 's'} ${inList(concepts.map(titleOf))}`;

const vector = (values: readonly number[]): string =>
  `(${values.map((value) => value.toFixed(2).replace('-', '−')).join(', ')})`;

/** The symbol of one panel, with what it says of itself. */
function Symbol({
  named,
  symbol,
  position,
  isMissing,
  kind,
  cell,
}: {
  readonly named: NamedView;
  readonly symbol: SymbolView | null;
  readonly position: number;
  readonly isMissing: boolean;
  readonly kind: string;
  readonly cell?: string;
}) {
  const words = symbol?.words ?? 'nothing known';
  const how = isMissing
    ? `predicted, ${certaintyWithNumber(symbol?.probability ?? 0)}`
    : `read from ${listed(named.concepts)}`;
  return (
    <Part
      text={`${named.subject} of panel ${position}: ${words}, ${how}.`}
      kind={`symbol ${kind}${isMissing ? ' predicted' : ''}`}
      cell={cell}
      isFirst={cell === undefined || position === 1}
    >
      {symbol === null ? (
        <span aria-hidden="true">?</span>
      ) : (
        <SymbolGlyph attribute={named.attribute} level={symbol.levels[0]} slots={named.slots} />
      )}
    </Part>
  );
}

function Rule({
  named,
  truth,
  rules,
}: {
  readonly named: NamedView;
  readonly truth: TrueRule | null;
  readonly rules: readonly RuleView[];
}) {
  const { meaning } = named;
  const read = named.rules.length === 0 ? 'no rule that has a name' : named.rules.join(' or ');
  const numbers = named.concepts
    .map((concept) => rules[concept - 1])
    .map(
      (rule) => `${titleOf(rule.concept)}: r = ${vector(rule.vector)} ± ${vector(rule.deviation)}`,
    )
    .join('. ');
  const sure = named.rules.length === 0 ? '' : ruleCertainty(named);
  const isRight = truth === null ? null : named.rules.includes(truth.rule);
  const isSame = isRight === null ? null : isRight && named.obeyed;
  return (
    <Part
      text={`The rule of ${named.subject.toLowerCase()}: ${read}${meaning && ` (${meaning})`}, ${sure}. ${numbers}.`}
      kind="rule"
    >
      <span class="rule-read">
        <RuleName rule={read} />
        {isSame !== null && named.rules.length > 0 && (
          <span class={`agreement ${isSame ? 'same' : 'other'}`}>
            <AgreementIcon isSame={isSame} />
          </span>
        )}
      </span>
      <span class="aside">{meaning}</span>
      <span class="aside">
        {sure}
        {isSame === true && ', and true'}
      </span>
      {isRight === true && !named.obeyed && <span class="aside">it is the true rule</span>}
      {truth !== null && isRight === false && (
        <span class="aside">
          true rule: <RuleName rule={truth.rule} />, {truth.meaning}
        </span>
      )}
    </Part>
  );
}

export function AttributeRow({
  named,
  truth,
  rules,
  missing,
}: {
  readonly named: NamedView;
  readonly truth: TrueRule | null;
  readonly rules: readonly RuleView[];
  readonly missing: readonly number[];
}) {
  const last = missing[missing.length - 1];
  return (
    <li class="machine-row" data-attribute={named.subject}>
      <h3>
        {named.subject.replace('/', '/\u200b')}
        <span class="aside">
          from {named.concepts.length === 1 ? 'one concept' : `${named.concepts.length} concepts`}
        </span>
      </h3>
      <div
        class="symbols"
        role="group"
        aria-label={`${named.subject} of all nine panels`}
        onKeyDown={moveInTable}
      >
        {named.symbols.map((symbol, i) => (
          <Symbol
            key={i}
            {...{ named, symbol }}
            position={i + 1}
            isMissing={missing.includes(i + 1)}
            kind="small"
            cell={`${named.key} ${i + 1}`}
          />
        ))}
      </div>
      <Arrow />
      <Rule {...{ named, truth, rules }} />
      <Arrow />
      <Symbol
        named={named}
        symbol={named.symbols[last - 1]}
        position={last}
        isMissing
        kind="large"
      />
    </li>
  );
}
