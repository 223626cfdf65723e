/**
 * Rule abstraction, ARI (section 4.5, table of ARI): the rule categories of each concept against the
 * annotated rules of each attribute, by adjusted Rand index. For each attribute the concept of largest ARI,
 * as in the paper, and the best one-to-one assignment. Averages are over attributes, components counted
 * apart. Categories are those of the bundle's prior (bundle-prior.ts), found without labels. Every matrix is
 * read in both directions: the rule of the mirrored matrix is of the same kind, so the two readings of a
 * concept decide together. The same by one reading alone, and by a plain mixture with a component for each
 * category, which is what the paper does, stand beside it; and the same for groups of concepts.
 *
 * Labels are the names of rules; a component's one rule on Number or Position is the label of Num/Pos.
 * The authors' labels look at Number alone in grid-2x2 and at Position alone in grid-3x3 and
 * out-in-grid, and call every rule on the other Constant; their list of out-in-grid lacks Size Out.
 */
import { indexOfLargest } from '../../base/index.js';
import {
  attributeColumns,
  layoutOf,
  MATRIX_PANELS,
  ruleOn,
  type AttributeColumn,
  type ConfigurationLayout,
  type Label,
  type RuleName,
} from '../../matrix/index.js';
import { codedRandIndex, codesOf } from '../../models/index.js';
import {
  categoriesOf,
  RuleClassifier,
  type ConceptMeans,
  type RuleMixture,
} from '../../solver/index.js';
import { plainMixture, ruleKinds } from '../bundle-prior.js';
import type { ConceptSubject } from '../concept-subject.js';
import type { AriAssignment, AriResult, AriTable } from '../evaluation.js';
import { panelLikeness, type PredictedMatrices } from '../panel-likeness.js';
import { Bootstrap, meanOf } from '../statistics.js';
import type { MetricOptions, Rules } from '../subject.js';
import { bestAssignment } from './assignment.js';
import type { StudiedProblems } from './studied-problems.js';

/** Labels of one attribute, one for each problem. */
export type Labeller = (label: Label, attribute: AttributeColumn) => string | null;

/** The name of the rule on an attribute; null if it has none or it is not known. */
export const ruleName = (label: Label, attribute: AttributeColumn): RuleName | null =>
  ruleOn(label, attribute)?.name ?? null;

