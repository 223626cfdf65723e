/**
 * Whether a value of type Problem is one: levels and slots in range for its layout, rules possible
 * there, eight candidates that all differ, one of which is the answer. Whether the rules hold in the
 * panels is another question: see `rulesHold`.
 */
import type { LevelRange } from './attributes.js';
import { ArgumentError, FormatError } from '../base/index.js';
import { layoutOfProblem, type ComponentLayout, type ConfigurationLayout } from './layouts.js';
import {
  CANDIDATE_ATTRIBUTES,
  CANDIDATES,
  CONTEXT_PANELS,
  RULE_ATTRIBUTES,
  VARIANTS,
  type AttributeChange,
  type ComponentPanel,
  type ComponentRules,
  type Panel,
  type Problem,
} from './problem.js';
import { findPossible, groupOf, RULE_GROUPS } from './rules.js';

function fail(path: string, message: string): never {
  throw new FormatError(`${path}: ${message}`);
}

function checkLevel(path: string, level: number, { min, max }: LevelRange): void {
  if (!Number.isInteger(level) || level < min || level > max) {
    fail(path, `expected a level from ${min} to ${max}, found ${String(level)}`);
  }
}

function checkCount(path: string, items: readonly unknown[], count: number): void {
  if (items.length !== count) fail(path, `expected ${count} items, found ${items.length}`);
}

function checkComponent(path: string, panel: ComponentPanel, layout: ComponentLayout): void {
  checkLevel(`${path}.uniformity`, panel.uniformity, layout.uniformity);
  const { entities } = panel;
  const slotCount = layout.slots.length;
  if (entities.length < 1 || entities.length > slotCount) {
    fail(`${path}.entities`, `expected 1 to ${slotCount} items, found ${entities.length}`);
  }
  let used = 0;
  entities.forEach((entity, index) => {
    const place = `${path}.entities[${index}]`;
    checkLevel(`${place}.slot`, entity.slot, { min: 0, max: slotCount - 1 });
    checkLevel(`${place}.type`, entity.type, layout.type);
    checkLevel(`${place}.size`, entity.size, layout.size);
    checkLevel(`${place}.color`, entity.color, layout.color);
    checkLevel(`${place}.angle`, entity.angle, layout.angle);
    if (used & (1 << entity.slot)) fail(`${place}.slot`, `slot ${entity.slot} is taken already`);
    used |= 1 << entity.slot;
  });
}

/** Checks a panel against a layout; throws a FormatError that names the place under `path`. */
export function validatePanel(layout: ConfigurationLayout, panel: Panel, path = 'panel'): void {
  checkCount(`${path}.components`, panel.components, layout.components.length);
  panel.components.forEach((component, index) => {
    checkComponent(`${path}.components[${index}]`, component, layout.components[index]);
  });
}

/** A text that two panels share exactly when they show the same: the order of entities is left out. */
export function panelKey(panel: Panel): string {
  return panel.components
    .map(({ entities }) =>
      [...entities]
        .sort((a, b) => a.slot - b.slot)
        .map(({ slot, type, size, color, angle }) => [slot, type, size, color, angle].join(' '))
        .join(),
    )
    .join('|');
}

function checkRules(path: string, rules: ComponentRules, layout: ComponentLayout): void {
  checkCount(path, rules, RULE_GROUPS.length);
  rules.forEach((rule, index) => {
    const place = `${path}[${index}]`;
    const { name, attribute, value } = rule;
    if (!RULE_ATTRIBUTES.includes(attribute) || groupOf(attribute) !== RULE_GROUPS[index]) {
      fail(place, `expected a rule on ${RULE_GROUPS[index]}, found one on ${String(attribute)}`);
    }
    if (!findPossible(layout, rule)) {
      const shown = `${String(name)} ${String(value)} on ${attribute}`;
      fail(place, `the rule ${shown} is impossible for ${layout.name}`);
    }
  });
}

function checkChanges(path: string, changes: readonly AttributeChange[], components: number): void {
  const seen = new Set<string>();
  changes.forEach(({ component, attribute }, index) => {
    const place = `${path}[${index}]`;
    checkLevel(`${place}.component`, component, { min: 0, max: components - 1 });
    if (!CANDIDATE_ATTRIBUTES.includes(attribute)) {
      fail(`${place}.attribute`, `unknown attribute ${String(attribute)}`);
    }
    const key = `${component} ${attribute}`;
    if (seen.has(key)) fail(place, `component ${component} has ${attribute} twice`);
    seen.add(key);
  });
}

function checkCandidates(problem: Problem, layout: ConfigurationLayout): void {
  const { candidates, target } = problem;
  checkCount('candidates', candidates, CANDIDATES);
  checkLevel('target', target, { min: 0, max: candidates.length - 1 });
  const seen = new Map<string, number>();
  candidates.forEach(({ panel, changes }, index) => {
    const path = `candidates[${index}]`;
    validatePanel(layout, panel, `${path}.panel`);
    checkChanges(`${path}.changes`, changes, layout.components.length);
    if (index === target && changes.length > 0) {
      fail(`${path}.changes`, 'the answer must have none');
    }
    if (index !== target && changes.length === 0) {
      fail(`${path}.changes`, 'a wrong candidate must have at least one');
    }
    const key = panelKey(panel);
    const twin = seen.get(key);
    if (twin !== undefined) fail(`${path}.panel`, `equals candidates[${twin}].panel`);
    seen.set(key, index);
  });
}

function checkedLayout(problem: Problem): ConfigurationLayout {
  try {
    return layoutOfProblem(problem);
  } catch (error) {
    if (error instanceof ArgumentError) throw new FormatError(error.message);
    throw error;
  }
}

/** Checks a problem in full; throws a FormatError that names the first place that is wrong. */
export function validateProblem(problem: Problem): void {
  const layout = checkedLayout(problem);
  if (!VARIANTS.includes(problem.variant)) {
    fail('variant', `expected one of ${VARIANTS.join(', ')}, found ${String(problem.variant)}`);
  }
  checkCount('context', problem.context, CONTEXT_PANELS);
  problem.context.forEach((panel, index) => {
    validatePanel(layout, panel, `context[${index}]`);
  });
  checkCount('rules', problem.rules, layout.components.length);
  problem.rules.forEach((rules, index) => {
    checkRules(`rules[${index}]`, rules, layout.components[index]);
  });
  checkCandidates(problem, layout);
}
