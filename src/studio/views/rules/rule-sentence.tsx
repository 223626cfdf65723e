/**
 * What the rule at the red dot is called. As everywhere on the page, a rule that CRAB read is named from the
 * symbols of all nine panels. One concept alone may not tell rules apart: if the known matrices around the
 * dot have another rule, that is said. A rule of one's own has no symbols behind it, only these matrices.
 */
import type { AnswerView, RuleView, RuleWords, TrueRule } from '../../engine/protocol.js';
import { RuleTerm } from '../../parts/term.js';

/** Below this share of the known matrices around, the name is only a guess: several rules lie in one place. */
const CLEAR_SHARE = 0.7;

/** How many of the known matrices around agree. */
function shareWords({ share }: RuleWords): string {
  const has = `${Math.round(100 * share)}% have this rule`;
  return share < CLEAR_SHARE
    ? `Several rules lie in this place; of the known matrices around it ${has}.`
    : `CRAB has no names for rules: this one is called after the known matrices around it, of which ${has}.`;
}

/** Why the place on the map would have another name. */
const otherWords = ({ share, rule }: RuleWords): string =>
  `Named from the symbols of the panels, as in Why. This concept alone does not tell it apart: ${Math.round(100 * share)}% of the known matrices around the dot have ${rule}.`;

/** The rules that the symbols of the panels follow, if they are others than the place alone tells. */
function readFromSymbols(words: RuleWords, answer: AnswerView): readonly string[] {
  const rules = answer.named?.find(({ key }) => key === words.key)?.rules ?? [];
  return rules.includes(words.rule) ? [] : rules;
}

interface RuleSentenceProps {
  /** Of the concept. */
  readonly name: string;
  readonly rule: RuleView;
  readonly answer: AnswerView;
  readonly truth: TrueRule | undefined;
}

export function RuleSentence({ name, rule, answer, truth }: RuleSentenceProps) {
  const { words } = rule;
  if (words === null) {
    return rule.isFar ? (
      <>{name}: no known matrix has a rule near this one, so it has no name.</>
    ) : (
      <>{name}: its rules tell of no single attribute.</>
    );
  }
  const others = rule.imposed ? [] : readFromSymbols(words, answer);
  const isOther = others.length > 0;
  return (
    <>
      {words.subject}: {!isOther && words.share < CLEAR_SHARE && 'unclear, perhaps '}
      {(isOther ? others : [words.rule]).map((each, i) => (
        <span key={each}>
          {i > 0 && ' or '}
          <strong>
            <RuleTerm rule={each} meaning={isOther ? undefined : words.meaning} />
          </strong>
        </span>
      ))}
      {truth !== undefined && (
        <span>
          {'; in truth '}
          <strong>
            <RuleTerm rule={truth.rule} meaning={truth.meaning} />
          </strong>
        </span>
      )}
      <span class="aside">{isOther ? otherWords(words) : shareWords(words)}</span>
    </>
  );
}
