/**
 * Reads a panel back from its picture: the panel of the configuration whose drawing is nearest, in sum
 * of squared differences. Each slot has its own pixels, so slots are searched one by one over all looks
 * (Type, Size, Color, Rotation) and emptiness; in a component that is always uniform one look is sought
 * for all slots together. An outer figure is read first, from the pixels around the inner ones, and the
 * inner figures are then compared with drawings that have it behind them.
 *
 * Looks that are drawn alike (a circle turned, small squares of two sizes) cannot be told apart: all of
 * them are given, except in noisy grids, where the first stands for all. A component is unreadable if
 * the nearest drawing explains less than half of what its pixels differ from empty paper by, or is
 * further off than a mean squared difference of 0.02: blurs and overlays are like no panel.
 *
 * `readExactly` is for pictures of our own or of the data sets: it accepts only drawings that agree in
 * every pixel, and finds them without any search.
 */
import { levelsOf, UNIFORM } from './attributes.js';
import type { ComponentLayout, ConfigurationLayout } from './layouts.js';
import { leastLook, LookTemplates, type SlotView } from './look-templates.js';
import type { ComponentPanel, Entity } from './problem.js';
import { SMALL_PIXELS, SMALL_SIZE } from './render.js';
import { render64Into } from './render-panel.js';

/** The look of an entity, without its place. */
type Look = Omit<Entity, 'slot'>;

/** One component as read. */
export interface ReadComponent {
  /** Descriptions that are drawn alike, of which any may be meant; empty if unreadable. */
  readonly descriptions: readonly ComponentPanel[];
  /** How much of what is not empty paper the nearest drawing explains, at most 1. */
  readonly explained: number;
}

/** A figure as a picture shows it. Figures that are drawn alike differ only in Size and Angle. */
export interface SeenEntity {
  readonly slot: number;
  readonly type: number;
  readonly color: number;
  /** Levels that any may be meant of; rarely more than one. */
  readonly sizes: readonly number[];
  readonly angles: readonly number[];
}

/** Figures of each component, in the order of their slots. */
export type SeenPanel = readonly (readonly SeenEntity[])[];

export interface ReadPanel {
  readonly components: readonly ReadComponent[];
  readonly readable: boolean;
}

const READABLE_FROM = 0.5;
const READABLE_TO = 0.02;
/** Radius in 64ths of the image that inner figures stay within, around the middle. */
const INNER_REACH: Readonly<Record<string, number>> = {
  In_Center_Single: 12,
  In_Distribute_Four: 12.8,
};

function looksOf({ type, size, color, angle }: ComponentLayout): Look[] {
  return levelsOf(type).flatMap((t) =>
    levelsOf(size).flatMap((s) =>
      levelsOf(color).flatMap((c) =>
        levelsOf(angle).map((a) => ({ type: t, size: s, color: c, angle: a })),
      ),
    ),
  );
}

/** Pixels whose centre, in 64ths, satisfies a condition. */
function pixelsWhere(condition: (x: number, y: number) => boolean): Int32Array {
  const found: number[] = [];
  for (let pixel = 0; pixel < SMALL_PIXELS; pixel++) {
    const [x, y] = [(pixel % SMALL_SIZE) + 0.5, Math.floor(pixel / SMALL_SIZE) + 0.5];
    if (condition(x, y)) found.push(pixel);
  }
  return Int32Array.from(found);
}

/** The pixels of each slot of a component. */
function slotPixels(layout: ConfigurationLayout, index: number): Int32Array[] {
  const { name, slots, layout: kind } = layout.components[index];
  const middle = SMALL_SIZE / 2;
  const fromMiddle = (x: number, y: number): number => Math.hypot(x - middle, y - middle);
  if (name === 'Out') {
    const reach = INNER_REACH[layout.components[1].layout];
    return [pixelsWhere((x, y) => fromMiddle(x, y) > reach)];
  }
  const own = name === 'In' ? slots : layout.components.flatMap((component) => component.slots);
  const distance = ({ row, column }: (typeof slots)[number], x: number, y: number): number =>
    Math.hypot(x - column * SMALL_SIZE, y - row * SMALL_SIZE);
  return slots.map((slot) =>
    pixelsWhere(
      (x, y) =>
        (name !== 'In' || fromMiddle(x, y) <= INNER_REACH[kind]) &&
        own.every((other) => distance(slot, x, y) <= distance(other, x, y)),
    ),
  );
}

