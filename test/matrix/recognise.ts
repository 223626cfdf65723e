/**
 * Descriptions from images: finds the entities of a 64x64 panel by comparing each slot's pixels with
 * drawings of every possible entity. Exact, not a guess: the description it returns, drawn again, gives
 * the image to the pixel, or it throws. The reference sets hold images only; this gives their levels.
 *
 * Two entities that look the same at 64x64 (a square turned by 90 degrees) cannot be told apart; the
 * first in the order of levels stands for all of them.
 */
import {
  renderPanel64,
  type ComponentLayout,
  type ConfigurationLayout,
  type Entity,
  type LevelRange,
  type Panel,
} from '../../src/matrix/index.js';

const SIDE = 64;
const SCALE = 160 / SIDE;

type Look = Omit<Entity, 'slot'>;
/** Looks by the pixels of a region; null where the slot is empty. */
type Dictionary = Map<string, Look | null>;

/** The indices of the pixels for which a condition on their centre, in pixels of 160, holds. */
function pixelsWhere(condition: (row: number, column: number) => boolean): number[] {
  const found: number[] = [];
  for (let pixel = 0; pixel < SIDE * SIDE; pixel++) {
    const row = (Math.floor(pixel / SIDE) + 0.5) * SCALE - 0.5;
    const column = ((pixel % SIDE) + 0.5) * SCALE - 0.5;
    if (condition(row, column)) found.push(pixel);
  }
  return found;
}

const distanceTo =
  (centreRow: number, centreColumn: number) =>
  (row: number, column: number): number =>
    Math.hypot(row - centreRow, column - centreColumn);

const fromMiddle = distanceTo(80, 80);

/** Radius around the middle, or around an inner slot, that the inner component's figures stay within. */
const INNER_RADII: Record<string, { all: number; slot: number }> = {
  In_Center_Single: { all: 30, slot: 26 },
  In_Distribute_Four: { all: 32, slot: 12.2 },
};

/** For each slot of a component, the pixels that show it. */
function regionsOf(layout: ConfigurationLayout, component: ComponentLayout): number[][] {
  const centres = component.slots.map(({ row, column }) => [
    Math.trunc(row * 160),
    Math.trunc(column * 160),
  ]);
  if (component.name === 'Out') {
    const { all } = INNER_RADII[layout.components[1].layout];
    return [pixelsWhere((row, column) => fromMiddle(row, column) > all)];
  }
  if (component.name === 'In') {
    const { slot } = INNER_RADII[component.layout];
    return centres.map(([r, c]) =>
      pixelsWhere((row, column) => distanceTo(r, c)(row, column) < slot),
    );
  }
  // Elsewhere each slot has the part of the image that is nearest to it, of all slots of all components.
  const all = layout.components
    .flatMap(({ slots }) => slots)
    .map(({ row, column }) => [row * 160, column * 160]);
  return component.slots.map((slot) =>
    pixelsWhere((row, column) => {
      const own = distanceTo(slot.row * 160, slot.column * 160)(row, column);
      return all.every(([r, c]) => own <= distanceTo(r, c)(row, column));
    }),
  );
}

const signature = (image: Uint8Array, region: readonly number[]): string =>
  String.fromCharCode(...region.map((pixel) => image[pixel]));

const each = ({ min, max }: LevelRange): number[] =>
  Array.from({ length: max - min + 1 }, (_, i) => min + i);

function* looksOf({ type, size, color, angle }: ComponentLayout): Generator<Look> {
  for (const t of each(type)) {
    for (const s of each(size)) {
      for (const c of each(color))
        for (const a of each(angle)) yield { type: t, size: s, color: c, angle: a };
    }
  }
}

export class Recogniser {
  readonly #layout: ConfigurationLayout;
  readonly #regions: number[][][];
  readonly #dictionaries = new Map<string, Dictionary>();

  constructor(layout: ConfigurationLayout) {
    // Wrong candidates of noise-free grids are upright too, so the layout's own ranges are enough.
    this.#layout = layout;
    this.#regions = layout.components.map((component) => regionsOf(layout, component));
  }

  /** Draws one entity of a component, with the outer figure behind it where there is one. */
  #draw(component: number, entity: Entity | null, behind: Look | undefined): Uint8Array {
    const components = this.#layout.components.map((_, index) => {
      const isOwn = index === component;
      const entities = isOwn && entity ? [entity] : [];
      if (!isOwn && behind) entities.push({ ...behind, slot: 0 });
      return { uniformity: 0, entities };
    });
    return renderPanel64(this.#layout, { components });
  }

  #dictionary(component: number, slot: number, behind: Look | undefined): Dictionary {
    const region = this.#regions[component][slot];
    const empty = signature(this.#draw(component, null, undefined), region);
    // The outer figure matters only where it reaches into the slot's pixels.
    const background = behind && signature(this.#draw(component, null, behind), region);
    const reaching = background === empty ? undefined : behind;
    const key = JSON.stringify([component, slot, reaching]);
    const known = this.#dictionaries.get(key);
    if (known) return known;
    const dictionary: Dictionary = new Map([[background ?? empty, null]]);
    for (const look of looksOf(this.#layout.components[component])) {
      const drawn = signature(this.#draw(component, { ...look, slot }, reaching), region);
      if (!dictionary.has(drawn)) dictionary.set(drawn, look);
    }
    this.#dictionaries.set(key, dictionary);
    return dictionary;
  }

  #entities(image: Uint8Array, component: number, behind: Look | undefined): Entity[] {
    const found: Entity[] = [];
    this.#regions[component].forEach((region, slot) => {
      const look = this.#dictionary(component, slot, behind).get(signature(image, region));
      if (look === undefined)
        throw new Error(`component ${component}, slot ${slot}: unknown figure`);
      if (look) found.push({ slot, ...look });
    });
    return found;
  }

  /** The description of an image, u8 [64, 64]; entities that look alike come in the same order. */
  recognise(image: Uint8Array): Panel {
    let behind: Look | undefined;
    const components = this.#layout.components.map(({ name }, index) => {
      const entities = this.#entities(image, index, behind);
      if (name === 'Out') behind = entities[0];
      entities.sort((a, b) => a.type - b.type || a.size - b.size || a.color - b.color);
      return { uniformity: 0, entities };
    });
    const panel: Panel = { components };
    if (Buffer.compare(renderPanel64(this.#layout, panel), image) !== 0) {
      throw new Error('the description does not give the image again');
    }
    return panel;
  }
}
