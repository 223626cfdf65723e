/**
 * Single changes of an answer: a new number, a new arrangement, new levels. A source hands out changes
 * of one attribute that all differ from the answer and from each other. The two variants differ in how
 * a change treats entities: RAVEN's draws each one's level by itself and makes new entities for a new
 * number; I-RAVEN's keeps alike what is alike and uses the entities again.
 */
import { levelsOf, UNIFORMITIES } from './attributes.js';
import type { ComponentLayout } from './layouts.js';
import type { ComponentPanel, Entity, Rule } from './problem.js';
import type { Random } from './random.js';
import {
  originalRange,
  VALUE_KEYS,
  type PossibleRules,
  type ValueAttribute,
  type ValueKey,
} from './rules.js';
import { arrangements, maskOf, maskSlots, slotMask } from './slots.js';

/** A change of a component; the same value each time it is applied. */
export type Edit = (panel: ComponentPanel, positionChanged: boolean) => ComponentPanel;

/** Hands out changes, all different; the caller keeps to the attribute's budget. */
export type EditSource = () => Edit;

/** Everything a source needs to know of the component it changes. */
export interface EditContext {
  readonly random: Random;
  readonly layout: ComponentLayout;
  readonly rules: PossibleRules;
  readonly answer: ComponentPanel;
}

const withEntities = (panel: ComponentPanel, entities: readonly Entity[]): ComponentPanel => ({
  uniformity: panel.uniformity,
  entities,
});

function withLevel(entity: Entity, key: ValueKey, level: number): Entity {
  const { slot, type, size, color, angle } = entity;
  return {
    slot,
    type: key === 'type' ? level : type,
    size: key === 'size' ? level : size,
    color: key === 'color' ? level : color,
    angle,
  };
}

/** Hands out the levels of a range other than one, in random order. */
function otherLevels(random: Random, min: number, max: number, level: number): () => number {
  const free: number[] = [];
  for (let other = min; other <= max; other++) if (other !== level) free.push(other);
  return () => free.splice(random.below(free.length), 1)[0];
}

/**
 * New levels of a value attribute, as RAVEN makes them: one of its own for each entity, never the answer's
 * nor one it had before.
 */
export function independentLevels(context: EditContext, attribute: ValueAttribute): EditSource {
  const key = VALUE_KEYS[attribute];
  const { min, max } = originalRange(context.layout, attribute);
  const draws = context.answer.entities.map((entity) =>
    otherLevels(context.random, min, max, entity[key]),
  );
  return () => {
    const levels = draws.map((draw) => draw());
    return (panel) =>
      withEntities(
        panel,
        panel.entities.map((entity, index) => withLevel(entity, key, levels[index])),
      );
  };
}

/** One level for all entities. */
function commonLevel(context: EditContext, attribute: ValueAttribute): EditSource {
  const key = VALUE_KEYS[attribute];
  const { min, max } = originalRange(context.layout, attribute);
  const draw = otherLevels(context.random, min, max, context.answer.entities[0][key]);
  return () => {
    const level = draw();
    return (panel) =>
      withEntities(
        panel,
        panel.entities.map((entity) => withLevel(entity, key, level)),
      );
  };
}

/** New levels of a value attribute, as I-RAVEN makes them. */
export function coherentLevels(
  context: EditContext,
  attribute: ValueAttribute,
  rule: Rule,
): EditSource {
  const alike = rule.name !== 'Constant' || UNIFORMITIES[context.answer.uniformity];
  return alike ? commonLevel(context, attribute) : independentLevels(context, attribute);
}

/** Draws sets of slots that were not used before; the panel's own counts as used. */
export class UnusedSlots {
  readonly #used: Set<number>;

  constructor(
    readonly random: Random,
    readonly slotCount: number,
    panel: ComponentPanel,
    used: Iterable<number> = [],
  ) {
    this.#used = new Set([...used, maskOf(panel)]);
  }

  /** How many sets of so many slots are left. */
  left(count: number): number {
    const used = [...this.#used].filter((mask) => maskSlots(mask).length === count);
    return arrangements(this.slotCount, count) - used.length;
  }

  /** Ends where `left(count)` is at least 1. */
  draw(count: number): readonly number[] {
    let slots = this.random.subset(this.slotCount, count);
    while (this.#used.has(slotMask(slots))) slots = this.random.subset(this.slotCount, count);
    this.#used.add(slotMask(slots));
    return slots;
  }
}

export const moveTo = (panel: ComponentPanel, slots: readonly number[]): ComponentPanel =>
  withEntities(
    panel,
    panel.entities.map((entity, index) => ({ ...entity, slot: slots[index] })),
  );

/** Another arrangement of the same entities. */
export function newPositions({ random, layout, answer }: EditContext): EditSource {
  const unused = new UnusedSlots(random, layout.slots.length, answer);
  return () => {
    const slots = unused.draw(answer.entities.length);
    return (panel) => moveTo(panel, slots);
  };
}

/** How many entities a component may have other than so many. */
export const otherCounts = ({ number }: ComponentLayout, count: number): number[] =>
  levelsOf(number)
    .map((level) => level + 1)
    .filter((other) => other !== count);

/** New, independent entities for some slots, drawn from the levels a first column may have. */
export function drawEntities(
  random: Random,
  { angle }: ComponentLayout,
  [, type, size, color]: PossibleRules,
  slots: readonly number[],
): Entity[] {
  return slots.map((slot) => ({
    slot,
    type: random.between(type.start.min, type.start.max),
    size: random.between(size.start.min, size.start.max),
    color: random.between(color.start.min, color.start.max),
    angle: random.between(angle.min, angle.max),
  }));
}

/** Another number of new entities. */
export function newNumbersOfNewEntities(context: EditContext): EditSource {
  const { random, layout, rules, answer } = context;
  const unused = new UnusedSlots(random, layout.slots.length, answer);
  const counts = otherCounts(layout, answer.entities.length);
  return () => {
    const count = random.pick(counts.filter((other) => unused.left(other) > 0));
    const entities = drawEntities(random, layout, rules, unused.draw(count));
    return (panel) => withEntities(panel, entities);
  };
}

/** Which old entity each of `to` new ones repeats: all as often as possible, the rest at random. */
function reuse(random: Random, from: number, to: number): number[] {
  const sources: number[] = [];
  while (sources.length + from <= to) for (let i = 0; i < from; i++) sources.push(i);
  return [...sources, ...random.subset(from, to - sources.length)];
}

/**
 * Another number of the same entities; each other number comes once before any comes again.
 * @param besidePositions whether arrangements are changed too: a change then has a second set of slots
 *   for panels whose arrangement was changed before, lest the two changes cover each other
 */
export function newNumbersOfSameEntities(
  context: EditContext,
  besidePositions: boolean,
): EditSource {
  const { random, layout, answer } = context;
  const unused = new UnusedSlots(random, layout.slots.length, answer);
  const needed = besidePositions ? 2 : 1;
  let round: number[] = [];
  return () => {
    const possible = (count: number): boolean => unused.left(count) >= needed;
    round = round.filter(possible);
    if (round.length === 0) round = otherCounts(layout, answer.entities.length).filter(possible);
    const [count] = round.splice(random.below(round.length), 1);
    const slots = unused.draw(count);
    const moved = besidePositions ? unused.draw(count) : slots;
    const sources = reuse(random, answer.entities.length, count);
    return (panel, positionChanged) =>
      moveTo(
        withEntities(
          panel,
          sources.map((source) => panel.entities[source]),
        ),
        positionChanged ? moved : slots,
      );
  };
}
