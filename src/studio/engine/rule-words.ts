/**
 * What a model's rules mean. Training sees no labels, so a category (component of the learned prior)
 * has no name; but the bundle's rule map holds matrices whose true rules are known. For each concept
 * the attribute is taken whose true rules its categories tell most of (by mutual information), and a
 * category is called what most of its matrices were.
 */
import {
  describeRule,
  groupOf,
  layoutOf,
  RULE_GROUPS,
  type ConfigurationLayout,
  type Label,
  type LabelRule,
  type RuleGroup,
} from '../../matrix/index.js';
import { RuleClassifier, type RuleMap } from '../../solver/index.js';
import type { RuleWords } from './protocol.js';

/** Share of an attribute's uncertainty that categories must remove to be called after it. */
const LEAST_INFORMATION = 0.15;

/** One attribute of one component. */
interface Subject {
  readonly component: number;
  readonly group: RuleGroup;
}

/** What is known of one concept. */
export interface ConceptRules {
  /** Names of the true rules of its attribute, most frequent first. */
  readonly classes: readonly string[];
  /** Index of the true rule of each problem. */
  readonly classOf: readonly number[];
  /** By category; null where it has no problems or the attribute is not clear. */
  readonly meanings: readonly (Pick<RuleWords, 'text' | 'share'> | null)[];
}

const indexOfLargest = (values: readonly number[]): number => values.indexOf(Math.max(...values));

function counts(items: readonly number[]): Map<number, number> {
  const found = new Map<number, number>();
  for (const item of items) found.set(item, (found.get(item) ?? 0) + 1);
  return found;
}

function entropy(items: readonly number[]): number {
  let sum = 0;
  for (const count of counts(items).values()) {
    const share = count / items.length;
    sum -= share * Math.log(share);
  }
  return sum;
}

/** Mutual information of two labellings as a share of the second's entropy. */
export function informationShare(
  categories: readonly number[],
  classes: readonly number[],
): number {
  const uncertainty = entropy(classes);
  if (uncertainty < 1e-9) return 0;
  const joint = categories.map((category, n) => category * 1024 + classes[n]);
  return (entropy(categories) + uncertainty - entropy(joint)) / uncertainty;
}

function ruleText(rule: LabelRule, component: number, layout: ConfigurationLayout): string {
  const text = describeRule({ ...rule, value: rule.value ?? 0 });
  return layout.components.length > 1 ? `${layout.components[component].name}: ${text}` : text;
}

/** Classes of a subject: names of the rules, most frequent first, and each problem's own. */
function classify(
  truth: readonly Label[],
  { component, group }: Subject,
  layout: ConfigurationLayout,
): Pick<ConceptRules, 'classes' | 'classOf'> {
  const texts = truth.map((label) => {
    const rule = label.at(component)?.find(({ attribute }) => groupOf(attribute) === group);
    return rule === undefined ? 'unknown' : ruleText(rule, component, layout);
  });
  const frequency = new Map<string, number>();
  for (const text of texts) frequency.set(text, (frequency.get(text) ?? 0) + 1);
  const classes = [...frequency].sort((a, b) => b[1] - a[1]).map(([text]) => text);
  return { classes, classOf: texts.map((text) => classes.indexOf(text)) };
}

function meaningsOf(
  categories: readonly number[],
  count: number,
  { classes, classOf }: Pick<ConceptRules, 'classes' | 'classOf'>,
): ConceptRules['meanings'] {
  return Array.from({ length: count }, (_, k) => {
    const members = classOf.filter((_, n) => categories[n] === k);
    if (members.length === 0) return null;
    const [most, often] = [...counts(members)].reduce((a, b) => (b[1] > a[1] ? b : a));
    return { text: classes[most], share: often / members.length };
  });
}

/** Reads a rule map; null where it has no problems. */
export function readConceptRules(map: RuleMap, concepts: number): ConceptRules[] | null {
  const last = map.snapshots.at(-1);
  if (last === undefined || map.truth.length === 0) return null;
  const layout = layoutOf(map.source.configuration, map.source.noisy);
  const subjects = layout.components.flatMap((_, component) =>
    RULE_GROUPS.map((group): Subject => ({ component, group })),
  );
  const labelled = subjects.map((subject) => classify(map.truth, subject, layout));
  return Array.from({ length: concepts }, (_, m): ConceptRules => {
    const mixture = map.prior?.[m];
    if (mixture === undefined) return { ...labelled[0], meanings: [] };
    const classifier = new RuleClassifier(mixture);
    const categories = last.rules.map((rules) =>
      indexOfLargest(classifier.classify(rules[m]).probabilities),
    );
    const told = labelled.map(({ classOf }) => informationShare(categories, classOf));
    const best = indexOfLargest(told);
    const count = mixture.weights.length;
    const clear = told[best] >= LEAST_INFORMATION;
    return {
      ...labelled[best],
      meanings: clear
        ? meaningsOf(categories, count, labelled[best])
        : Array.from({ length: count }, () => null),
    };
  });
}
