/**
 * What a model's rules mean. Training sees no labels, so neither a rule nor a category (component of the
 * learned prior) has a name; but the bundle's rule map holds matrices whose true rules are known. For
 * each concept the attribute is taken whose true rules its points tell best, judged by whether a point's
 * neighbours foretell its own; and a rule is called what most of the known ones around it were.
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
import type { RuleMap } from '../../solver/index.js';
import type { RuleWords } from './protocol.js';

/** How many known rules around a place are asked. */
const NEIGHBOURS = 5;
/** How much better than the most frequent rule neighbours must foretell, as a share of what is possible. */
const LEAST_SKILL = 0.15;

/** One attribute of one component. */
interface Subject {
  readonly component: number;
  readonly group: RuleGroup;
}

/** True rules of one subject. */
interface Classes {
  /** Names, most frequent first. */
  readonly classes: readonly string[];
  /** Index of the true rule of each problem. */
  readonly classOf: readonly number[];
}

type Place = readonly number[];

/** What is known of one concept. */
export class ConceptRules implements Classes {
  readonly classes: readonly string[];
  readonly classOf: readonly number[];
  readonly #points: readonly Place[];
  readonly #isClear: boolean;

  constructor(points: readonly Place[], subjects: readonly Classes[]) {
    const around = points.map((point, n) => nearest(points, point, n));
    const skills = subjects.map(({ classOf }) => skill(around, classOf));
    const best = skills.indexOf(Math.max(...skills));
    this.classes = subjects[best].classes;
    this.classOf = subjects[best].classOf;
    this.#points = points;
    this.#isClear = skills[best] >= LEAST_SKILL;
  }

  /** What a rule is called; null where the concept follows none of the known attributes. */
  nameOf(rule: Place): Pick<RuleWords, 'text' | 'share'> | null {
    if (!this.#isClear) return null;
    const around = nearest(this.#points, rule);
    const { winner, votes } = vote(around, this.classOf);
    return { text: this.classes[winner], share: votes / around.length };
  }
}

/** Indices of the points nearest to a place, nearest first; one may be left out. */
function nearest(points: readonly Place[], place: Place, except = -1): number[] {
  return points
    .map((point, index) => ({
      index,
      distance: point.reduce((sum, value, k) => sum + (value - place[k]) ** 2, 0),
    }))
    .filter(({ index }) => index !== except)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, NEIGHBOURS)
    .map(({ index }) => index);
}

/** The class most of them have; of equals the one met first. */
function vote(
  indices: readonly number[],
  classOf: readonly number[],
): { winner: number; votes: number } {
  const counts = new Map<number, number>();
  for (const index of indices) counts.set(classOf[index], (counts.get(classOf[index]) ?? 0) + 1);
  const [winner, votes] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a));
  return { winner, votes };
}

/** How much better neighbours foretell a class than its frequency does: 1 always right, 0 no better. */
export function skill(around: readonly (readonly number[])[], classOf: readonly number[]): number {
  const everyone = classOf.map((_, n) => n);
  const usual = vote(everyone, classOf).votes / classOf.length;
  if (usual > 1 - 1e-9) return 0;
  const right = around.filter((indices, n) => vote(indices, classOf).winner === classOf[n]).length;
  return (right / classOf.length - usual) / (1 - usual);
}

function ruleText(rule: LabelRule, component: number, layout: ConfigurationLayout): string {
  const text = describeRule({ ...rule, value: rule.value ?? 0 });
  return layout.components.length > 1 ? `${layout.components[component].name}: ${text}` : text;
}

function classify(
  truth: readonly Label[],
  { component, group }: Subject,
  layout: ConfigurationLayout,
): Classes {
  const texts = truth.map((label) => {
    const rule = label.at(component)?.find(({ attribute }) => groupOf(attribute) === group);
    return rule === undefined ? 'unknown' : ruleText(rule, component, layout);
  });
  const frequency = new Map<string, number>();
  for (const text of texts) frequency.set(text, (frequency.get(text) ?? 0) + 1);
  const classes = [...frequency].sort((a, b) => b[1] - a[1]).map(([text]) => text);
  return { classes, classOf: texts.map((text) => classes.indexOf(text)) };
}

/** Reads a rule map; null where it has too few problems to tell anything. */
export function readConceptRules(map: RuleMap, concepts: number): ConceptRules[] | null {
  const last = map.snapshots.at(-1);
  if (last === undefined || map.truth.length <= NEIGHBOURS) return null;
  const layout = layoutOf(map.source.configuration, map.source.noisy);
  const subjects = layout.components.flatMap((_, component) =>
    RULE_GROUPS.map((group) => classify(map.truth, { component, group }, layout)),
  );
  return Array.from(
    { length: concepts },
    (_, m) =>
      new ConceptRules(
        last.rules.map((rules) => rules[m]),
        subjects,
      ),
  );
}
