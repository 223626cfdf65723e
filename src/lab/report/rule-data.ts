/** A model's rule map made ready for its figures: which attribute gives the colours, which clusters. */
import { NAME_UNUSED } from '../metrics/variance-decline.js';
import { indexOfLargest } from '../../base/index.js';
import {
  layoutOf,
  samplePanels,
  SMALL_SIZE,
  type AttributeColumn,
  type Label,
} from '../../matrix/index.js';
import {
  categoriesOf,
  RuleClassifier,
  type RuleMap,
  type RuleMixture,
} from '../../solver/index.js';
import type { ModelEvaluation } from '../evaluation.js';
import type {
  Point,
  RuleCluster,
  RuleMapsData,
  RulePriorData,
  TrueRule,
} from '../figures/index.js';
import { drawPanels } from '../metrics/generated-source.js';
import { ruleName } from '../metrics/rule-agreement.js';
import { panelsOf } from './pictures.js';

const MOMENTS = 5;
const EXAMPLES = 3;
/** Clusters with fewer of the problems are not shown. */
const SMALLEST_SHARE = 0.02;

/** What concepts are called in a report; numbers stand in if nothing was measured. */
export function conceptNames({ vd, sizes }: ModelEvaluation): string[] {
  return Array.from(
    { length: sizes?.concepts ?? 0 },
    (_, m) => vd?.names.find(({ concept }) => concept === m + 1)?.name ?? `concept ${m + 1}`,
  );
}

/**
 * The attribute whose rules a concept is compared with: the one it is named after; else the one its
 * rule categories agree with best; else the one its variance follows most. Null if none is known.
 */
export function attributeOf(
  { vd, ari }: ModelEvaluation,
  name: string,
  m: number,
): AttributeColumn | null {
  const ruled = (vd?.attributes ?? []).filter(({ group }) => group !== 'Rotation');
  const named = ruled.find((attribute) => attribute.name === name);
  if (named !== undefined) return named;
  if (ari !== null) return ari.matrix.attributes[indexOfLargest(ari.matrix.matrix[m])];
  if (vd === null || ruled.length === 0) return null;
  return ruled[
    indexOfLargest(ruled.map((attribute) => vd.decline[m][vd.attributes.indexOf(attribute)]))
  ];
}

/** At most a few of a list, the first and the last among them. */
function spread<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  return Array.from(
    { length: most },
    (_, i) => items[Math.round((i * (items.length - 1)) / (most - 1))],
  );
}

const pointOf = (rule: readonly number[]): Point => [rule[0], rule[1]];

const truthOf = (truth: readonly Label[], attribute: AttributeColumn | null): TrueRule[] =>
  truth.map((label) => (attribute === null ? null : ruleName(label, attribute)));

/** Maps of the concepts in use at some moments; null if there is nothing to show. */
export function ruleMapsData(
  evaluation: ModelEvaluation,
  map: RuleMap | null,
): RuleMapsData | null {
  if (map === null || evaluation.sizes?.ruleSize !== 2) return null;
  const snapshots = spread(map.snapshots, MOMENTS);
  if (snapshots.length === 0 || map.truth.length === 0) return null;
  const names = conceptNames(evaluation);
  const rows = names.flatMap((name, m) => {
    if (name === NAME_UNUSED) return [];
    const attribute = attributeOf(evaluation, name, m);
    return [
      {
        concept: m + 1,
        name,
        attribute: attribute?.name ?? 'unknown',
        truth: truthOf(map.truth, attribute),
        moments: snapshots.map(({ rules }) => rules.map((problem) => pointOf(problem[m]))),
      },
    ];
  });
  return rows.length === 0 ? null : { steps: snapshots.map(({ step }) => step), rows };
}

function mostFrequent(rules: readonly TrueRule[]): { rule: TrueRule; purity: number } {
  const counts = new Map<TrueRule, number>();
  for (const rule of rules) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  const [rule, count] = [...counts].sort((a, b) => b[1] - a[1])[0];
  return { rule, purity: count / rules.length };
}

/** Problems by the category they are most likely of, those nearest to a mean of its first. */
function membersOf(mixture: RuleMixture, points: readonly Point[]): number[][] {
  const classifier = new RuleClassifier(mixture);
  const categories = categoriesOf(mixture);
  const members = Array.from({ length: classifier.categories }, (): number[] => []);
  points.forEach((point, n) => members[classifier.categoryOf(point)].push(n));
  return members.map((list, category) => {
    const means = mixture.means.filter((_, k) => categories[k] === category);
    const distance = (n: number): number =>
      Math.min(...means.map(([x, y]) => Math.hypot(points[n][0] - x, points[n][1] - y)));
    return list.sort((a, b) => distance(a) - distance(b));
  });
}

/** Priors of the concepts in use, with matrices of their clusters; empty if there are none. */
export function rulePriorsData(
  evaluation: ModelEvaluation,
  map: RuleMap | null,
): readonly RulePriorData[] {
  const last = map?.snapshots.at(-1);
  if (map === null || map.prior === null || last === undefined || map.truth.length === 0) return [];
  if (evaluation.sizes?.ruleSize !== 2) return [];
  const { source, truth, prior } = map;
  const layout = layoutOf(source.configuration, source.noisy);
  const drawn = new Map<number, RuleCluster['examples'][number]>();
  const matrixOf = (index: number): RuleCluster['examples'][number] => {
    const found =
      drawn.get(index) ??
      panelsOf(drawPanels(layout, samplePanels({ ...source, index }).panels, SMALL_SIZE), 9);
    drawn.set(index, found);
    return found;
  };
  return conceptNames(evaluation).flatMap((name, m): RulePriorData[] => {
    if (name === NAME_UNUSED) return [];
    const attribute = attributeOf(evaluation, name, m);
    const points = last.rules.map((problem) => pointOf(problem[m]));
    const rules = truthOf(truth, attribute);
    const clusters = membersOf(prior[m], points).flatMap((members, category): RuleCluster[] => {
      const share = members.length / points.length;
      if (share < SMALLEST_SHARE) return [];
      const { rule, purity } = mostFrequent(members.map((n) => rules[n]));
      const examples = members.slice(0, EXAMPLES).map(matrixOf);
      return [{ category, share, rule, purity, examples }];
    });
    return [
      {
        concept: m + 1,
        name,
        attribute: attribute?.name ?? 'unknown',
        mixture: prior[m],
        points,
        truth: rules,
        clusters: clusters.sort((a, b) => b.share - a.share),
      },
    ];
  });
}
