/**
 * Which attributes of an answer a wrong candidate may change so that it breaks a rule for certain, and
 * how many different changes each allows. An attribute that is noise in the third column, or whose
 * change no rule would notice, is not among them.
 */
import { UNIFORMITIES } from './attributes.js';
import { otherCounts } from './edits.js';
import type { ComponentLayout } from './layouts.js';
import type { ComponentPlan } from './plan.js';
import type {
  AttributeChange,
  CandidateAttribute,
  ComponentPanel,
  ComponentRules,
  Panel,
} from './problem.js';
import { originalRange, regenerates, VALUE_ATTRIBUTES } from './rules.js';
import { arrangements } from './slots.js';

/** An attribute of a component that wrong candidates may change. */
export interface Modifiable extends AttributeChange {
  /** How many different changes there are; at least 1. */
  readonly budget: number;
}

function numberBudget(layout: ComponentLayout, count: number): number {
  return otherCounts(layout, count).reduce(
    (budget, other) => budget + arrangements(layout.slots.length, other),
    0,
  );
}

/** Changes of one component and their number; a number of 0 means that the attribute cannot change. */
function budgets(
  layout: ComponentLayout,
  rules: ComponentRules,
  answer: ComponentPanel,
): [CandidateAttribute, number][] {
  const count = answer.entities.length;
  const [groupRule, ...valueRules] = rules;
  const found: [CandidateAttribute, number][] = [['Number', numberBudget(layout, count)]];
  if (groupRule.attribute !== 'Number') {
    found.push(['Position', arrangements(layout.slots.length, count) - 1]);
  }
  const noise = !UNIFORMITIES[answer.uniformity] && regenerates(groupRule);
  VALUE_ATTRIBUTES.forEach((attribute, index) => {
    if (valueRules[index].name === 'Constant' && noise) return;
    const { min, max } = originalRange(layout, attribute);
    found.push([attribute, max - min]);
  });
  return found;
}

/** The attributes of an answer that wrong candidates may change, within what the plan allows. */
export function modifiableAttributes(
  plans: readonly ComponentPlan[],
  rules: readonly ComponentRules[],
  answer: Panel,
): Modifiable[] {
  return plans.flatMap(({ layout, distractors }, component) =>
    budgets(layout, rules[component], answer.components[component])
      .filter(([attribute, budget]) => budget > 0 && (distractors?.includes(attribute) ?? true))
      .map(([attribute, budget]) => ({ component, attribute, budget })),
  );
}
