/**
 * Constraints on what is sampled, for people who make tests. A JSON value, every part of it optional:
 *
 *     {
 *       "rules":       [ { "position": "arithmetic -", "type": "constant",
 *                          "size": ["progression", "distribute three"],
 *                          "color": { "name": "progression", "value": 1 } } ],
 *       "start":       [ { "type": "circle", "size": 0.4, "color": "white", "angle": 45,
 *                          "number": 2, "position": [1, 4] } ],
 *       "uniform":     [ true ],
 *       "distractors": [ [ "size", "color" ] ]
 *     }
 *
 * Each part has one entry for each component of the configuration, in its order, or is an object with
 * the components' names as keys: { "In": { … } }. A missing or null entry leaves a component free.
 *
 * - rules: for number, position, type, size, color the name of a rule (constant, progression,
 *   arithmetic, distribute three), with "+1", "-2" and so on to fix its value; an array gives a choice,
 *   in which rules keep their weights. Number and Position share one rule: give one of them.
 * - start: values of the first panel of the first row; an array of up to three such objects (or nulls)
 *   is for the first panels of the rows. Types by name, sizes as fractions, colors as "white", "black"
 *   or a grey value, angles in degrees, slots counted from 1; types, sizes and colors by level as well.
 *   Where no rule is fixed, only rules that such a start allows are drawn.
 * - uniform: whether all entities of a component are alike (noisy configurations only).
 * - regime: the name of a regime of A-I-RAVEN, or an object such as { "color": { "train": "constant" },
 *   "size": { "test": "arithmetic" } }: rules that training has and the test has not, or the other way
 *   round; it holds for all components. split: train, val or test, which part of it is made.
 * - distractors: which attributes wrong candidates may change; here a component that is left out is not
 *   changed at all.
 */
import { UNIFORMITIES } from './attributes.js';
import {
  findRuleName,
  readAngle,
  readColor,
  readNumber,
  readRuleChoices,
  readSize,
  readSlots,
  readType,
} from './constraint-values.js';
import { ArgumentError, boolean, isRecord, oneOf, read, shown, type Given } from '../base/index.js';
import { otherRules, REGIME_NAMES, REGIMES, regimeTables, SPLITS } from './regimes.js';
import type { Regime, Split } from './regimes.js';
import { ruleWords } from './describe.js';
import type { ComponentLayout, ConfigurationLayout } from './layouts.js';
import { freePlan, type ComponentPlan, type Plan, type RowStart } from './plan.js';
import {
  CANDIDATE_ATTRIBUTES,
  RULE_NAMES,
  type CandidateAttribute,
  type Rule,
  type RuleName,
} from './problem.js';
import { groupOf, ruleTable, sameRule, type RuleGroup, type RuleTable } from './rules.js';
import { defined, fitTables, type Starts } from './start-values.js';

type Tables = Record<RuleGroup, RuleTable>;

const ATTRIBUTE_KEYS = {
  number: 'Number',
  position: 'Position',
  type: 'Type',
  size: 'Size',
  color: 'Color',
} as const;
const RULE_KEYS = ['number', 'position', 'type', 'size', 'color'] as const;

/** The entries of a part, one for each component, undefined if a component is left free. */
function entriesOf(part: Given, layout: ConfigurationLayout): (Given | undefined)[] {
  const names = layout.components.map(({ name }) => name);
  if (!part.isPresent) return names.map(() => undefined);
  let entries: (Given | undefined)[];
  if (Array.isArray(part.value)) {
    entries = part.items(0, names.length);
  } else {
    const members = part.members(names);
    entries = names.map((name) => members[name]);
  }
  return names.map((_, index) => {
    const entry = entries[index];
    return entry?.isPresent ? entry : undefined;
  });
}

function readRules(entry: Given, layout: ComponentLayout, free: Tables): Tables {
  const tables: Tables = { ...free };
  const members = entry.members(RULE_KEYS);
  if (members.number.isPresent && members.position.isPresent) {
    members.position.fail('Number and Position share one rule: give one of them');
  }
  for (const key of RULE_KEYS) {
    const reading = members[key];
    if (!reading.isPresent) continue;
    const attribute = ATTRIBUTE_KEYS[key];
    const allowed = readRuleChoices(reading, layout, attribute);
    const group = groupOf(attribute);
    tables[group] = ruleTable(
      free[group].rules.filter(({ rule }) => allowed.some((choice) => sameRule(choice, rule))),
    );
  }
  return tables;
}

function readRowStart(reading: Given, layout: ComponentLayout): RowStart {
  const keys = ['number', 'position', 'type', 'size', 'color', 'angle'] as const;
  const members = reading.members(keys);
  const read = <T>(
    key: (typeof keys)[number],
    reader: (reading: Given, layout: ComponentLayout) => T,
  ): T | undefined => (members[key].isPresent ? reader(members[key], layout) : undefined);
  const slots = read('position', readSlots);
  const number = read('number', readNumber);
  if (slots && number !== undefined && slots.length !== number + 1) {
    members.position.fail(`${slots.length} slots do not fit number ${number + 1}`);
  }
  return {
    number: slots ? slots.length - 1 : number,
    slots,
    type: read('type', readType),
    size: read('size', readSize),
    color: read('color', readColor),
    angle: read('angle', readAngle),
  };
}

function readStarts(entry: Given, layout: ComponentLayout): Starts {
  const rows = Array.isArray(entry.value) ? entry.items(1, 3) : [entry];
  const start = (row: number): RowStart => {
    const reading = rows.at(row);
    return row < rows.length && reading?.isPresent ? readRowStart(reading, layout) : {};
  };
  return [start(0), start(1), start(2)];
}

