/**
 * Problems as JSON. The form is the Problem itself, with a version beside it; `target`, slots and
 * components are indices and count from 0, as there:
 *
 *     { "version": 1, "configuration": "grid-2x2", "noisy": false, "variant": "i-raven",
 *       "context": [ { "components": [ { "uniformity": 3, "entities":
 *         [ { "slot": 0, "type": 5, "size": 2, "color": 0, "angle": 3 } ] } ] }, … 8 ],
 *       "candidates": [ { "panel": { … }, "changes": [ { "component": 0, "attribute": "Size" } ] }, … 8 ],
 *       "target": 4,
 *       "rules": [ [ { "name": "Constant", "attribute": "Number/Position", "value": 0 }, … 4 ] ] }
 */
import { ANGLES, COLORS, SIZES, TYPES, UNIFORMITIES } from './attributes.js';
import { FormatError } from './errors.js';
import {
  CANDIDATE_ATTRIBUTES,
  CONFIGURATIONS,
  RULE_ATTRIBUTES,
  RULE_NAMES,
  VARIANTS,
  type AttributeChange,
  type Candidate,
  type ComponentPanel,
  type ComponentRules,
  type Entity,
  type Panel,
  type Problem,
  type Rule,
} from './problem.js';
import { Reading } from './reading.js';
import { validateProblem } from './validation.js';

const VERSION = 1;

/** A problem as a JSON value. */
export interface ProblemJson extends Problem {
  readonly version: typeof VERSION;
}

/** The most components and slots that any layout has: bounds on what is read before it is checked. */
const MOST_COMPONENTS = 2;
const MOST_SLOTS = 9;

const copyEntity = ({ slot, type, size, color, angle }: Entity): Entity => ({
  slot,
  type,
  size,
  color,
  angle,
});

const copyPanel = ({ components }: Panel): Panel => ({
  components: components.map(({ uniformity, entities }) => ({
    uniformity,
    entities: entities.map(copyEntity),
  })),
});

const copyRule = ({ name, attribute, value }: Rule): Rule => ({ name, attribute, value });

/** A problem as a JSON value that shares nothing with it and has its keys in a fixed order. */
export function problemToJson(problem: Problem): ProblemJson {
  return {
    version: VERSION,
    configuration: problem.configuration,
    noisy: problem.noisy,
    variant: problem.variant,
    context: problem.context.map(copyPanel),
    candidates: problem.candidates.map(({ panel, changes }) => ({
      panel: copyPanel(panel),
      changes: changes.map(({ component, attribute }) => ({ component, attribute })),
    })),
    target: problem.target,
    rules: problem.rules.map(([position, type, size, color]): ComponentRules => [
      copyRule(position),
      copyRule(type),
      copyRule(size),
      copyRule(color),
    ]),
  };
}

function readEntity(reading: Reading): Entity {
  const { slot, type, size, color, angle } = reading.members([
    'slot',
    'type',
    'size',
    'color',
    'angle',
  ]);
  return {
    slot: slot.integer(0, MOST_SLOTS - 1),
    type: type.integer(1, TYPES.length - 1),
    size: size.integer(0, SIZES.length - 1),
    color: color.integer(0, COLORS.length - 1),
    angle: angle.integer(0, ANGLES.length - 1),
  };
}

function readComponent(reading: Reading): ComponentPanel {
  const { uniformity, entities } = reading.members(['uniformity', 'entities']);
  return {
    uniformity: uniformity.integer(0, UNIFORMITIES.length - 1),
    entities: entities.items(1, MOST_SLOTS).map(readEntity),
  };
}

function readPanel(reading: Reading): Panel {
  const { components } = reading.members(['components']);
  return { components: components.items(1, MOST_COMPONENTS).map(readComponent) };
}

function readChange(reading: Reading): AttributeChange {
  const { component, attribute } = reading.members(['component', 'attribute']);
  return {
    component: component.integer(0, MOST_COMPONENTS - 1),
    attribute: attribute.oneOf(CANDIDATE_ATTRIBUTES),
  };
}

function readCandidate(reading: Reading): Candidate {
  const { panel, changes } = reading.members(['panel', 'changes']);
  const mostChanges = MOST_COMPONENTS * CANDIDATE_ATTRIBUTES.length;
  return { panel: readPanel(panel), changes: changes.items(0, mostChanges).map(readChange) };
}

function readRule(reading: Reading): Rule {
  const { name, attribute, value } = reading.members(['name', 'attribute', 'value']);
  return {
    name: name.oneOf(RULE_NAMES),
    attribute: attribute.oneOf(RULE_ATTRIBUTES),
    value: value.integer(-2, 2),
  };
}

function readRules(reading: Reading): ComponentRules {
  const [position, type, size, color] = reading.items(4, 4).map(readRule);
  return [position, type, size, color];
}

/** Reads a problem from a JSON value; throws a FormatError that names what is wrong, and where. */
export function parseProblem(value: unknown): Problem {
  const root = new Reading(value, '', FormatError);
  if (!root.isObject()) throw new FormatError(`problem: expected an object, found ${root.shown()}`);
  const members = root.members([
    'version',
    'configuration',
    'noisy',
    'variant',
    'context',
    'candidates',
    'target',
    'rules',
  ]);
  members.version.integer(VERSION, VERSION);
  const problem: Problem = {
    configuration: members.configuration.oneOf(CONFIGURATIONS),
    noisy: members.noisy.boolean(),
    variant: members.variant.oneOf(VARIANTS),
    context: members.context.items(8, 8).map(readPanel),
    candidates: members.candidates.items(8, 8).map(readCandidate),
    target: members.target.integer(0, 7),
    rules: members.rules.items(1, MOST_COMPONENTS).map(readRules),
  };
  validateProblem(problem);
  return problem;
}
