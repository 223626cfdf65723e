/**
 * What the statistics compare: for one problem, one value of each quantity. Only one value a problem,
 * as values within a problem depend on each other and a chi-square test needs independent ones; which
 * panel and which candidate are looked at goes round with the number of the problem.
 *
 * Works on what can be seen, so that problems recognised from images and generated ones are treated
 * alike: the order of entities, the turn of figures that look the same turned, and the size of small
 * squares that look the same are left out.
 */
import {
  VALUE_ATTRIBUTES,
  VALUE_KEYS,
  type ConfigurationLayout,
  type Entity,
  type Panel,
  type RuleAttribute,
  type RuleName,
} from '../../src/matrix/index.js';

export interface SeenProblem {
  readonly layout: ConfigurationLayout;
  /** Nine, the answer last. */
  readonly panels: readonly Panel[];
  readonly candidates: readonly Panel[];
  readonly target: number;
  readonly rules: readonly (readonly {
    name: RuleName;
    attribute: RuleAttribute;
    value: number;
  }[])[];
}

/** Names of quantities with the value each has in one problem. */
export type Observations = Record<string, string | number>;

const SQUARE = 2;
/** Triangles and pentagons look different in each of the eight turns. */
const TURN_SHOWS = [1, 3];

/** Squares of sizes 2 and 3 are the same to the pixel in the slots of the inner grid. */
function seenSize({ type, size }: Entity, layoutName: string): number {
  return layoutName === 'In_Distribute_Four' && type === SQUARE && size === 3 ? 2 : size;
}

function seen(layout: ConfigurationLayout, panel: Panel, component: number): Entity[] {
  const name = layout.components[component].layout;
  return panel.components[component].entities
    .map((entity) => ({ ...entity, size: seenSize(entity, name) }))
    .sort((a, b) => a.slot - b.slot);
}

const slotsOf = (entities: readonly Entity[]): string => entities.map(({ slot }) => slot).join('');

/** The attributes of a component in which a candidate is seen to differ from the answer. */
function seenChanges(answer: readonly Entity[], candidate: readonly Entity[]): string[] {
  const changes: string[] = [];
  const sameCount = answer.length === candidate.length;
  if (!sameCount) changes.push('Number');
  else if (slotsOf(answer) !== slotsOf(candidate)) changes.push('Position');
  for (const attribute of VALUE_ATTRIBUTES) {
    const key = VALUE_KEYS[attribute];
    const [before, after] = [answer, candidate].map((entities) =>
      entities.map((e) => e[key]).sort(),
    );
    const differs = sameCount
      ? before.join() !== after.join()
      : after.some((level) => !before.includes(level));
    if (differs) changes.push(attribute);
  }
  return changes;
}

function observeComponent(problem: SeenProblem, index: number, component: number): Observations {
  const { layout, panels, candidates, rules } = problem;
  const entities = seen(layout, panels[index % 9], component);
  const [first] = entities;
  const tag = layout.components[component].name;
  const found: Observations = {
    [`${tag} number`]: entities.length,
    [`${tag} slots`]: slotsOf(entities),
    [`${tag} type`]: first.type,
    [`${tag} size`]: first.size,
    [`${tag} color`]: first.color,
    [`${tag} looks`]: new Set(entities.map((e) => `${e.type} ${e.size} ${e.color}`)).size,
  };
  if (TURN_SHOWS.includes(first.type)) found[`${tag} angle`] = first.angle;
  for (const { attribute, name, value } of rules[component]) {
    const group = ['Number', 'Position', 'Number/Position'].includes(attribute)
      ? 'group 1'
      : attribute;
    found[`${tag} rule on ${group}`] = `${name} ${attribute} ${value}`;
  }
  const [candidate] = seen(layout, candidates[index % 8], component);
  found[`${tag} candidate type`] = candidate.type;
  found[`${tag} candidate size`] = candidate.size;
  found[`${tag} candidate color`] = candidate.color;
  return found;
}

/** One value of each quantity, from problem `index` of a sample. */
export function observe(problem: SeenProblem, index: number): Observations {
  const { layout, panels, candidates, target } = problem;
  const components = [...layout.components.keys()];
  const changes = candidates.map((candidate) =>
    components.flatMap((component) =>
      seenChanges(seen(layout, panels[8], component), seen(layout, candidate, component)).map(
        (attribute) => `${component} ${attribute}`,
      ),
    ),
  );
  const wrong = changes.filter((_, candidate) => candidate !== target);
  const distractor = wrong[index % 7];
  const found: Observations = {
    'answer position': target,
    'attributes changed in a distractor': distractor.length,
    'which attributes are changed in a distractor': distractor.join() || 'none seen',
    'attributes changed in all distractors': new Set(wrong.flat()).size,
  };
  for (const component of components) {
    Object.assign(found, observeComponent(problem, index, component));
  }
  return found;
}

/** Counts of every value of every quantity. */
export type Tallies = Record<string, Record<string, number>>;

export function addObservations(tallies: Tallies, observations: Observations): void {
  for (const [quantity, value] of Object.entries(observations)) {
    const counts = (tallies[quantity] ??= {});
    counts[value] = (counts[value] ?? 0) + 1;
  }
}