function readUniform(entry: Given, layout: ComponentLayout, free: readonly number[]): number[] {
  const uniform = boolean(entry);
  const fitting = free.filter((level) => UNIFORMITIES[level] === uniform);
  if (fitting.length === 0) {
    entry.fail(`${layout.name} is always uniform here: only noisy configurations are not`);
  }
  return fitting;
}

function readDistractors(entry: Given | undefined, layout: ComponentLayout): CandidateAttribute[] {
  if (!entry) return [];
  return entry.items(0, CANDIDATE_ATTRIBUTES.length).map((item) => {
    const attribute = ATTRIBUTE_KEYS[oneOf(RULE_KEYS)(item)];
    const single = layout.slots.length === 1;
    if (single && (attribute === 'Number' || attribute === 'Position')) {
      item.fail(`${attribute} cannot change in ${layout.name}: only 1 slot`);
    }
    if (attribute === 'Color' && layout.color.min === layout.color.max) {
      item.fail(`${attribute} cannot change in ${layout.name}: only 1 color`);
    }
    return attribute;
  });
}

const REGIME_KEYS = ['position', 'type', 'size', 'color'] as const;

/** One rule's name, or a list of them. */
function readRuleNames(given: Given): RuleName[] {
  const items = Array.isArray(given.value) ? given.items(1, RULE_NAMES.length) : [given];
  return items.map((item) =>
    typeof item.value === 'string'
      ? findRuleName(item, item.value)
      : item.expected("a rule's name, or a list of them"),
  );
}

/** The rules of training that an attribute's entry names, itself or by those of the test. */
function readTrainRules(given: Given): RuleName[] {
  const { train, test } = given.members(['train', 'test']);
  if (train.isPresent === test.isPresent) {
    given.fail('give the rules of "train" or those of "test"; the other part has the rest');
  }
  return train.isPresent ? readRuleNames(train) : otherRules(readRuleNames(test));
}

function readRegime(given: Given): Regime {
  if (typeof given.value === 'string') return REGIMES[oneOf(REGIME_NAMES)(given)];
  const members = given.members(REGIME_KEYS);
  const entries = REGIME_KEYS.filter((key) => members[key].isPresent).map((key) => [
    groupOf(ATTRIBUTE_KEYS[key]),
    readTrainRules(members[key]),
  ]);
  if (entries.length === 0) given.fail(`name at least one of ${REGIME_KEYS.join(', ')}`);
  return Object.fromEntries(entries) as Regime;
}

/**
 * Reads constraints for a layout from a JSON value, as described at the top of this file. Throws an
 * ArgumentError of one sentence that names the place where something is unknown or impossible.
 * @param split the part of a regime if the value does not name it; train unless told
 */
export function parseConstraints(
  value: unknown,
  layout: ConfigurationLayout,
  split: Split = 'train',
): Plan {
  if (!isRecord(value)) {
    throw new ArgumentError(`constraints: expected an object, found ${shown(value)}`);
  }
  return read((root) => readPlan(root, layout, split), value, ArgumentError);
}

/** The split that a JSON value of constraints names, if it does. */
export function splitOf(value: unknown): Split | undefined {
  return isRecord(value) ? SPLITS.find((split) => split === value.split) : undefined;
}

function readPlan(root: Given, layout: ConfigurationLayout, given: Split): Plan {
  const parts = root.members(['rules', 'start', 'uniform', 'distractors', 'regime', 'split']);
  const regime = parts.regime.isPresent ? readRegime(parts.regime) : undefined;
  if (parts.split.isPresent && !regime)
    parts.split.fail('a split is of a regime, which is missing');
  const split = parts.split.isPresent ? oneOf(SPLITS)(parts.split) : given;
  const rules = entriesOf(parts.rules, layout);
  const starts = entriesOf(parts.start, layout);
  const uniforms = entriesOf(parts.uniform, layout);
  const distractors = entriesOf(parts.distractors, layout);
  if (parts.distractors.isPresent && !distractors.some(defined)) {
    parts.distractors.fail('at least one attribute must be allowed to change');
  }
  const components = freePlan(layout).components.map((free, index): ComponentPlan => {
    const own = free.layout;
    const rule = rules[index];
    const start = starts[index];
    const uniform = uniforms[index];
    const allowed = rule ? readRules(rule, own, free.tables) : free.tables;
    const tables = regime ? regimeTables(allowed, regime, split) : allowed;
    const fixed = start ? readStarts(start, own) : free.starts;
    return {
      layout: own,
      tables: start ? fitTables(tables, own, fixed, start.path) : tables,
      starts: fixed,
      uniformity: uniform ? readUniform(uniform, own, free.uniformity) : free.uniformity,
      distractors: parts.distractors.isPresent
        ? readDistractors(distractors[index], own)
        : undefined,
    };
  });
  // Without it, problem i of the test would be problem i of training with one rule exchanged.
  return regime ? { layout, components, salt: 1 + SPLITS.indexOf(split) } : { layout, components };
}

/** The JSON value that fixes exactly these rules, by component: what makes more matrices of them. */
export function constraintsOfRules(rules: readonly (readonly Rule[])[]): {
  readonly rules: Record<string, { name: string; value: number }>[];
} {
  return {
    rules: rules.map((own) =>
      Object.fromEntries(
        own.map(({ attribute, name, value }) => [
          // Constant is a rule of number and position together; either name means it.
          attribute === 'Number/Position' ? 'position' : attribute.toLowerCase(),
          { name: ruleWords(name), value },
        ]),
      ),
    ),
  };
}
