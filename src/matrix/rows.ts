/**
 * What a rule puts into the three columns of the three rows: levels for the rules on Number, Type,
 * Size and Color, sets of slots for those on Position. Values of the first column that are fixed
 * beforehand are kept; the caller has made sure that the rule allows them.
 */
import type { LevelRange } from './attributes.js';
import type { ComponentPlan } from './plan.js';
import type { Random } from './random.js';
import type { ComponentLayout } from './layouts.js';
import {
  arithmeticSecond,
  arithmeticThird,
  drawable,
  originalRange,
  positionStep,
  type PossibleRule,
} from './rules.js';
import { maskSlots, slotMask } from './slots.js';

/** The values of the three columns of a row. */
type Triple<T> = readonly [T, T, T];
/** The values of the nine panels, row by row. */
export type Square<T> = Triple<Triple<T>>;

type FixedLevels = Triple<number | undefined>;

/** A level of a range that is none of the excluded ones. */
function drawExcept(random: Random, range: LevelRange, excluded: readonly number[]): number {
  const free: number[] = [];
  for (let level = range.min; level <= range.max; level++) {
    if (!excluded.includes(level)) free.push(level);
  }
  return random.pick(free);
}

/**
 * The Latin square of three things that start the three rows: each row holds all three, in the same
 * cyclic order, which is one of two.
 */
function distribute<T>(random: Random, [x, y, z]: Triple<T>): Square<T> {
  return random.coin()
    ? [
        [x, y, z],
        [y, z, x],
        [z, x, y],
      ]
    : [
        [x, z, y],
        [y, x, z],
        [z, y, x],
      ];
}

function distinctLevels(
  random: Random,
  start: LevelRange,
  original: LevelRange,
  fixed: FixedLevels,
): Triple<number> {
  const taken = fixed.filter((level) => level !== undefined);
  const draw = (level: number | undefined, range: LevelRange): number => {
    if (level !== undefined) return level;
    const drawn = drawExcept(random, range, taken);
    taken.push(drawn);
    return drawn;
  };
  return [draw(fixed[0], start), draw(fixed[1], original), draw(fixed[2], original)];
}

function progressionRow(step: number, first: number): Triple<number> {
  return [first, first + step, first + 2 * step];
}

/**
 * Three rows of arithmetic on Color. A second column of white leaves first and third alike, as
 * Constant would; the data sets allow that in the first row only if the second row is different.
 */
function colorArithmeticRows(
  random: Random,
  { rule, start }: PossibleRule,
  original: LevelRange,
  fixed: FixedLevels,
): Square<number> {
  // The first level that leaves white as the only choice for the second column.
  const barren = rule.value > 0 ? original.max : original.min;
  const row = (fixedFirst: number | undefined, mustChange: boolean): Triple<number> => {
    const first = fixedFirst ?? drawExcept(random, start, mustChange ? [barren] : []);
    const { min, max } = arithmeticSecond(rule, original, first);
    const second = random.between(mustChange ? min + 1 : min, max);
    return [first, second, arithmeticThird(rule, first, second)];
  };
  const first = row(fixed[0], fixed[1] === barren);
  return [first, row(fixed[1], first[1] === original.min), row(fixed[2], false)];
}

function arithmeticRow(
  random: Random,
  layout: ComponentLayout,
  { rule, start }: PossibleRule,
  fixed: number | undefined,
): Triple<number> {
  const first = fixed ?? random.between(start.min, start.max);
  const allowed = arithmeticSecond(rule, originalRange(layout, rule.attribute), first);
  const { min, max } = rule.attribute === 'Number' ? drawable(layout, allowed) : allowed;
  const second = random.between(min, max);
  return [first, second, arithmeticThird(rule, first, second)];
}

/** The levels under a rule on Number, Type, Size or Color that is not Constant. */
export function levelSquare(
  random: Random,
  plan: ComponentPlan,
  possible: PossibleRule,
  fixed: FixedLevels,
): Square<number> {
  const { rule, start } = possible;
  const original = originalRange(plan.layout, rule.attribute);
  if (rule.name === 'Distribute_Three') {
    return distribute(random, distinctLevels(random, start, original, fixed));
  }
  if (rule.name === 'Arithmetic' && rule.attribute === 'Color') {
    return colorArithmeticRows(random, possible, original, fixed);
  }
  const row = (fixedFirst: number | undefined): Triple<number> =>
    rule.name === 'Arithmetic'
      ? arithmeticRow(random, plan.layout, possible, fixedFirst)
      : progressionRow(rule.value, fixedFirst ?? random.between(start.min, start.max));
  return [row(fixed[0]), row(fixed[1]), row(fixed[2])];
}

