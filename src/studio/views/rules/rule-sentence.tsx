/**
 * What the rule at the red dot is called. As everywhere on the page, a rule that CRAB read is named from the
 * symbols of all nine panels. One concept alone may not tell rules apart: if the known matrices around the
 * dot have another rule, that is said. A rule of one's own has no symbols behind it, only these matrices.
 */
import type {
  AnswerView,
  NamedView,
  RuleView,
  RuleWords,
  TrueRule,
} from '../../engine/protocol.js';
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
function readFromSymbols(words: RuleWords, answer: AnswerView): NamedView | undefined {
  const named = answer.named?.find(({ key }) => key === words.key);
  return named?.rules.length === 0 || named?.rules.includes(words.rule) ? undefined : named;
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
  const other = rule.imposed ? undefined : readFromSymbols(words, answer);
  const { rules, meaning } = other ?? { rules: [words.rule], meaning: words.meaning };
  const isTrue = truth !== undefined && rules.includes(truth.rule);
  return (
    <>
      {words.subject}: {other === undefined && words.share < CLEAR_SHARE && 'unclear, perhaps '}
      {rules.map((each, i) => (
        <span key={each}>
          {i > 0 && ' or '}
          <strong>
            <RuleTerm rule={each} meaning={meaning} />
          </strong>
        </span>
      ))}
      {meaning !== '' && `, ${meaning}`}
      {isTrue && '. That is true'}
      {truth !== undefined && !isTrue && (
        <span>
          {'. In truth '}
          <strong>
            <RuleTerm rule={truth.rule} meaning={truth.meaning} />
          </strong>
          , {truth.meaning}
        </span>
      )}
      .<span class="aside">{other === undefined ? shareWords(words) : otherWords(words)}</span>
    </>
  );
}
