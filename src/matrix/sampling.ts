/**
 * Sampling of problems, as the data sets do it: rules, then the nine panels, then the candidates.
 *
 * Every problem has its own random numbers, keyed by seed and index, so it does not depend on how many
 * are made or by whom. Context and answer have a stream of their own: the variants of one seed and
 * index share them, and the place of the answer, and differ in the wrong candidates only.
 */
import { UNIFORMITIES } from './attributes.js';
import { makeCandidates, shuffleCandidates } from './candidates.js';
import { ArgumentError } from '../base/index.js';
import { ALL_LAYOUTS, layoutOf, type ConfigurationLayout } from './layouts.js';
import { MESH } from './mesh.js';
import { freePlan, type ComponentPlan, type Plan, type RowStart } from './plan.js';
import {
  CONTEXT_PANELS,
  MATRIX_PANELS,
  VARIANTS,
  type ComponentPanel,
  type ComponentRules,
  type Configuration,
  type Entity,
  type Panel,
  type Problem,
  type Variant,
} from './problem.js';
import { Random } from './random.js';
import { levelSquare, slotSquare, type Square } from './rows.js';
import {
  drawRule,
  regenerates,
  rulesOf,
  VALUE_KEYS,
  type PossibleRules,
  type ValueKey,
} from './rules.js';

export interface PanelRequest {
  readonly configuration: Configuration;
  /** RAVEN's original noise; only for the configurations with grids. */
  readonly noisy?: boolean;
  /** With a mesh of lines, as in I-RAVEN-Mesh. */
  readonly mesh?: boolean;
  /** Any safe integer. */
  readonly seed: number;
  /** Which problem of the seed, from 0. */
  readonly index: number;
  /** Fixed rules, values or distractors, from `parseConstraints`. */
  readonly constraints?: Plan;
}

export interface ProblemRequest extends PanelRequest {
  /** How the wrong candidates are made; `raven` if absent. */
  readonly variant?: Variant;
}

/** A complete matrix without candidates, as training uses it. */
export interface CompleteMatrix {
  /** Panels 1..9, row by row; the last is the answer. */
  readonly panels: readonly Panel[];
  readonly rules: readonly ComponentRules[];
}

/** The look of an entity, without its place. */
type Look = Omit<Entity, 'slot'>;

/**
 * The streams of random numbers of one problem. `raven-unique` has RAVEN's: it differs from it only if
 * that has two candidates that look alike. Streams added later have blocks of their own, so that the
 * problems of a seed stay what they are.
 */
const STREAM_COUNT = 4;
const BLOCK = 1 << 20;
/** Above all blocks: streams of plans with a salt. */
const SALTED = 1 << 24;
const STREAMS = {
  panels: 0,
  raven: 1,
  'raven-unique': 1,
  'i-raven': 2,
  order: 3,
  'raven-fair': BLOCK,
  mesh: 2 * BLOCK,
} as const;
type StreamName = keyof typeof STREAMS;

/** With distractors fixed, some draws leave too few wrong candidates; so often another is tried. */
const MOST_TRIES = 256;

/**
 * A stream of one problem. Each layout has streams of its own: problem 3 of center must not have the
 * rules and the answer's place of problem 3 of left-right, or a mixed test would have one answer key.
 */
function streamOf(
  { seed, index }: PanelRequest,
  layout: ConfigurationLayout,
  attempt: number,
  name: StreamName,
  salt = 0,
): Random {
  const place = ALL_LAYOUTS.indexOf(layoutOf(layout.configuration, layout.noisy));
  const own = (place * MOST_TRIES + attempt) * STREAM_COUNT + STREAMS[name];
  return new Random(seed, index, salt * SALTED + own);
}

function drawRules(random: Random, plan: ComponentPlan): PossibleRules {
  return [
    drawRule(random, plan.tables['Number/Position']),
    drawRule(random, plan.tables.Type),
    drawRule(random, plan.tables.Size),
    drawRule(random, plan.tables.Color),
  ];
}

/** The levels of the value attributes that have a rule; a Constant one leaves them to the entities. */
type RuledLevels = Partial<Record<ValueKey, Square<number>>>;

function drawRuledLevels(random: Random, plan: ComponentPlan, rules: PossibleRules): RuledLevels {
  const ruled: RuledLevels = {};
  const [first, second, third] = plan.starts;
  for (const possible of rules) {
    const { name, attribute } = possible.rule;
    if (name === 'Constant') continue;
    if (attribute !== 'Type' && attribute !== 'Size' && attribute !== 'Color') continue;
    const key = VALUE_KEYS[attribute];
    ruled[key] = levelSquare(random, plan, possible, [first[key], second[key], third[key]]);
  }
  return ruled;
}

/** Draws the looks of one panel: one for all entities, or one for each. */
class LookSource {
  readonly #random: Random;
  readonly #plan: ComponentPlan;
  readonly #ruled: RuledLevels;

  constructor(random: Random, plan: ComponentPlan, ruled: RuledLevels) {
    this.#random = random;
    this.#plan = plan;
    this.#ruled = ruled;
  }

