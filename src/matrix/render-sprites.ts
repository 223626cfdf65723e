/**
 * Entities drawn once and kept. A sprite holds the pixels of one entity at both image sizes, as runs
 * of words of four pixels where there is any ink, so that a panel is put together by copying words.
 * The store is filled as sprites are asked for and bounded in bytes; the oldest go first.
 */
import { COLORS, SIZES, TYPES, ANGLES, UPRIGHT } from './attributes.js';
import { ArgumentError } from './errors.js';
import type { ComponentLayout } from './layouts.js';
import type { Entity } from './problem.js';
import type { Point, Raster } from './raster.js';
import { rotate, type Region } from './raster-rotate.js';
import { downscaleRegion, IMAGE_PIXELS, PAPER, SMALL_PIXELS, SMALL_SIZE } from './render.js';
import {
  drawUpright,
  figureOf,
  fillInk,
  IMAGE_SIZE,
  reachOf,
  type Figure,
} from './render-entity.js';

/**
 * Runs of words that are not all paper, one after the other: the place of the first word in the
 * image, the number of words, the words. A word is four pixels of a row, 255 paper.
 */
export type Runs = Int32Array;

export interface Sprite {
  /** Runs of the 160x160 image. */
  readonly image: Runs;
  /** Runs of the 64x64 image. */
  readonly small: Runs;
  /** First row of the small image that has ink. */
  readonly smallTop: number;
  /**
   * Int32 [rows, 2], from `smallTop` on: bit x of a row is set where any of the four full-size pixels
   * that the small pixel x is made of has ink, even if too faint to change it.
   */
  readonly support: Int32Array;
}

const WORD = 4;
const IMAGE_WORDS = IMAGE_SIZE / WORD;
const SMALL_WORDS = SMALL_SIZE / WORD;

/** Rough cost of a sprite's objects beside its pixels. */
const SPRITE_OVERHEAD = 400;

/** Levels of one slot's sprites in one number: type, size, color, angle. */
const SPRITES_PER_SLOT = TYPES.length * SIZES.length * COLORS.length * ANGLES.length;

const spriteIndex = (entity: Entity): number =>
  ((entity.type * SIZES.length + entity.size) * COLORS.length + entity.color) * ANGLES.length +
  entity.angle;

const inTable = (level: number, table: readonly unknown[]): boolean =>
  Number.isInteger(level) && level >= 0 && level < table.length;

function assertDrawable(layout: ComponentLayout, entity: Entity): void {
  const drawable =
    inTable(entity.slot, layout.slots) &&
    inTable(entity.type, TYPES) &&
    entity.type > 0 &&
    inTable(entity.size, SIZES) &&
    inTable(entity.color, COLORS) &&
    inTable(entity.angle, ANGLES);
  if (drawable) return;
  throw new ArgumentError(
    `cannot draw entity ${JSON.stringify(entity)} in ${layout.layout}: ` +
      `slot 0..${layout.slots.length - 1}, type 1..5, size 0..5, color 0..9 and angle 0..7 exist`,
  );
}

const FOUR_PAPER = -1;

/** Room for the runs of any image: every other word, each with its place and count. */
const runScratch = new Int32Array(2 * IMAGE_PIXELS);

/** The runs of an image within a region whose columns are whole words. */
function runsIn(words: Int32Array, stride: number, region: Region): Runs {
  let length = 0;
  for (let y = region.top; y <= region.bottom; y++) {
    const end = y * stride + (region.right >> 2);
    let at = y * stride + (region.left >> 2);
    while (at <= end) {
      if (words[at] === FOUR_PAPER) {
        at += 1;
        continue;
      }
      const start = at;
      const head = length;
      length += 2;
      while (at <= end && words[at] !== FOUR_PAPER) runScratch[length++] = words[at++];
      runScratch[head] = start;
      runScratch[head + 1] = at - start;
    }
  }
  return runScratch.slice(0, length);
}

/** Stands for the ink of the inside in a stencil; no colour has this value. */
const INSIDE = 1;

/** A figure upright, INSIDE where its colour goes, around the middle of the image. */
interface Stencil {
  readonly centre: Point;
  readonly raster: Raster;
}

const blankRaster = (): Raster => ({
  width: IMAGE_SIZE,
  height: IMAGE_SIZE,
  data: new Uint8Array(IMAGE_PIXELS),
});

/** Draws sprites on boards of its own, which are blank again after each. */
class SpriteMaker {
  readonly #stencils = new Map<string, Stencil>();
  readonly #upright = blankRaster();
  readonly #rotated = blankRaster();
  readonly #image = new Uint8Array(IMAGE_PIXELS).fill(PAPER);
  readonly #small = new Uint8Array(SMALL_PIXELS).fill(PAPER);
  readonly #imageWords = new Int32Array(this.#image.buffer);
  readonly #smallWords = new Int32Array(this.#small.buffer);

