/**
 * Rule abstraction, ARI (section 4.5, table of ARI): the rule categories of each concept, the most
 * likely component of its prior for the parsed rule's mean, against the annotated rules of each
 * attribute, by adjusted Rand index. For each attribute the concept of largest ARI, as in the paper, and
 * the best one-to-one assignment. Averages are over attributes, components counted apart.
 *
 * Labels are the names of rules; a component's one rule on Number or Position is the label of Num/Pos.
 * The authors' labels look at Number alone in grid-2x2 and at Position alone in grid-3x3 and
 * out-in-grid, and call every rule on the other Constant; their list of out-in-grid lacks Size Out.
 */
import { layoutOf, type ConfigurationLayout, type Label } from '../../matrix/index.js';
import { codedRandIndex, codesOf } from '../../models/index.js';
import { RuleClassifier, type ConceptMeans, type RuleMixture } from '../../solver/index.js';
import type { ConceptSubject } from '../concept-subject.js';
import type { AriAssignment, AriResult, AriTable, AttributeColumn } from '../evaluation.js';
import { Bootstrap, meanOf } from '../statistics.js';
import type { MetricOptions } from '../subject.js';
import { bestAssignment } from './assignment.js';
import { attributeColumns } from './attributes.js';
import type { StudiedProblems } from './studied-problems.js';

/** Labels of one attribute, one for each problem. */
export type Labeller = (label: Label, attribute: AttributeColumn) => string | null;

const GROUP_OF_ATTRIBUTE: Record<string, AttributeColumn['group']> = {
  Number: 'Num/Pos',
  Position: 'Num/Pos',
  'Number/Position': 'Num/Pos',
  Type: 'Type',
  Size: 'Size',
  Color: 'Color',
};

const ruleOf = (label: Label, { component, group }: AttributeColumn) =>
  label.at(component)?.find(({ attribute }) => GROUP_OF_ATTRIBUTE[attribute] === group);

/** The rule's name; null where it is not known. */
export const ruleName: Labeller = (label, attribute) => ruleOf(label, attribute)?.name ?? null;

/** The authors' label: of Num/Pos only rules on one of the two count. */
export function authorsLabeller({ configuration }: ConfigurationLayout): Labeller {
  const counted = configuration === 'grid-2x2' ? 'Number' : 'Position';
  return (label, attribute) => {
    const rule = ruleOf(label, attribute);
    if (rule === undefined) return null;
    return attribute.group === 'Num/Pos' && rule.attribute !== counted ? 'Constant' : rule.name;
  };
}

/** Attributes of the authors' list. */
export const authorsColumns = (layout: ConfigurationLayout): AttributeColumn[] =>
  attributeColumns(layout).filter(
    ({ group, component }) =>
      !(layout.configuration === 'out-in-grid' && group === 'Size' && component === 0),
  );

const GROUPS = ['Type', 'Size', 'Color', 'Num/Pos'] as const;

/**
 * The table for categories [n][M] and labels.
 * @param labels rules of each problem; those of which some rule is not known are left out
 */
export function ariTable(
  attributes: readonly AttributeColumn[],
  categories: readonly (readonly number[])[],
  labels: readonly Label[],
  labeller: Labeller,
): AriTable {
  const known = [...labels.keys()].filter((n) =>
    attributes.every((attribute) => labeller(labels[n], attribute) !== null),
  );
  const concepts = categories[0]?.length ?? 0;
  const truth = attributes.map((attribute) =>
    codesOf(known.map((n) => labeller(labels[n], attribute) ?? '')),
  );
  const found = Array.from({ length: concepts }, (_, m) =>
    codesOf(known.map((n) => categories[n][m])),
  );
  const matrix = found.map((codes) => truth.map((names) => codedRandIndex(codes, names)));
  const best = attributes.map(({ name }, v): AriAssignment => {
    const column = matrix.map((row) => row[v]);
    const ari = Math.max(...column);
    return { attribute: name, concept: column.indexOf(ari) + 1, ari };
  });
  const chosen = bestAssignment(attributes.map((_, v) => matrix.map((row) => row[v])));
  const oneToOne = attributes.map(({ name }, v): AriAssignment => {
    const m = chosen[v];
    return m < 0
      ? { attribute: name, concept: null, ari: 0 }
      : { attribute: name, concept: m + 1, ari: matrix[m][v] };
  });
  // Each resample finds its best concepts anew.
  const averageInterval = new Bootstrap(known.length).interval((times) =>
    meanOf(
      truth.map((names) => Math.max(...found.map((codes) => codedRandIndex(codes, names, times)))),
    ),
  );
  const byGroup = Object.fromEntries(
    GROUPS.map((group) => {
      const own = best.filter((_, v) => attributes[v].group === group).map(({ ari }) => ari);
      return [group, own.length === 0 ? null : meanOf(own)];
    }),
  ) as AriTable['byGroup'];
  return {
    attributes,
    matrix,
    best,
    average: meanOf(best.map(({ ari }) => ari)),
    averageInterval: averageInterval ?? undefined,
    oneToOne,
    averageOneToOne: meanOf(oneToOne.map(({ ari }) => ari)),
    byGroup,
  };
}

/** The most likely component of each concept's prior for rules [n][M][d_r]. */
export function ruleCategories(
  prior: readonly RuleMixture[],
  rules: readonly (readonly (readonly number[])[])[],
): number[][] {
  const classifiers = prior.map((mixture) => new RuleClassifier(mixture));
  return rules.map((ofProblem) => ofProblem.map((rule, m) => classifiers[m].categoryOf(rule)));
}

const SLICE = 256;
const LAST = 9;

/** ARI of a model on problems already seen; null where it has no prior or no rules are known. */
export async function ruleAgreement(
  { solver, ruleMap, facts }: Pick<ConceptSubject, 'solver' | 'ruleMap' | 'facts'>,
  studied: StudiedProblems,
  { signal, onProgress }: Omit<MetricOptions, 'seed'> = {},
): Promise<AriResult | null> {
  const prior = ruleMap?.prior ?? null;
  const layout = layoutOf(facts.configuration, facts.noisy);
  const attributes = attributeColumns(layout);
  const isKnown = (label: Label): boolean =>
    attributes.every((attribute) => ruleName(label, attribute) !== null);
  const known = [...studied.labels.keys()].filter((n) => isKnown(studied.labels[n]));
  if (prior === null || known.length === 0) return null;
  const whole: number[][][] = [];
  const context: number[][][] = [];
  for (let from = 0; from < known.length; from += SLICE) {
    const concepts = known
      .slice(from, from + SLICE)
      .map((n) => studied.panels[n] as readonly ConceptMeans[]);
    whole.push(...(await solver.parseRules(concepts, { signal })));
    const answers = await solver.solveConcepts(
      concepts.map((each) => ({ concepts: each, missing: [LAST] })),
      { signal },
    );
    context.push(...answers.map(({ rules }) => rules.map(({ parsed }) => [...parsed])));
    onProgress?.(Math.min(1, (from + SLICE) / known.length));
  }
  const labels = known.map((n) => studied.labels[n]);
  const wholeCategories = ruleCategories(prior, whole);
  const fromData = known.filter((n) => n < studied.problems.fromData).length;
  return {
    problems: { ...studied.problems, fromData, generated: known.length - fromData },
    matrix: ariTable(attributes, wholeCategories, labels, ruleName),
    authors: ariTable(authorsColumns(layout), wholeCategories, labels, authorsLabeller(layout)),
    context: ariTable(attributes, ruleCategories(prior, context), labels, ruleName),
  };
}
