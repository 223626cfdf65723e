/**
 * I-RAVEN-X (Hersche, Camposampiero and others): matrices of numbers alone, of any width and any number of
 * values, for language models. One figure a panel with Type, Size and Color; a rule on each in every row of
 * an n x n table, of which the last three rows are shown. Angle and confounders are noise.
 */
import { ArgumentError } from '../base/index.js';
import { CANDIDATES, RULE_NAMES, type RuleName } from './problem.js';
import { Random } from './random.js';
import { VALUE_ATTRIBUTES, type ValueAttribute } from './rules.js';

/** How the operands of a sum are drawn: `limited` one after the other up to a target, or `uniform`. */
export const OPERAND_DRAWS = ['limited', 'uniform'] as const;
export type OperandDraw = (typeof OPERAND_DRAWS)[number];

export interface NumericRequest {
  /** Panels of a row; 10 unless told, at least 3. */
  readonly width?: number;
  /** Values are 0 .. values - 1; 1000 unless told. */
  readonly values?: number;
  /** Further numbers of each panel that follow no rule; 0 unless told. */
  readonly confounders?: number;
  /** One rule for all attributes; drawn for each unless told. */
  readonly rule?: RuleName;
  readonly operands?: OperandDraw;
  readonly seed: number;
  readonly index: number;
}

/** One panel: its three ruled values, then noise. */
export interface NumericPanel extends Readonly<Record<ValueAttribute, number>> {
  readonly Angle: number;
  readonly confounders: readonly number[];
}

export interface NumericProblem {
  readonly width: number;
  readonly values: number;
  readonly rules: Readonly<Record<ValueAttribute, RuleName>>;
  /** All panels of the n x n table, row by row, but the last. */
  readonly context: readonly NumericPanel[];
  readonly candidates: readonly NumericPanel[];
  readonly target: number;
}

const DEFAULTS = { width: 10, values: 1000, confounders: 0, operands: 'limited' } as const;
const SHOWN_ROWS = 3;
const STEPS = [-2, -1, 1, 2] as const;
const ATTRIBUTE_RULES: Readonly<Record<ValueAttribute, readonly RuleName[]>> = {
  Type: ['Constant', 'Progression', 'Distribute_Three'],
  Size: RULE_NAMES,
  Color: RULE_NAMES,
};
/** Apart from the streams of figure problems. */
const STREAM = 1 << 28;

type Setting = Required<Omit<NumericRequest, 'rule'>> & Pick<NumericRequest, 'rule'>;
type Table = number[][];

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

function settingOf(request: NumericRequest): Setting {
  const setting = { ...DEFAULTS, ...request };
  const bounds = { width: [3, 100], values: [10, 1 << 19], confounders: [0, 1000] } as const;
  for (const name of ['width', 'values', 'confounders'] as const) {
    const [min, max] = bounds[name];
    if (!Number.isInteger(setting[name]) || setting[name] < min || setting[name] > max) {
      throw new ArgumentError(`${name} must be a whole number from ${min} to ${max}`);
    }
  }
  const { width, values } = setting;
  if (values <= 2 * (width - 1)) {
    throw new ArgumentError(
      `values must be more than ${2 * (width - 1)}: a progression by 2 over ${width} panels needs so many`,
    );
  }
  return setting;
}

function progressionTable(random: Random, { width, values }: Setting): Table {
  const step = random.pick(STEPS);
  const reach = (width - 1) * Math.abs(step);
  return range(width).map(() => {
    const least = random.between(0, values - 1 - reach);
    const first = step > 0 ? least : least + reach;
    return range(width).map((column) => first + column * step);
  });
}

function distributeTable(random: Random, { width, values }: Setting): Table {
  // One value more than elsewhere, as the published generator has it.
  const row = random.subset(values + 1, width);
  const shift = random.coin() ? 1 : -1;
  return range(width).map((r) =>
    range(width).map((column) => row[(((column - r * shift) % width) + width) % width]),
  );
}

function limitedOperands(random: Random, { width, values }: Setting): number[] {
  const target = random.between(Math.floor(values / 2), values - 1);
  let operands: number[];
  do {
    let sum = 0;
    operands = range(width - 1).map(() => {
      const operand = random.between(0, target - sum);
      sum += operand;
      return operand;
    });
  } while (operands.every((operand) => operand === 0));
  const mixed = random.subset(width - 1, width - 1).map((index) => operands[index]);
  if (mixed[width - 2] === 0) {
    const other = mixed.findIndex((operand) => operand !== 0);
    [mixed[width - 2], mixed[other]] = [mixed[other], 0];
  }
  return mixed;
}