  make(figure: Figure, ink: number): Sprite {
    const reach = reachOf(figure);
    this.#draw(figure, ink, reach);
    const image = runsIn(this.#imageWords, IMAGE_WORDS, reach);
    // Five full-size rows make two small ones; ten columns make one word of four.
    const region = {
      left: Math.floor(reach.left / 10) * 4,
      top: Math.floor(reach.top / 5) * 2,
      right: Math.floor(reach.right / 10) * 4 + 3,
      bottom: Math.floor(reach.bottom / 5) * 2 + 1,
    };
    downscaleRegion(this.#image, 0, this.#small, 0, region);
    const small = runsIn(this.#smallWords, SMALL_WORDS, region);
    const support = this.#support(region);
    this.#image.fill(PAPER, reach.top * IMAGE_SIZE, (reach.bottom + 1) * IMAGE_SIZE);
    return { image, small, smallTop: region.top, support };
  }

  #draw(figure: Figure, ink: number, reach: Region): void {
    this.#placeStencil(figure, ink, reach);
    let drawn = this.#upright;
    if (figure.angle !== UPRIGHT) {
      drawn = this.#rotated;
      rotate(this.#upright, drawn, figure.centre, figure.angle, reach);
    }
    const from = drawn.data;
    for (let y = reach.top; y <= reach.bottom; y++) {
      const end = y * IMAGE_SIZE + reach.right;
      for (let i = y * IMAGE_SIZE + reach.left; i <= end; i++) this.#image[i] = PAPER - from[i];
    }
    // The rotated board needs no clearing: what is read of it was written just before.
    this.#upright.data.fill(0, reach.top * IMAGE_SIZE, (reach.bottom + 1) * IMAGE_SIZE);
  }

  /** Upright figures differ between slots by whole pixels only, so each is drawn once. */
  #stencil(figure: Figure): Stencil {
    const key = `${figure.type} ${figure.unit} ${figure.scale}`;
    const known = this.#stencils.get(key);
    if (known) return known;
    const centre: Point = [IMAGE_SIZE / 2, IMAGE_SIZE / 2];
    const stencil = { centre, raster: blankRaster() };
    drawUpright(stencil.raster, { ...figure, centre }, INSIDE);
    this.#stencils.set(key, stencil);
    return stencil;
  }

  #placeStencil(figure: Figure, ink: number, reach: Region): void {
    const { centre, raster } = this.#stencil(figure);
    const from = raster.data;
    const to = this.#upright.data;
    const shift = (centre[1] - figure.centre[1]) * IMAGE_SIZE + (centre[0] - figure.centre[0]);
    for (let y = reach.top; y <= reach.bottom; y++) {
      const end = y * IMAGE_SIZE + reach.right;
      for (let i = y * IMAGE_SIZE + reach.left; i <= end; i++) {
        const code = from[i + shift];
        to[i] = code === INSIDE ? ink : code;
      }
    }
  }

  #support(region: Region): Int32Array {
    const image = this.#image;
    const support = new Int32Array((region.bottom - region.top + 1) * 2);
    for (let y = region.top; y <= region.bottom; y++) {
      const row = (y - region.top) * 2;
      for (let x = region.left; x <= region.right; x++) {
        const pixel = sourceOf(y) * IMAGE_SIZE + sourceOf(x);
        const below = pixel + IMAGE_SIZE;
        // Paper is all ones, so that the four are all paper only where the AND of them is.
        const all = image[pixel] & image[pixel + 1] & image[below] & image[below + 1];
        if (all !== PAPER) support[row + (x >> 5)] |= 1 << (x & 31);
      }
    }
    return support;
  }
}

/** First of the two full-size columns or rows that a small one is made of. */
const sourceOf = (small: number): number => (small >> 1) * 5 + (small & 1) * 3;

const sizeOf = (sprite: Sprite): number =>
  SPRITE_OVERHEAD + sprite.image.byteLength + sprite.small.byteLength + sprite.support.byteLength;

type SlotSprites = (Sprite | undefined)[];

/** Sprites by slot and levels, within a number of bytes. */
export class SpriteStore {
  readonly #limit: number;
  readonly #maker = new SpriteMaker();
  /** Slots of the same place and size share their sprites whatever the configuration. */
  readonly #bySlot = new Map<string, SlotSprites>();
  readonly #byLayout = new WeakMap<ComponentLayout, readonly SlotSprites[]>();
  /** Where each kept sprite is, oldest first from `#oldest` on. */
  #kept: { table: SlotSprites; index: number; bytes: number }[] = [];
  #oldest = 0;
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes that the kept sprites take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The sprite of an entity, drawn now or before. */
  sprite(layout: ComponentLayout, entity: Entity): Sprite {
    assertDrawable(layout, entity);
    const table = (this.#byLayout.get(layout) ?? this.#addLayout(layout))[entity.slot];
    const index = spriteIndex(entity);
    return table[index] ?? this.#add(layout, entity, table, index);
  }

  #addLayout(layout: ComponentLayout): readonly SlotSprites[] {
    const tables = layout.slots.map((slot) => {
      const key = `${slot.row} ${slot.column} ${slot.width} ${slot.height}`;
      const table = this.#bySlot.get(key) ?? new Array<undefined>(SPRITES_PER_SLOT).fill(undefined);
      this.#bySlot.set(key, table);
      return table;
    });
    this.#byLayout.set(layout, tables);
    return tables;
  }

  #add(layout: ComponentLayout, entity: Entity, table: SlotSprites, index: number): Sprite {
    const sprite = this.#maker.make(figureOf(layout, entity), fillInk(entity.color));
    const bytes = sizeOf(sprite);
    table[index] = sprite;
    this.#kept.push({ table, index, bytes });
    this.#bytes += bytes;
    while (this.#bytes > this.#limit) this.#dropOldest();
    return sprite;
  }

  #dropOldest(): void {
    const { table, index, bytes } = this.#kept[this.#oldest];
    table[index] = undefined;
    this.#bytes -= bytes;
    this.#oldest += 1;
    if (this.#oldest * 2 > this.#kept.length) {
      this.#kept = this.#kept.slice(this.#oldest);
      this.#oldest = 0;
    }
  }
}
