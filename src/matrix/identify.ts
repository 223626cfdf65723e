/**
 * What the data sets' files leave out, found again in the panels: the parameter of a rule of which only
 * the name is stored, and the attributes in which a candidate differs from the answer.
 */
import type { ComponentLayout, ConfigurationLayout } from './layouts.js';
import type {
  AttributeChange,
  CandidateAttribute,
  ComponentPanel,
  ComponentRules,
  Entity,
  Panel,
  Rule,
  Variant,
} from './problem.js';
import { findPossible, rulesNamed, VALUE_ATTRIBUTES, VALUE_KEYS, type ValueKey } from './rules.js';
import { slotMask } from './slots.js';
import { ruleHolds } from './symbolic.js';

/** A rule without its parameter. */
export type NamedRule = Pick<Rule, 'name' | 'attribute'>;

/** Whether the first entity moves by the rule's step: tells steps apart that move the set alike. */
function firstEntityMoves(
  layout: ComponentLayout,
  rule: Rule,
  panels: readonly ComponentPanel[],
): boolean {
  const count = layout.slots.length;
  const [from, to] = panels.map(({ entities }) => entities[0].slot);
  return (from + rule.value + count) % count === to;
}

function completeRule(
  layout: ComponentLayout,
  named: NamedRule,
  groupRule: Rule | undefined,
  panels: readonly ComponentPanel[],
): Rule | undefined {
  const fitting = rulesNamed(named.name, named.attribute).filter(
    (rule) =>
      findPossible(layout, rule) !== undefined &&
      ruleHolds(layout, rule, groupRule ?? rule, panels),
  );
  if (fitting.length > 1 && named.attribute === 'Position') {
    return fitting.find((rule) => firstEntityMoves(layout, rule, panels)) ?? fitting[0];
  }
  return fitting[0];
}

/**
 * The rules of a complete matrix from their names.
 * @param panels the nine panels, the answer last
 * @param named four for each component, in the data sets' order of groups
 * @returns undefined where a named rule does not hold with any parameter
 */
export function completeRules(
  layout: ConfigurationLayout,
  panels: readonly Panel[],
  named: readonly (readonly NamedRule[])[],
): ComponentRules[] | undefined {
  const completed: ComponentRules[] = [];
  for (const [component, componentLayout] of layout.components.entries()) {
    const sequence = panels.map(({ components }) => components[component]);
    const [groupName, ...valueNames] = named[component] ?? [];
    if (!groupName || valueNames.length !== 3) return undefined;
    const group = completeRule(componentLayout, groupName, undefined, sequence);
    const [type, size, color] = valueNames.map((name) =>
      completeRule(componentLayout, name, group, sequence),
    );
    if (!group || !type || !size || !color) return undefined;
    completed.push([group, type, size, color]);
  }
  return completed;
}

const maskOf = (panel: ComponentPanel): number => slotMask(panel.entities.map(({ slot }) => slot));

/** Whether candidate entities show a level that no entity of the answer has. */
function hasNewLevel(
  answer: readonly Entity[],
  candidate: readonly Entity[],
  key: ValueKey,
): boolean {
  return candidate.some((entity) => answer.every((other) => other[key] !== entity[key]));
}

const differsInOrder = (
  answer: readonly Entity[],
  candidate: readonly Entity[],
  key: ValueKey,
): boolean => candidate.some((entity, index) => entity[key] !== answer[index][key]);

function componentChanges(
  variant: Variant,
  answer: ComponentPanel,
  candidate: ComponentPanel,
): CandidateAttribute[] {
  const changes: CandidateAttribute[] = [];
  const sameCount = answer.entities.length === candidate.entities.length;
  // RAVEN makes new entities for a new number: whatever else differs is no change of its own.
  if (!sameCount && variant === 'raven') return ['Number'];
  if (sameCount && maskOf(answer) !== maskOf(candidate)) changes.push('Position');
  for (const attribute of VALUE_ATTRIBUTES) {
    const differs = sameCount ? differsInOrder : hasNewLevel;
    if (differs(answer.entities, candidate.entities, VALUE_KEYS[attribute]))
      changes.push(attribute);
  }
  if (!sameCount) changes.push('Number');
  return changes;
}

/**
 * The attributes in which a candidate differs from the answer, as its variant would have changed them.
 * One thing cannot be seen: a change of Position under a change of Number.
 */
export function changesBetween(
  variant: Variant,
  answer: Panel,
  candidate: Panel,
): AttributeChange[] {
  return answer.components.flatMap((panel, component) =>
    componentChanges(variant, panel, candidate.components[component]).map((attribute) => ({
      component,
      attribute,
    })),
  );
}