/** Slots, with what is behind them, whose templates are kept; more are drawn again. */
const MOST_KEPT = 96;

/** What was read of a component, what is left unexplained and what empty paper would leave. */
interface Found {
  readonly descriptions: readonly ComponentPanel[];
  readonly left: number;
  readonly paper: number;
}

/**
 * The distance of slots of which each may be empty, but not all: the one that gains most by a figure,
 * or loses least, always has it.
 */
function totalDistance(slots: readonly SlotView[], filledOf: (slot: SlotView) => number): number {
  let total = 0;
  let gain = -Infinity;
  for (const slot of slots) {
    const filled = filledOf(slot);
    total += Math.min(slot.empty, filled);
    gain = Math.max(gain, slot.empty - filled);
  }
  return gain < 0 ? total - gain : total;
}

export class PanelReader {
  readonly #layout: ConfigurationLayout;
  readonly #looks: readonly (readonly Look[])[];
  readonly #pixels: readonly (readonly Int32Array[])[];
  readonly #kept = new Map<string, LookTemplates>();
  readonly #image = new Uint8Array(SMALL_PIXELS);

  constructor(layout: ConfigurationLayout) {
    this.#layout = layout;
    this.#looks = layout.components.map(looksOf);
    this.#pixels = layout.components.map((_, index) => slotPixels(layout, index));
  }

