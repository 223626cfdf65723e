/**
 * What a model's rules mean. Training sees no labels, so no rule has a name; but the bundle's rule
 * map holds matrices whose true rules are known. For each concept the attribute is taken whose true rules
 * its points tell best, judged by whether a point's neighbours foretell its own; and a rule is called what
 * most of the known ones around it were, unless none is around it.
 */
import {
  groupOf,
  layoutOf,
  ruleMeaning,
  type ConfigurationLayout,
  type Label,
  type Rule,
} from '../../matrix/index.js';
import type { RuleMap } from '../../solver/index.js';
import type { RuleClass, RuleWords } from './protocol.js';
import { ruleWords, subjectKey, subjectsOf, subjectWords, type Subject } from './words.js';

/** How many known rules around a place are asked. */
const NEIGHBOURS = 5;
/** How much better than the most frequent rule neighbours must foretell, as a share of what is possible. */
const LEAST_SKILL = 0.15;

/** A rule is far from the known ones at this multiple of how far nearly all of them are from their own neighbours. */
const FAR_TIMES = 2;
const NEARLY_ALL = 0.95;
/** Below this share of the known rules' whole extent none is far, however closely they lie together. */
const LEAST_FAR = 0.03;

/** True rules of one subject. */
interface Classes {
  readonly subject: Subject;
  /** What they are, most frequent first. */
  readonly classes: readonly RuleClass[];
  /** Index of the true rule of each problem. */
  readonly classOf: readonly number[];
}

type Place = readonly number[];

/** What is known of one concept. */
export class ConceptRules {
  readonly classes: readonly RuleClass[];
  readonly classOf: readonly number[];
  readonly #points: readonly Place[];
  readonly #subject: Subject;
  readonly #skill: number;
  /** The distance from which on a rule is far. */
  readonly #far: number;

  /** Of the attribute a concept is named after (`own`) where its points tell of it, else the best told. */
  constructor(points: readonly Place[], subjects: readonly Classes[], own: Subject | null) {
    const around = points.map((point, n) => nearest(points, point, n));
    const skills = subjects.map(({ classOf }) => skill(around, classOf));
    const named = own === null ? -1 : subjects.findIndex(({ subject }) => isSame(subject, own));
    const isOwnClear = named >= 0 && skills[named] >= LEAST_SKILL;
    const chosen = isOwnClear ? named : skills.indexOf(Math.max(...skills));
    const { subject, classes, classOf } = subjects[chosen];
    this.classes = classes;
    this.classOf = classOf;
    this.#points = points;
    this.#subject = subject;
    this.#skill = skills[chosen];
    this.#far = farFrom(points, around);
  }

  /** Whether its rules follow a known attribute. */
  get tells(): boolean {
    return this.#skill >= LEAST_SKILL;
  }

  /** About how many true rules its points tell apart. */
  get liveliness(): number {
    return this.#skill * this.classes.length;
  }

  /** Whether the known rules that would name this one are too far to tell of it. */
  isFar(rule: Place): boolean {
    return distance(this.#points[nearest(this.#points, rule)[NEIGHBOURS - 1]], rule) > this.#far;
  }

  /** What a rule is called; null where it is far or the concept follows none of the known attributes. */
  nameOf(rule: Place): RuleWords | null {
    if (!this.tells || this.isFar(rule)) return null;
    const around = nearest(this.#points, rule);
    const { winner, votes } = vote(around, this.classOf);
    return {
      ...this.classes[winner],
      key: subjectKey(this.#subject),
      share: votes / around.length,
      skill: this.#skill,
    };
  }
}

const isSame = (a: Subject, b: Subject): boolean => subjectKey(a) === subjectKey(b);

const distance = (a: Place, b: Place): number =>
  Math.sqrt(a.reduce((sum, value, k) => sum + (value - b[k]) ** 2, 0));

/** From where on a place is far from points, given the neighbours of each. */
function farFrom(points: readonly Place[], around: readonly (readonly number[])[]): number {
  const own = points
    .map((point, n) => distance(point, points[around[n][NEIGHBOURS - 1]]))
    .sort((a, b) => a - b);
  const extents = points[0].map((_, k) => {
    const values = points.map((point) => point[k]);
    return Math.max(...values) - Math.min(...values);
  });
  const usual = own[Math.floor(NEARLY_ALL * (own.length - 1))];
  return Math.max(FAR_TIMES * usual, LEAST_FAR * Math.hypot(...extents));
}

/** Indices of the points nearest to a place, nearest first; one may be left out. */
function nearest(points: readonly Place[], place: Place, except = -1): number[] {
  return points
    .map((point, index) => ({ index, away: distance(point, place) }))
    .filter(({ index }) => index !== except)
    .sort((a, b) => a.away - b.away)
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

function classify(truth: readonly Label[], subject: Subject, layout: ConfigurationLayout): Classes {
  const found = truth.map((label): RuleClass => {
    const given = label
      .at(subject.component)
      ?.find(({ attribute }) => groupOf(attribute) === subject.group);
    const of = subjectWords(layout, subject);
    if (given === undefined)
      return { subject: of, attribute: subject.group, rule: '?', meaning: '' };
    const rule: Rule = { ...given, value: given.value ?? 0 };
    return {
      subject: of,
      attribute: rule.attribute,
      rule: ruleWords(rule),
      meaning: ruleMeaning(rule),
    };
  });
  const frequency = new Map<string, { readonly of: RuleClass; count: number }>();
  for (const each of found) {
    const entry = frequency.get(each.rule);
    if (entry === undefined) frequency.set(each.rule, { of: each, count: 1 });
    else entry.count++;
  }
  const classes = [...frequency.values()].sort((a, b) => b.count - a.count).map(({ of }) => of);
  const index = new Map(classes.map(({ rule }, i) => [rule, i]));
  return { subject, classes, classOf: found.map(({ rule }) => index.get(rule) ?? 0) };
}

/** Reads a rule map; null where it has too few problems to tell anything. `own`: what concepts are named after. */
export function readConceptRules(
  map: RuleMap,
  own: readonly (Subject | null)[],
): ConceptRules[] | null {
  const last = map.snapshots.at(-1);
  if (last === undefined || map.truth.length <= NEIGHBOURS) return null;
  const layout = layoutOf(map.source.configuration, map.source.noisy);
  const subjects = subjectsOf(layout).map((subject) => classify(map.truth, subject, layout));
  return own.map(
    (subject, m) =>
      new ConceptRules(
        last.rules.map((rules) => rules[m]),
        subjects,
        subject,
      ),
  );
}
