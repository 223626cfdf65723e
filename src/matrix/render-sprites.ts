/**
 * Entities drawn once and kept. A sprite holds the pixels of one entity, white elsewhere, at both
 * image sizes, in words of four pixels whose columns are aligned, so that a panel is put together by
 * copying words. The store is filled as sprites are asked for and bounded in bytes; the oldest go
 * first.
 */
import { COLORS, SIZES, TYPES, ANGLES, UPRIGHT } from './attributes.js';
import { ArgumentError } from './errors.js';
import type { ComponentLayout } from './layouts.js';
import type { Entity } from './problem.js';
import type { Raster } from './raster.js';
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

/** A rectangle of pixels, four to a word. */
export interface WordImage {
  /** First column, in words. */
  readonly left: number;
  readonly top: number;
  /** Columns, in words. */
  readonly width: number;
  readonly height: number;
  /** Int32 [height, width]: 255 is white, that is, transparent. */
  readonly words: Int32Array;
}

export interface Sprite {
  readonly image: WordImage;
  readonly small: WordImage;
  /**
   * Int32 [small.height, 2]: bit x of a row is set where any of the four full-size pixels that the
   * small pixel x is made of has ink, even if too faint to change it.
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

/** Copies a rectangle of whole words out of an image. */
function cutWords(
  bytes: Uint8Array,
  stride: number,
  rectangle: Omit<WordImage, 'words'>,
): WordImage {
  const source = new Int32Array(bytes.buffer);
  const { left, top, width, height } = rectangle;
  const words = new Int32Array(width * height);
  for (let row = 0; row < height; row++) {
    const start = (top + row) * stride + left;
    words.set(source.subarray(start, start + width), row * width);
  }
  return { ...rectangle, words };
}

/** The smallest region that holds everything but paper, within `region`. */
function inkRegion(image: Uint8Array, region: Region): Region {
  let { left, top, right, bottom } = { left: region.right, top: -1, right: region.left, bottom: 0 };
  for (let y = region.top; y <= region.bottom; y++) {
    for (let x = region.left; x <= region.right; x++) {
      if (image[y * IMAGE_SIZE + x] === PAPER) continue;
      if (top < 0) top = y;
      bottom = y;
      if (x < left) left = x;
      if (x > right) right = x;
    }
  }
  return { left, top, right, bottom };
}

/** Draws sprites on boards of its own, which are blank again after each. */
class SpriteMaker {
  readonly #upright: Raster = {
    width: IMAGE_SIZE,
    height: IMAGE_SIZE,
    data: new Uint8Array(IMAGE_PIXELS),
  };
  readonly #rotated: Raster = { ...this.#upright, data: new Uint8Array(IMAGE_PIXELS) };
  readonly #image = new Uint8Array(IMAGE_PIXELS).fill(PAPER);
  readonly #small = new Uint8Array(SMALL_PIXELS).fill(PAPER);

  make(figure: Figure, ink: number): Sprite {
    const reach = reachOf(figure);
    this.#draw(figure, ink, reach);
    const { left, top, right, bottom } = inkRegion(this.#image, reach);
    const word = left >> 2;
    const image = cutWords(this.#image, IMAGE_WORDS, {
      left: word,
      top,
      width: (right >> 2) - word + 1,
      height: bottom - top + 1,
    });
    // Five full-size rows make two small ones; ten columns make one word.
    const smallTop = Math.floor(top / 5) * 2;
    const smallWord = Math.floor(left / 10);
    const rectangle = {
      left: smallWord,
      top: smallTop,
      width: Math.floor(right / 10) - smallWord + 1,
      height: Math.floor(bottom / 5) * 2 + 2 - smallTop,
    };
    const support = this.#scaleDown(rectangle);
    const small = cutWords(this.#small, SMALL_WORDS, rectangle);
    this.#image.fill(PAPER, reach.top * IMAGE_SIZE, (reach.bottom + 1) * IMAGE_SIZE);
    return { image, small, support };
  }

  #draw(figure: Figure, ink: number, reach: Region): void {
    const rows = [reach.top * IMAGE_SIZE, (reach.bottom + 1) * IMAGE_SIZE] as const;
    drawUpright(this.#upright, figure, ink);
    let drawn = this.#upright;
    if (figure.angle !== UPRIGHT) {
      drawn = this.#rotated;
      rotate(this.#upright, drawn, figure.centre, figure.angle, reach);
    }
    for (let i = rows[0]; i < rows[1]; i++) this.#image[i] = PAPER - drawn.data[i];
    this.#upright.data.fill(0, ...rows);
    this.#rotated.data.fill(0, ...rows);
  }

  /** Fills the small board within a rectangle and returns its support. */
  #scaleDown({ left, top, width, height }: Omit<WordImage, 'words'>): Int32Array {
    const image = this.#image;
    const columns = { left: left * WORD, right: (left + width) * WORD - 1 };
    downscaleRegion(image, 0, this.#small, 0, { ...columns, top, bottom: top + height - 1 });
    const support = new Int32Array(height * 2);
    for (let row = 0; row < height; row++) {
      const upper = sourceOf(top + row) * IMAGE_SIZE;
      for (let x = columns.left; x <= columns.right; x++) {
        const pixel = upper + sourceOf(x);
        // Paper is all ones, so that the four are all paper only where the AND of them is.
        const all =
          image[pixel] &
          image[pixel + 1] &
          image[pixel + IMAGE_SIZE] &
          image[pixel + IMAGE_SIZE + 1];
        if (all !== PAPER) support[row * 2 + (x >> 5)] |= 1 << (x & 31);
      }
    }
    return support;
  }
}

/** First of the two full-size columns or rows that a small one is made of. */
const sourceOf = (small: number): number => (small >> 1) * 5 + (small & 1) * 3;

const sizeOf = (sprite: Sprite): number =>
  SPRITE_OVERHEAD +
  sprite.image.words.byteLength +
  sprite.small.words.byteLength +
  sprite.support.byteLength;

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
