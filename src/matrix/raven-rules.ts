/**
 * What RAVEN's files leave out and a problem needs: the parameter of each rule, which the nine panels
 * show, and (in RAVEN, not in I-RAVEN) the attributes in which each candidate differs.
 */
import { FormatError } from './errors.js';
import type {
  AttributeChange,
  CandidateAttribute,
  ComponentPanel,
  ComponentRules,
  Panel,
  Rule,
} from './problem.js';
import type { NamedRule } from './raven-structure.js';

const STEPS = [1, -1, 2, -2] as const;
const SIGNS = [1, -1] as const;
const KEYS = { Type: 'type', Size: 'size', Color: 'color' } as const;

/**
 * The rules of one component with their parameters. `panels` are the nine of the matrix; `slots` is
 * how many places the component has.
 */
export function completeRules(
  rules: readonly NamedRule[],
  panels: readonly ComponentPanel[],
  slots: number,
): ComponentRules {
  const [first, type, size, color] = rules.map((rule) => completeRule(rule, panels, slots));
  return [first, type, size, color];
}

function completeRule(rule: NamedRule, panels: readonly ComponentPanel[], slots: number): Rule {
  if (rule.name === 'Constant' || rule.name === 'Distribute_Three') return { ...rule, value: 0 };
  const values: readonly number[] = rule.name === 'Progression' ? STEPS : SIGNS;
  const rows = [0, 3, 6].map((start) => panels.slice(start, start + 3));
  const value = values.find((v) => rows.every((row) => holds({ ...rule, value: v }, row, slots)));
  if (value === undefined) {
    throw new FormatError(`${rule.name} of ${rule.attribute} does not hold in its rows`);
  }
  return { ...rule, value };
}

function holds(rule: Rule, row: readonly ComponentPanel[], slots: number): boolean {
  const { attribute, name, value } = rule;
  if (attribute === 'Number/Position') return false;
  if (attribute === 'Position') {
    const places = row.map(({ entities }) => entities.map(({ slot }) => slot));
    return name === 'Progression'
      ? shifted(places[0], places[1], value, slots) && shifted(places[1], places[2], value, slots)
      : combined(places, value);
  }
  const [a, b, c] = row.map(({ entities }) =>
    attribute === 'Number' ? entities.length : entities[0][KEYS[attribute]],
  );
  if (name === 'Progression') return b - a === value && c - b === value;
  // Size levels count from 0.4, which is not nothing: adding two of them gains a level.
  return c === a + value * (attribute === 'Size' ? b + 1 : b);
}

/** Entities keep their order, which tells a step of +1 from -1 where the set of slots does not. */
const shifted = (from: number[], to: number[], step: number, slots: number): boolean =>
  from.length === to.length && from.every((slot, i) => (slot + step + slots) % slots === to[i]);

/** Whether the third set is the union (+1) or the difference (-1) of the others. */
function combined([first, second, third]: number[][], sign: number): boolean {
  const expected =
    sign > 0
      ? new Set([...first, ...second])
      : new Set(first.filter((slot) => !second.includes(slot)));
  return expected.size === third.length && third.every((slot) => expected.has(slot));
}

/** The attributes in which a panel differs from the answer, by component. */
export function changesFrom(answer: Panel, panel: Panel): AttributeChange[] {
  return answer.components.flatMap((mine, component) =>
    differences(mine, panel.components[component]).map((attribute) => ({ component, attribute })),
  );
}

function differences(a: ComponentPanel, b: ComponentPanel): CandidateAttribute[] {
  // Entities of another number are other entities: their attributes cannot be compared.
  if (a.entities.length !== b.entities.length) return ['Number'];
  const places = new Set(a.entities.map(({ slot }) => slot));
  const moved: CandidateAttribute[] = b.entities.every(({ slot }) => places.has(slot))
    ? []
    : ['Position'];
  const changed = (['Type', 'Size', 'Color'] as const).filter((attribute) =>
    a.entities.some((entity, i) => entity[KEYS[attribute]] !== b.entities[i][KEYS[attribute]]),
  );
  return [...moved, ...changed];
}