function arithmeticTable(random: Random, setting: Setting): Table {
  const plus = random.coin();
  const { width, values } = setting;
  const most = Math.floor(values / (width - 1)) - 1;
  return range(width).map(() => {
    const operands =
      setting.operands === 'uniform'
        ? range(width - 1).map(() => random.between(0, most))
        : limitedOperands(random, setting);
    const sum = operands.reduce((a, b) => a + b, 0);
    return plus ? [...operands, sum] : [sum, ...operands];
  });
}

function constantTable(random: Random, { width, values }: Setting): Table {
  return range(width).map(() => Array<number>(width).fill(random.below(values)));
}

const TABLES: Readonly<Record<RuleName, (random: Random, setting: Setting) => Table>> = {
  Constant: constantTable,
  Progression: progressionTable,
  Arithmetic: arithmeticTable,
  Distribute_Three: distributeTable,
};

type Tables = Readonly<Record<ValueAttribute, Table>>;
type Values = Readonly<Record<ValueAttribute, number>>;

/** For each attribute one wrong value that occurs somewhere in the matrix; undefined if there is none. */
function wrongValues(random: Random, tables: Tables, answer: Values): Values | undefined {
  const present = [...new Set(VALUE_ATTRIBUTES.flatMap((attribute) => tables[attribute].flat()))];
  const wrong: Partial<Record<ValueAttribute, number>> = {};
  for (const attribute of VALUE_ATTRIBUTES) {
    const others = present.filter((value) => value !== answer[attribute]);
    if (others.length === 0) return undefined;
    wrong[attribute] = random.pick(others);
  }
  return wrong as Values;
}

/** Problem `index` of a seed. */
export function sampleNumericProblem(request: NumericRequest): NumericProblem {
  const setting = settingOf(request);
  const { width, values, confounders, rule } = setting;
  const random = new Random(setting.seed, setting.index, STREAM);
  const rules = Object.fromEntries(
    VALUE_ATTRIBUTES.map((attribute) => [
      attribute,
      rule ?? random.pick(ATTRIBUTE_RULES[attribute]),
    ]),
  ) as Record<ValueAttribute, RuleName>;
  const panel = (shown: Values): NumericPanel => ({
    Type: shown.Type,
    Size: shown.Size,
    Color: shown.Color,
    Angle: random.below(values),
    confounders: range(confounders).map(() => random.below(values)),
  });
  for (;;) {
    const tables = Object.fromEntries(
      VALUE_ATTRIBUTES.map((attribute) => [attribute, TABLES[rules[attribute]](random, setting)]),
    ) as Tables;
    const at = (place: number): Values =>
      Object.fromEntries(
        VALUE_ATTRIBUTES.map((attribute) => [
          attribute,
          tables[attribute][Math.floor(place / width)][place % width],
        ]),
      ) as Values;
    const answer = at(width * width - 1);
    const wrong = wrongValues(random, tables, answer);
    // Only a matrix of a single value has none: too rare to matter, and drawn again.
    if (!wrong) continue;
    const order = random.subset(CANDIDATES, CANDIDATES);
    return {
      width,
      values,
      rules,
      context: range(width * width - 1).map((place) => panel(at(place))),
      // Bit a of a candidate's number tells whether attribute a is wrong; number 0 is the answer.
      candidates: order.map((number) =>
        panel(
          Object.fromEntries(
            VALUE_ATTRIBUTES.map((attribute, bit) => [
              attribute,
              number & (1 << bit) ? wrong[attribute] : answer[attribute],
            ]),
          ) as Values,
        ),
      ),
      target: order.indexOf(0),
    };
  }
}

/** What people and models are shown: the last three rows, the last of them without its last panel. */
export function shownRows({
  width,
  context,
}: NumericProblem): readonly (readonly NumericPanel[])[] {
  return range(SHOWN_ROWS).map((row) => {
    const first = (width - SHOWN_ROWS + row) * width;
    return context.slice(first, first + width);
  });
}

/** A problem as the published JSON has it. */
export function numericProblemJson({ rules, context, candidates, target }: NumericProblem) {
  const panelJson = ({ confounders, ...shown }: NumericPanel) => [
    Object.fromEntries([
      ...Object.entries(shown).map(([name, value]) => [name, String(value)]),
      ...confounders.map((value, i) => [`Confounder${i}`, String(value)]),
    ]) as Record<string, string>,
  ];
  return {
    rules: [{ 'Number/Position': 'Constant', ...rules }],
    rpm: [...context, ...candidates].map(panelJson),
    target: String(target),
  };
}