  #level(key: ValueKey | 'angle', row: number, column: number, fixed: RowStart): number {
    const square = key === 'angle' ? undefined : this.#ruled[key];
    if (square) return square[row][column];
    const range = this.#plan.layout[key];
    return fixed[key] ?? this.#random.between(range.min, range.max);
  }

  draw(row: number, column: number): Look {
    // Fixed values hold for the first column; noise in later columns is free.
    const fixed = column === 0 ? this.#plan.starts[row] : {};
    return {
      type: this.#level('type', row, column, fixed),
      size: this.#level('size', row, column, fixed),
      color: this.#level('color', row, column, fixed),
      angle: this.#level('angle', row, column, fixed),
    };
  }

  /** The same look in another column: only what has a rule changes. */
  carry(look: Look, row: number, column: number): Look {
    const { type, size, color } = this.#ruled;
    return {
      type: type ? type[row][column] : look.type,
      size: size ? size[row][column] : look.size,
      color: color ? color[row][column] : look.color,
      angle: look.angle,
    };
  }
}

function placed(slots: readonly number[], looks: (index: number) => Look): Entity[] {
  return slots.map((slot, index) => {
    const { type, size, color, angle } = looks(index);
    return { slot, type, size, color, angle };
  });
}

/** One component in all nine panels. */
function sampleComponent(
  random: Random,
  plan: ComponentPlan,
  rules: PossibleRules,
): ComponentPanel[] {
  const uniformity = random.pick(plan.uniformity);
  const uniform = UNIFORMITIES[uniformity];
  const slots = slotSquare(random, plan, rules[0]);
  const source = new LookSource(random, plan, drawRuledLevels(random, plan, rules));
  const noisy = !uniform && regenerates(rules[0].rule);
  const panels: ComponentPanel[] = [];
  for (let row = 0; row < 3; row++) {
    const shared = source.draw(row, 0);
    let previous = placed(slots[row][0], (index) =>
      uniform || index === 0 ? shared : source.draw(row, 0),
    );
    panels.push({ uniformity, entities: previous });
    for (let column = 1; column < 3; column++) {
      const before = previous;
      previous = placed(slots[row][column], (index) => {
        if (noisy) return source.draw(row, column);
        return source.carry(uniform ? before[0] : before[index], row, column);
      });
      panels.push({ uniformity, entities: previous });
    }
  }
  return panels;
}

/** A matrix with the start ranges of its rules, which RAVEN's Number distractors need. */
interface SampledMatrix extends CompleteMatrix {
  readonly possible: readonly PossibleRules[];
}

/** A mesh has a stream of its own: the figures of a seed and index are the same with it and without. */
function sampleMatrix(stream: (name: StreamName) => Random, plan: Plan): SampledMatrix {
  const figures = stream('panels');
  const streams = plan.components.map(({ layout }) => (layout === MESH ? stream('mesh') : figures));
  const possible = plan.components.map((component, index) => drawRules(streams[index], component));
  const components = plan.components.map((component, index) =>
    sampleComponent(streams[index], component, possible[index]),
  );
  const panels: Panel[] = [];
  for (let panel = 0; panel < MATRIX_PANELS; panel++) {
    panels.push({ components: components.map((component) => component[panel]) });
  }
  return { panels, rules: possible.map(rulesOf), possible };
}

function checkIndex(index: number): void {
  if (!Number.isSafeInteger(index) || index < 0) {
    throw new ArgumentError(`index must be an integer of at least 0, not ${String(index)}`);
  }
}

/** The nine panels and the rules of a problem, without its candidates: cheap, for training. */
export function samplePanels(request: PanelRequest): CompleteMatrix {
  checkIndex(request.index);
  const plan = planOf(request);
  const { panels, rules } = sampleMatrix(
    (name) => streamOf(request, plan.layout, 0, name, plan.salt),
    plan,
  );
  return { panels, rules };
}

function planOf({ configuration, noisy = false, mesh, constraints }: PanelRequest): Plan {
  const layout = layoutOf(configuration, noisy, mesh);
  const plan = constraints ?? freePlan(layout);
  if (plan.layout === layout) return plan;
  throw new ArgumentError(
    `the constraints are for ${plan.layout.folder}, the problem for ${layout.folder}`,
  );
}

/** Problem `index` of seed `seed`. */
export function sampleProblem(request: ProblemRequest): Problem {
  const { configuration, noisy = false, variant = 'raven', index } = request;
  checkIndex(index);
  if (!VARIANTS.includes(variant)) {
    throw new ArgumentError(
      `unknown variant "${String(variant)}": expected one of ${VARIANTS.join(', ')}`,
    );
  }
  const plan = planOf(request);
  let shortage = '';
  for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
    const stream = (name: StreamName): Random =>
      streamOf(request, plan.layout, attempt, name, plan.salt);
    const { panels, rules, possible } = sampleMatrix(stream, plan);
    const made = makeCandidates(stream(variant), variant, plan, possible, panels);
    if (typeof made === 'string') {
      shortage = made;
      continue;
    }
    const { candidates, target } = shuffleCandidates(stream('order'), made);
    return {
      configuration,
      noisy,
      ...(request.mesh && { mesh: true }),
      variant,
      context: panels.slice(0, CONTEXT_PANELS),
      candidates,
      target,
      rules,
    };
  }
  throw new ArgumentError(`distractors: ${shortage}`);
}