/** The authors' label: of Num/Pos only rules on one of the two count. */
export function authorsLabeller({ configuration }: ConfigurationLayout): Labeller {
  const counted = configuration === 'grid-2x2' ? 'Number' : 'Position';
  return (label, attribute) => {
    const rule = ruleOn(label, attribute);
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

/** Means over components; null if there is none. */
const byGroup = (
  attributes: readonly AttributeColumn[],
  best: readonly AriAssignment[],
): AriTable['byGroup'] =>
  Object.fromEntries(
    GROUPS.map((group) => {
      const own = best.filter((_, v) => attributes[v].group === group).map(({ ari }) => ari);
      return [group, own.length === 0 ? null : meanOf(own)];
    }),
  ) as AriTable['byGroup'];

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
  return {
    attributes,
    matrix,
    best,
    average: meanOf(best.map(({ ari }) => ari)),
    averageInterval: averageInterval ?? undefined,
    oneToOne,
    averageOneToOne: meanOf(oneToOne.map(({ ari }) => ari)),
    byGroup: byGroup(attributes, best),
  };
}

/** Least log-probability that one reading may give a category. */
const LEAST_LOG = Math.log(1e-6);

/**
 * The likeliest category by the prior of each concept.
 * @param readings rules [n][M][d_r] of the same matrices, read in one or several ways
 */
export function ruleCategories(prior: readonly RuleMixture[], ...readings: Rules[]): number[][] {
  const classifiers = prior.map((mixture) => new RuleClassifier(mixture));
  return readings[0].map((ofProblem, n) =>
    ofProblem.map((_, m) => {
      const found = readings.map((rules) => classifiers[m].classify(rules[n][m]).probabilities);
      const scores = found[0].map((_, category) =>
        found.reduce((sum, each) => sum + Math.max(LEAST_LOG, Math.log(each[category])), 0),
      );
      return indexOfLargest(scores);
    }),
  );
}

/** A matrix [9] with its columns in reverse. */
export const mirroredMatrix = <T>(matrix: readonly T[]): T[] =>
  Array.from({ length: MATRIX_PANELS }, (_, at) => matrix[at - (at % 3) + 2 - (at % 3)]);

const SLICE = 256;

/** What is parsed from problems: from whole matrices, from mirrored ones and from contexts alone. */
interface Parsed {
  readonly whole: Rules;
  readonly mirrored: Rules;
  readonly context: Rules;
  readonly matrices: PredictedMatrices;
}

async function parse(
  solver: ConceptSubject['solver'],
  matrices: readonly (readonly ConceptMeans[])[],
  { signal, onProgress }: Omit<MetricOptions, 'seed'>,
): Promise<Parsed> {
  const found = { whole: [] as Rules, mirrored: [] as Rules, context: [] as Rules };
  const predicted: ConceptMeans[] = [];
  for (let from = 0; from < matrices.length; from += SLICE) {
    const concepts = matrices.slice(from, from + SLICE);
    found.whole.push(...(await solver.parseRules(concepts, { signal })));
    found.mirrored.push(...(await solver.parseRules(concepts.map(mirroredMatrix), { signal })));
    const answers = await solver.solveConcepts(
      concepts.map((each) => ({ concepts: each, missing: [MATRIX_PANELS] })),
      { signal },
    );
    found.context.push(...answers.map(({ rules }) => rules.map(({ parsed }) => [...parsed])));
    predicted.push(...answers.map(({ concepts: all }) => all[MATRIX_PANELS - 1]));
    onProgress?.(Math.min(1, (from + SLICE) / matrices.length));
  }
  const { sigmaZ } = solver.manifest;
  return { ...found, matrices: { concepts: matrices, predicted, sigmaZ } };
}

/** Rules of groups of concepts: those of their concepts in one row. */
const grouped = (rules: Rules, groups: readonly (readonly number[])[]): Rules =>
  rules.map((ofProblem) => groups.map((concepts) => concepts.flatMap((m) => [...ofProblem[m]])));

/** Categories of groups, found on the problems themselves, as those of concepts are at export. */
function groupCategories(
  { whole, mirrored, matrices }: Parsed,
  groups: readonly (readonly number[])[],
  count: number,
): number[][] {
  const [own, reversed] = [grouped(whole, groups), grouped(mirrored, groups)];
  const kinds = groups.map((concepts, g) =>
    ruleKinds(
      own.map((ofProblem) => ofProblem[g]),
      panelLikeness(matrices, concepts),
      count,
    ),
  );
  return ruleCategories(kinds, own, reversed);
}

/** ARI of a model on problems already seen; null if it has no prior or no rules are known. */
export async function ruleAgreement(
  { solver, ruleMap, facts }: Pick<ConceptSubject, 'solver' | 'ruleMap' | 'facts'>,
  studied: StudiedProblems,
  options: Omit<MetricOptions, 'seed'> = {},
): Promise<AriResult | null> {
  const prior = ruleMap?.prior ?? null;
  const layout = layoutOf(facts.configuration, facts.noisy);
  const attributes = attributeColumns(layout);
  const isKnown = (label: Label): boolean =>
    attributes.every((attribute) => ruleName(label, attribute) !== null);
  const known = [...studied.labels.keys()].filter((n) => isKnown(studied.labels[n]));
  if (prior === null || known.length === 0) return null;
  const parsed = await parse(
    solver,
    known.map((n) => studied.panels[n] as readonly ConceptMeans[]),
    options,
  );
  const labels = known.map((n) => studied.labels[n]);
  const tableOf = (categories: readonly (readonly number[])[]): AriTable =>
    ariTable(attributes, categories, labels, ruleName);
  const both = ruleCategories(prior, parsed.whole, parsed.mirrored);
  const count = 1 + Math.max(...prior.flatMap((mixture) => categoriesOf(mixture)));
  const plain = prior.map((_, m) =>
    plainMixture(
      parsed.whole.map((ofProblem) => ofProblem[m]),
      count,
    ),
  );
  const groups = solver.vocabulary?.groups.map(({ concepts }) => concepts) ?? [];
  const fromData = known.filter((n) => n < studied.problems.fromData).length;
  return {
    problems: { ...studied.problems, fromData, generated: known.length - fromData },
    matrix: tableOf(both),
    authors: ariTable(authorsColumns(layout), both, labels, authorsLabeller(layout)),
    context: tableOf(ruleCategories(prior, parsed.context)),
    oneReading: tableOf(ruleCategories(prior, parsed.whole)),
    plain: tableOf(ruleCategories(plain, parsed.whole)),
    ...(groups.length === 0 ? {} : { groups: tableOf(groupCategories(parsed, groups, count)) }),
  };
}
