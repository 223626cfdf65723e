/** What `crab solve` says of what it found: as words and tables, and as JSON. */
import { counted, percent } from '../base/index.js';
import { layoutName, paperName, ruleMeaning, type ConfigurationLayout } from '../matrix/index.js';
import type {
  Alternative,
  Answer,
  Choice,
  NamedRule,
  ProblemInput,
  Solver,
} from '../solver/node.js';
import { askedPanels } from '../solver/node.js';
import { table } from './output.js';

const AND = new Intl.ListFormat('en-GB', { type: 'conjunction' });

/** What was found, with probabilities only where they mean something. */
export interface Finding {
  readonly answer: Pick<Answer, 'missing' | 'rules' | 'symbols'>;
  readonly choice: UncertainChoice | null;
  /** Null without a vocabulary. */
  readonly named: readonly NamedRule[] | null;
  readonly answers: readonly Alternative[] | null;
}

interface UncertainChoice extends Omit<Choice, 'confidence' | 'candidates'> {
  readonly confidence: number | null;
  readonly candidates: readonly (Omit<Choice['candidates'][number], 'probability'> & {
    readonly probability: number | null;
  })[];
}

/** A model is sure of pictures unlike any it has seen, too. Such certainty means nothing: leave it out. */
export function withoutCertainty(answer: Answer, choice: Choice | null): Finding {
  return {
    answer: {
      missing: answer.missing,
      rules: answer.rules.map((rule) => ({ ...rule, categories: null })),
      symbols: null,
    },
    named: null,
    answers: null,
    choice: choice && {
      ...choice,
      confidence: null,
      candidates: choice.candidates.map((candidate) => ({ ...candidate, probability: null })),
    },
  };
}

export const foundNote = (model: string): string => `these are panels of ${model}\n`;

export const redrawnNote = (redrawn: number): string =>
  redrawn === 0
    ? ''
    : `${counted(redrawn, 'picture')} in another style ${redrawn === 1 ? 'was' : 'were'} drawn anew\n`;

export function unknownNote(
  unknown: readonly number[],
  { manifest: { configuration } }: Solver,
  layout: ConfigurationLayout | null,
): string {
  if (unknown.length === 0) return '';
  const panels = `panel${unknown.length > 1 ? 's' : ''} ${unknown.join(', ')}`;
  const verb = unknown.length > 1 ? 'come' : 'comes';
  const isOther = layout !== null && layout.configuration !== configuration;
  const other = isOther ? ` (they look like ${layoutName(layout)})` : '';
  return `this model does not know such pictures: it was trained on ${paperName(configuration)} alone and ${panels} ${verb} out as something else${other}, so what follows is a guess\n`;
}

const fromOne = (indices: readonly number[]): number[] => indices.map((index) => index + 1);

/** Says which candidates cannot be told apart. */
const identicalNote = (choice: UncertainChoice | null): string =>
  (choice?.identical ?? [])
    .map((group) => `candidates ${AND.format(fromOne(group).map(String))} are the same picture\n`)
    .join('');

export function findingJson(
  { answer, choice, named, answers }: Finding,
  input: ProblemInput,
  unknown: readonly number[],
): object {
  return {
    unknown,
    missing: answer.missing,
    rules: answer.rules,
    named:
      named &&
      named.map(({ rules, ...each }) => ({ ...each, rules, meaning: rules.map(ruleMeaning) })),
    symbols: answer.symbols,
    answers: answers && answers.map(({ probability, symbols }) => ({ probability, symbols })),
    choice: choice && {
      ...choice,
      index: choice.index + 1,
      number: choice.index + 1,
      identical: choice.identical.map(fromOne),
    },
    answer: input.answer === null ? null : input.answer + 1,
  };
}

const conceptTitle = (rule: Answer['rules'][number]): string =>
  rule.name ?? `concept ${rule.concept}`;

/** Rules in words: what each attribute does, how sure that is, and whether the imagined panel obeys it. */
function namedTable(named: readonly NamedRule[]): string {
  const rows = named.map(({ attribute, rules, confidence, obeyed, conceptGroup }) => [
    attribute,
    rules.length > 0
      ? rules.map(ruleMeaning).join(', or ')
      : conceptGroup === null
        ? 'no group of concepts tells of it'
        : 'no rule fits',
    rules.length > 0 ? percent(confidence) : '-',
    rules.length > 0 && !obeyed ? 'the imagined panel breaks it' : '',
  ]);
  return table([['attribute', 'rule', 'sure', ''], ...rows]);
}

