/**
 * Problems as JSON. The form is the Problem itself, with a version beside it; `target`, slots and
 * components are indices and count from 0, as there:
 *
 *     { "version": 1, "configuration": "grid-2x2", "noisy": false, "variant": "i-raven",
 *       "context": [ { "components": [ { "uniformity": 3, "entities":
 *         [ { "slot": 0, "type": 5, "size": 2, "color": 0, "angle": 3 } ] } ] }, … 8 ],
 *       "candidates": [ { "panel": { … }, "changes": [ { "component": 0, "attribute": "Size" } ] }, … 8 ],
 *       "target": 4,
 *       "rules": [ [ { "name": "Constant", "attribute": "Number/Position", "value": 0,
 *                      "direction": null, "index": 0 }, … 4 ] ] }
 *
 * `direction` and `index` follow from the panels (`rule-parameters.ts`): they are written for others to
 * read and not looked at when a problem is read.
 */
import { ANGLES, COLORS, SIZES, TYPES, UNIFORMITIES } from './attributes.js';
import {
  boolean,
  FormatError,
  integer,
  isRecord,
  list,
  nullable,
  object,
  oneOf,
  optional,
  read,
  shown,
  type Reader,
} from '../base/index.js';
import {
  CANDIDATE_ATTRIBUTES,
  CANDIDATES,
  CONFIGURATIONS,
  CONTEXT_PANELS,
  RULE_ATTRIBUTES,
  RULE_NAMES,
  VARIANTS,
  type ComponentRules,
  type Entity,
  type Panel,
  type Problem,
  type Rule,
} from './problem.js';
import { problemRuleParameters, type RuleParameters } from './rule-parameters.js';
import { validateProblem } from './validation.js';

const VERSION = 1 as const;

/** A problem as a JSON value. */
export interface ProblemJson extends Omit<Problem, 'rules'> {
  readonly version: typeof VERSION;
  /** One entry for each component, of four rules. */
  readonly rules: readonly (readonly RuleParameters[])[];
}

/** The most components and slots that any layout has: bounds on what is read before it is checked. */
const MOST_COMPONENTS = 3;
const MOST_SLOTS = 12;

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

/** A problem as a JSON value that shares nothing with it and has its keys in a fixed order. */
export function problemToJson(problem: Problem): ProblemJson {
  return {
    version: VERSION,
    configuration: problem.configuration,
    noisy: problem.noisy,
    ...(problem.mesh && { mesh: true }),
    variant: problem.variant,
    context: problem.context.map(copyPanel),
    candidates: problem.candidates.map(({ panel, changes }) => ({
      panel: copyPanel(panel),
      changes: changes.map(({ component, attribute }) => ({ component, attribute })),
    })),
    target: problem.target,
    rules: problemRuleParameters(problem),
  };
}

const entity = object({
  slot: integer({ min: 0, max: MOST_SLOTS - 1 }),
  type: integer({ min: 1, max: TYPES.length - 1 }),
  size: integer({ min: 0, max: SIZES.length - 1 }),
  color: integer({ min: 0, max: COLORS.length - 1 }),
  angle: integer({ min: 0, max: ANGLES.length - 1 }),
});

const component = object({
  uniformity: integer({ min: 0, max: UNIFORMITIES.length - 1 }),
  entities: list(entity, { min: 1, max: MOST_SLOTS }),
});

const panel = object({ components: list(component, { min: 1, max: MOST_COMPONENTS }) });

const change = object({
  component: integer({ min: 0, max: MOST_COMPONENTS - 1 }),
  attribute: oneOf(CANDIDATE_ATTRIBUTES),
});

const candidate = object({
  panel,
  changes: list(change, { max: MOST_COMPONENTS * CANDIDATE_ATTRIBUTES.length }),
});

const ruleFields = object({
  name: oneOf(RULE_NAMES),
  attribute: oneOf(RULE_ATTRIBUTES),
  value: integer({ min: -2, max: 2 }),
  direction: optional(nullable(oneOf(['left', 'right']))),
  index: optional(integer({ min: 0 })),
  mesh: optional(boolean),
});

const rule: Reader<Rule> = (given) => {
  const { name, attribute, value } = ruleFields(given);
  return { name, attribute, value };
};

const componentRules: Reader<ComponentRules> = (given) => {
  const [position, type, size, color] = given.items(4, 4).map(rule);
  return [position, type, size, color];
};

const problemFields = object({
  version: oneOf([VERSION]),
  configuration: oneOf(CONFIGURATIONS),
  noisy: boolean,
  mesh: optional(boolean),
  variant: oneOf(VARIANTS),
  context: list(panel, { min: CONTEXT_PANELS, max: CONTEXT_PANELS }),
  candidates: list(candidate, { min: CANDIDATES, max: CANDIDATES }),
  target: integer({ min: 0, max: CANDIDATES - 1 }),
  rules: list(componentRules, { min: 1, max: MOST_COMPONENTS }),
});

/** Reads a problem from a JSON value; throws a FormatError that names what is wrong, and where. */
export function parseProblem(value: unknown): Problem {
  if (!isRecord(value)) throw new FormatError(`problem: expected an object, found ${shown(value)}`);
  const { version: _, ...problem } = read(problemFields, value, FormatError);
  validateProblem(problem);
  return problem;
}
