/** What is wrong with a candidate, and why CRAB took it, in plain words. */
import { inList } from '../engine/words.js';
import type { AnswerView, CandidateView, MatrixView, TrueRule } from '../engine/protocol.js';

const subjectOf = ({ subject }: TrueRule): string => subject.toLowerCase().replace('/', ' and ');

/** "Candidate 3 breaks the rule of size (larger in each column)."; empty if nothing is known to be wrong. */
export function mistakeWords(index: number, { breaks }: CandidateView): string {
  if (breaks.length === 0) return '';
  const rules = breaks.map((rule) => `${subjectOf(rule)} (${rule.meaning})`);
  const last = rules.pop() ?? '';
  const listed =
    rules.length === 0 ? `rule of ${last}` : `rules of ${rules.join(', ')} and ${last}`;
  return `Candidate ${index + 1} breaks the ${listed}.`;
}

/** How CRAB read the first rule that its candidate breaks; empty if it names no rules. */
export function failureWords({ breaks }: CandidateView, { named }: AnswerView): string {
  const [broken] = breaks;
  if (named === null || broken === undefined) return '';
  const { rules: read = [], meaning, obeyed } = named.find(({ key }) => key === broken.key) ?? {};
  const subject = subjectOf(broken);
  if (read.length === 0) return `CRAB found no rule for ${subject}, so it guessed.`;
  if (!read.includes(broken.rule)) {
    const what = meaning ? ` (${meaning})` : '';
    return `CRAB took the rule of ${subject} for another one: ${read.join(' or ')}${what}.`;
  }
  return obeyed === true
    ? `CRAB read the rule of ${subject} right, but what it painted is closer to a wrong candidate.`
    : `CRAB read the rule of ${subject} right, but painted a panel that breaks it.`;
}

/** What a person sees who looks at a wrong choice: the answer may look more like the painted panel. */
export const lookalikeWords = (right: readonly number[], lookalike: number | null): string =>
  lookalike !== null && right.includes(lookalike)
    ? `To the eye the answer, candidate ${lookalike + 1}, is closer to what it painted; but CRAB compares its concepts, not pictures.`
    : '';

/** Names the second right candidate, once the answer is told; empty if there is one alone. */
export function alsoRightWords({ target, right }: Pick<MatrixView, 'target' | 'right'>): string {
  const others = right.filter((index) => index !== target).map((index) => String(index + 1));
  if (others.length === 0 || target === null) return '';
  const which = `${others.length === 1 ? 'Candidate' : 'Candidates'} ${inList(others)}`;
  return `${which} ${others.length === 1 ? 'is' : 'are'} right as well as ${target + 1}: the panels allow other rules too.`;
}

/** What a rule about how many figures there are leaves open; empty if there is none. */
export const openWords = ({ isOpen }: MatrixView): string =>
  isOpen ? 'The rule here says how many, not where: several panels are right.' : '';