  /** Draws one entity of a component, or none, with the outer figure behind it. */
  #draw(component: number, entity: Entity | null, behind: Look | null): Uint8Array {
    const components = this.#layout.components.map((_, index) => {
      const own = index === component && entity !== null ? [entity] : [];
      const outer = index !== component && behind !== null ? [{ ...behind, slot: 0 }] : [];
      return { uniformity: UNIFORM, entities: [...own, ...outer] };
    });
    render64Into(this.#layout, { components }, this.#image);
    return this.#image;
  }

  /** The templates of each slot, made as they are asked for: most other pictures fail in the first. */
  *#templates(component: number, behind: Look | null): Generator<LookTemplates> {
    const looks = this.#looks[component];
    const seen = this.#reaches(component, behind) ? behind : null;
    for (const [slot, pixels] of this.#pixels[component].entries()) {
      const key = JSON.stringify([component, slot, seen]);
      let templates = this.#kept.get(key);
      if (templates === undefined) {
        if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
        templates = new LookTemplates(pixels, looks.length, (look) =>
          this.#draw(component, look === null ? null : { ...looks[look], slot }, behind),
        );
        this.#kept.set(key, templates);
      }
      yield templates;
    }
  }

  /** Whether the outer figure shows in the pixels of a component. */
  #reaches(component: number, behind: Look | null): boolean {
    if (behind === null) return false;
    const plain = Uint8Array.from(this.#draw(component, null, null));
    const covered = this.#draw(component, null, behind);
    return this.#pixels[component].some((pixels) =>
      pixels.some((pixel) => plain[pixel] !== covered[pixel]),
    );
  }

  /** Looks drawn like one of them, different in what rules can be on. */
  #alike(component: number, templates: LookTemplates, look: number): Look[] {
    const found = new Map<string, Look>();
    for (const other of templates.alike(look)) {
      const each = this.#looks[component][other];
      const key = `${each.type} ${each.size} ${each.color}`;
      if (!found.has(key)) found.set(key, each);
    }
    return [...found.values()];
  }

  /** One look for all slots that are not empty. */
  #readUniform(component: number, slots: readonly LookTemplates[], picture: Float32Array): Found {
    const views = slots.map((templates) => templates.view(picture));
    const best = leastLook(
      this.#looks[component].length,
      views[0].atLeast.map(
        (_, b) => (look) => totalDistance(views, (view) => view.atLeast[b](look)),
      ),
      (look) => totalDistance(views, (view) => view.distance(look)),
    );
    const gains = views.map((view) => view.empty - view.distance(best.look));
    const most = Math.max(...gains);
    const taken = [...gains.keys()].filter((slot) => gains[slot] > 0 || gains[slot] === most);
    const descriptions = this.#alike(component, slots[taken[0]], best.look).map((each) => ({
      uniformity: UNIFORM,
      entities: taken.map((slot) => ({ slot, ...each })),
    }));
    const paper = views.reduce((sum, { empty }) => sum + empty, 0);
    return { descriptions, left: best.distance, paper };
  }

  /** A look of its own for each slot that is not empty. */
  #readApart(component: number, slots: readonly LookTemplates[], picture: Float32Array): Found {
    const looks = this.#looks[component];
    const entities: Entity[] = [];
    let [left, paper] = [0, 0];
    slots.forEach((templates, slot) => {
      const view = templates.view(picture);
      const { empty } = view;
      const best = leastLook(looks.length, view.atLeast, (look) => view.distance(look));
      paper += empty;
      left += Math.min(empty, best.distance);
      if (best.distance < empty) entities.push({ slot, ...looks[best.look] });
    });
    const descriptions = entities.length === 0 ? [] : [{ uniformity: 0, entities }];
    return { descriptions, left, paper };
  }

  /** Reads a picture of 64x64 values 0..1. */
  read(picture: Float32Array): ReadPanel {
    let behind: Look | null = null;
    const components = this.#layout.components.map(({ name, uniformity, slots }, index) => {
      const templates = [...this.#templates(index, behind)];
      const alike = uniformity.min === UNIFORM || slots.length === 1;
      const read = alike ? this.#readUniform.bind(this) : this.#readApart.bind(this);
      const { descriptions, left, paper } = read(index, templates, picture);
      if (name === 'Out') behind = descriptions.at(0)?.entities[0] ?? null;
      const explained = paper === 0 ? 0 : 1 - left / paper;
      const pixels = this.#pixels[index].reduce((sum, own) => sum + own.length, 0);
      const readable = explained >= READABLE_FROM && left / pixels <= READABLE_TO;
      return { descriptions: readable ? descriptions : [], explained };
    });
    return {
      components,
      readable: components.every(({ descriptions }) => descriptions.length > 0),
    };
  }

  /** The figures of one component that a picture shows, pixel for pixel; null if it shows others. */
  #seen(component: number, behind: Look | null, picture: Uint8Array): SeenEntity[] | null {
    const entities: SeenEntity[] = [];
    let slot = -1;
    for (const templates of this.#templates(component, behind)) {
      slot++;
      const found = templates.exactly(picture);
      if (found === null) continue;
      if (found.length === 0) return null;
      const looks = found.map((look) => this.#looks[component][look]);
      const { type, color } = looks[0];
      entities.push({
        slot,
        type,
        color,
        sizes: [...new Set(looks.map(({ size }) => size))],
        angles: [...new Set(looks.map(({ angle }) => angle))],
      });
    }
    return entities.length === 0 ? null : entities;
  }

  /** Reads a picture u8 [64, 64]; null unless a panel of the configuration is drawn exactly so. */
  readExactly(picture: Uint8Array): SeenPanel | null {
    let behind: Look | null = null;
    const panel: SeenEntity[][] = [];
    for (const [component, { name }] of this.#layout.components.entries()) {
      const seen = this.#seen(component, behind, picture);
      if (seen === null) return null;
      if (name === 'Out') {
        const [{ type, color, sizes, angles }] = seen;
        behind = { type, color, size: sizes[0], angle: angles[0] };
      }
      panel.push(seen);
    }
    return panel;
  }
}