function drawSlots(random: Random, plan: ComponentPlan, level: number): readonly number[] {
  return random.subset(plan.layout.slots.length, level + 1);
}

/** The slots of a row's first panel, fixed or drawn. */
function startSlots(
  random: Random,
  plan: ComponentPlan,
  start: LevelRange,
  row: number,
): readonly number[] {
  const fixed = plan.starts[row];
  if (fixed.slots) return fixed.slots;
  return drawSlots(random, plan, fixed.number ?? random.between(start.min, start.max));
}

/** Three different sets of slots of equal number, keeping the fixed ones. */
function distinctSlots(
  random: Random,
  plan: ComponentPlan,
  start: LevelRange,
): Triple<readonly number[]> {
  const number =
    plan.starts.find((row) => row.number !== undefined)?.number ??
    random.between(start.min, start.max);
  const used = new Set<number>();
  for (const { slots } of plan.starts) if (slots) used.add(slotMask(slots));
  const draw = (row: number): readonly number[] => {
    const fixed = plan.starts[row].slots;
    if (fixed) return fixed;
    // Ends: the narrowed range leaves at least three sets of this number.
    let drawn = drawSlots(random, plan, number);
    while (used.has(slotMask(drawn))) drawn = drawSlots(random, plan, number);
    used.add(slotMask(drawn));
    return drawn;
  };
  return [draw(0), draw(1), draw(2)];
}

function positionArithmeticRow(
  random: Random,
  plan: ComponentPlan,
  { rule, start }: PossibleRule,
  first: readonly number[],
): Triple<readonly number[]> {
  const union = rule.value > 0;
  const a = slotMask(first);
  for (;;) {
    // Ends: the narrowed range always leaves a set that is not covered (union: first is not all
    // slots; difference: sets as large as the first exist that are not the first).
    const second = drawSlots(random, plan, random.between(start.min, start.max));
    const b = slotMask(second);
    const changes = union ? b & ~a : a & ~b;
    if (changes) return [first, second, maskSlots(union ? a | b : changes)];
  }
}

function positionSquare(
  random: Random,
  plan: ComponentPlan,
  possible: PossibleRule,
): Square<readonly number[]> {
  const { rule, start } = possible;
  if (rule.name === 'Distribute_Three') {
    return distribute(random, distinctSlots(random, plan, start));
  }
  const slotCount = plan.layout.slots.length;
  const moved = (slots: readonly number[], steps: number): readonly number[] =>
    slots.map((slot) => (slot + steps + 2 * slotCount) % slotCount);
  const step = positionStep(plan.layout, rule.value);
  const row = (index: number): Triple<readonly number[]> => {
    const first = startSlots(random, plan, start, index);
    if (rule.name === 'Arithmetic') return positionArithmeticRow(random, plan, possible, first);
    return [first, moved(first, step), moved(first, 2 * step)];
  };
  return [row(0), row(1), row(2)];
}

function numberSquare(
  random: Random,
  plan: ComponentPlan,
  possible: PossibleRule,
): Square<readonly number[]> {
  const [a, b, c] = plan.starts;
  const levels = levelSquare(random, plan, possible, [a.number, b.number, c.number]);
  const row = (index: number): Triple<readonly number[]> => {
    const [first, second, third] = levels[index];
    return [
      plan.starts[index].slots ?? drawSlots(random, plan, first),
      drawSlots(random, plan, second),
      drawSlots(random, plan, third),
    ];
  };
  return [row(0), row(1), row(2)];
}

/** The slots of every panel, in the order of its entities, under a Number/Position rule. */
export function slotSquare(
  random: Random,
  plan: ComponentPlan,
  possible: PossibleRule,
): Square<readonly number[]> {
  const { attribute } = possible.rule;
  if (attribute === 'Number') return numberSquare(random, plan, possible);
  if (attribute === 'Position') return positionSquare(random, plan, possible);
  const row = (index: number): Triple<readonly number[]> => {
    const slots = startSlots(random, plan, possible.start, index);
    return [slots, slots, slots];
  };
  return [row(0), row(1), row(2)];
}