/** Different answers, as entries of each group; nothing if none were asked for. */
export function answersText(answers: readonly Alternative[] | null, solver: Solver): string {
  if (answers === null) return '';
  const groups = solver.vocabulary?.groups ?? [];
  const rows = answers.map(({ probability, symbols }, i) => [
    String(i + 1),
    percent(probability),
    ...symbols.flatMap((panel) => panel.map((entry) => (entry === null ? '?' : String(entry)))),
  ]);
  const heads = groups.map(({ concepts, attributes }) =>
    attributes.length > 0
      ? attributes.map(({ name }) => name).join(' and ')
      : `concepts ${concepts.map((m) => m + 1).join(' ')}`,
  );
  const missing = answers.at(0)?.symbols.length ?? 0;
  const repeated = Array.from({ length: missing }, () => heads).flat();
  return `\nDifferent answers, as entries of the vocabulary:\n${table([['', 'probability', ...repeated], ...rows])}`;
}

function ruleTable(answer: Finding['answer']): string {
  const rows = answer.rules.map((rule) => {
    const likely = rule.categories === null ? null : Math.max(...rule.categories);
    const category =
      rule.categories === null || likely === null
        ? '-'
        : `${rule.categories.indexOf(likely) + 1} (${percent(likely)})`;
    return [
      conceptTitle(rule),
      rule.vector.map((value) => value.toFixed(3)).join(' '),
      rule.deviation.map((value) => value.toFixed(3)).join(' '),
      category,
    ];
  });
  return table([['concept', 'rule', 'deviation', 'category'], ...rows]);
}

function distanceTable(answer: Finding['answer'], choice: UncertainChoice): string {
  const shares = (values: readonly number[] | null): string[] =>
    (values ?? []).map((value) => value.toFixed(2));
  const calibrated = choice.distance === 'calibrated';
  // A model without rules describes a panel by one vector: there are no shares to tell.
  const told = answer.rules.length > 0;
  const painted = choice.candidates.flatMap((each, i) => (each.painted === null ? [] : [i]));
  const rows = choice.candidates.map((candidate, i) => [
    `${i === choice.index ? '>' : ' '} ${i + 1}`,
    candidate.probability === null ? '-' : percent(candidate.probability),
    ...(calibrated ? [((candidate.calibrated ?? NaN) + (candidate.painted ?? 0)).toFixed(2)] : []),
    candidate.l2.toFixed(2),
    ...(painted.length > 0 ? [candidate.painted?.toFixed(2) ?? '-'] : []),
    ...(told ? shares(calibrated ? candidate.calibratedShares : candidate.l2Shares) : []),
  ]);
  const heads = [
    'candidate',
    'probability',
    ...(calibrated ? ['distance'] : []),
    'L2',
    ...(painted.length > 0 ? ['painting'] : []),
    ...answer.rules.map(conceptTitle),
  ];
  const note = `Columns of concepts: their shares in the ${calibrated ? 'calibrated' : 'L2'} distance.\n`;
  const tie = `Candidates ${AND.format(fromOne(painted).map(String))} are about as close, so they were painted from their descriptions. Column painting: what is added to their distance if the painted one differs more from the candidate.\n`;
  return `${table([heads, ...rows])}${told ? note : ''}${painted.length > 0 ? tie : ''}`;
}

/** Why none of the candidates can be chosen; null if one can. */
export function unchosenReason(
  missing: readonly number[],
  { missing: blank }: ProblemInput,
): string | null {
  const named = AND.format(missing.map(String));
  if (missing.length > 1) return `panels ${named} are missing, and a candidate is one panel alone`;
  const [asked] = askedPanels(blank);
  return missing[0] === asked
    ? null
    : `panel ${named} is missing, and candidates are for panel ${asked}`;
}

const unchosenNote = (missing: readonly number[], input: ProblemInput): string =>
  input.candidates.length === 0
    ? ''
    : `no candidate is chosen: ${unchosenReason(missing, input)}\n`;

export function findingText(
  { answer, choice, named }: Finding,
  input: ProblemInput,
  explain: boolean,
): string {
  const imagined = `imagined panel${answer.missing.length > 1 ? 's' : ''} ${answer.missing.join(', ')}\n`;
  const known = input.answer === null ? '' : `, the answer is ${input.answer + 1}`;
  const chosen =
    choice === null
      ? unchosenNote(answer.missing, input)
      : `candidate ${choice.index + 1} (${choice.confidence === null ? 'a guess' : percent(choice.confidence)})${known}\n`;
  const same = identicalNote(choice);
  if (!explain) return imagined + chosen + same;
  const distances = choice === null ? '' : `\n${distanceTable(answer, choice)}`;
  const words = named === null ? '' : `\n${namedTable(named)}`;
  const rules = answer.rules.length === 0 ? '' : `\n${ruleTable(answer)}`;
  return `${imagined}${chosen}${same}${words}${rules}${distances}`;
}
