/**
 * Figures drawn once for all colours. A form holds, for a figure at its place and angle, which words
 * of both image sizes have ink and how the ink of each pixel depends on the colour: not at all
 * (outline), wholly (inside), or by the weights of outline and inside that the rotation mixed. Giving
 * it a colour makes a sprite and touches little more than the border.
 */
import type { Point } from './raster.js';
import {
  FULL_WEIGHT,
  FULL_WEIGHT_BITS,
  makeStencil,
  rotateWeights,
  type Region,
  type Stencil,
} from './raster-rotate.js';
import { downscaleRegion, IMAGE_PIXELS, PAPER, SMALL_PIXELS, SMALL_SIZE } from './render.js';
import {
  BLACK_INK,
  drawUpright,
  farthestReach,
  IMAGE_SIZE,
  inkRegionOf,
  type Figure,
} from './render-entity.js';

export interface Sprite {
  /**
   * The image's runs, one word of paper, the small image's runs. A run is words that are not all
   * paper: the place of its first word in the image, the number of words, the words. A word is four
   * pixels of a row, 255 paper.
   */
  readonly words: Int32Array;
  /** Where the runs of the small image start. */
  readonly smallStart: number;
  /** First row of the small image that has ink. */
  readonly smallTop: number;
  /**
   * Int32 [rows, 2], from `smallTop` on: bit x of a row is set where any of the four full-size pixels
   * that the small pixel x is made of can have ink, even if too faint to change it.
   */
  readonly support: Int32Array;
}

/** A figure in black, and what differs in another colour; words and bytes are those of its sprite. */
export interface Form {
  readonly black: Sprite;
  /** Int32 [n, 2]: first and last word of each stretch that is inside, at both sizes. */
  readonly inside: Int32Array;
  /** Int32 [n, 2]: byte of the image, and the weights that make its ink. */
  readonly mixed: Int32Array;
  /**
   * Int32 [n, 6]: byte of the small image, the four bytes of the image that it is made of, and
   * whether its row (2) and column (1) are odd, which decides their weights.
   */
  readonly smallMixed: Int32Array;
}

/** So many rows of the image make two of the small one. */
const SMALL_STEP = 5;

const WORD = 4;
const IMAGE_WORDS = IMAGE_SIZE / WORD;
const SMALL_WORDS = SMALL_SIZE / WORD;
/** A word of paper: 255 in each byte. */
export const FOUR_PAPER = -1;

/** Weights are kept as `outline * OUTLINE + inside`, each 0..1024, so that one sum carries both. */
const OUTLINE_BITS = 12;
const OUTLINE = 1 << OUTLINE_BITS;
const INSIDE = 1;
const ALL_INSIDE = INSIDE * FULL_WEIGHT;
const insideWeight = (weights: number): number => weights & (OUTLINE - 1);

/** A pixel's grey from its weights. */
function greyOf(weights: number, ink: number): number {
  const sum = (weights >> OUTLINE_BITS) * BLACK_INK + insideWeight(weights) * ink;
  return PAPER - ((sum + FULL_WEIGHT / 2) >> FULL_WEIGHT_BITS);
}

/** First of the two full-size columns or rows that a small one is made of. */
const sourceOf = (small: number): number => (small >> 1) * 5 + (small & 1) * 3;

/** Part of the small image that a part of the image makes, to whole words. */
const smallRegion = (region: Region): Region => ({
  // Five full-size rows make two small ones; ten columns make one word of four.
  left: Math.floor(region.left / 10) * 4,
  top: Math.floor(region.top / SMALL_STEP) * 2,
  right: Math.floor(region.right / 10) * 4 + 3,
  bottom: Math.floor(region.bottom / SMALL_STEP) * 2 + 1,
});

/** Room for any sprite: at worst every other word is a run, with its place and length. */
const scratch = new Int32Array(((IMAGE_PIXELS + SMALL_PIXELS) / WORD / 2) * 3 + 1);
const scratchBytes = new Uint8Array(scratch.buffer);

/** Writes the runs of a region of an image into `scratch` from `start` on; returns their end. */
function writeRuns(start: number, words: Int32Array, stride: number, region: Region): number {
  let length = start;
  for (let y = region.top; y <= region.bottom; y++) {
    const end = y * stride + (region.right >> 2);
    let at = y * stride + (region.left >> 2);
    while (at <= end) {
      if (words[at] === FOUR_PAPER) {
        at += 1;
        continue;
      }
      const first = at;
      const head = length;
      length += 2;
      while (at <= end && words[at] !== FOUR_PAPER) scratch[length++] = words[at++];
      scratch[head] = first;
      scratch[head + 1] = at - first;
    }
  }
  return length;
}

/** A figure upright, as weights, on a board just large enough for any rotation. */
function drawStencil(figure: Figure): Stencil {
  const reach = farthestReach(figure);
  const half = reach + 2;
  const width = 2 * half + 1;
  const centre: Point = [half, half];
  const codes = new Uint8Array(width * width);
  drawUpright({ width, height: width, data: codes }, { ...figure, centre }, INSIDE);
  const values = new Uint16Array(codes);
  for (let i = 0; i < values.length; i++) if (values[i] > INSIDE) values[i] = OUTLINE;
  return makeStencil(values, width, centre, reach);
}

/** A list of numbers that keeps its room from one use to the next. */
class NumberList {
  #numbers = new Int32Array(1024);
  #length = 0;

  clear(): void {
    this.#length = 0;
  }

  push(value: number): void {
    if (this.#length === this.#numbers.length) {
      const more = new Int32Array(2 * this.#length);
      more.set(this.#numbers);
      this.#numbers = more;
    }
    this.#numbers[this.#length++] = value;
  }

  /** Adds a word to stretches of [first, last]. */
  pushToStretch(word: number): void {
    if (this.#length > 0 && this.#numbers[this.#length - 1] === word - 1) {
      this.#numbers[this.#length - 1] = word;
    } else {
      this.push(word);
      this.push(word);
    }
  }

  toInt32Array(): Int32Array {
    return this.#numbers.slice(0, this.#length);
  }
}

/** Draws figures on boards of its own, which are blank again after each. */
export class FormMaker {
  readonly #stencils = new Map<string, Stencil>();
  readonly #weights = new Int32Array(IMAGE_PIXELS);
  readonly #image = new Uint8Array(IMAGE_PIXELS).fill(PAPER);
  readonly #small = new Uint8Array(SMALL_PIXELS).fill(PAPER);
  readonly #imageWords = new Int32Array(this.#image.buffer);
  readonly #smallWords = new Int32Array(this.#small.buffer);
  /** Where each word of the image is in the sprite at hand. */
  readonly #places = new Uint16Array(IMAGE_PIXELS / WORD);
  readonly #stretches = new NumberList();
  readonly #mixed = new NumberList();

  /** The sprite of a white figure, which is nothing but its outline. */
  outline(figure: Figure): Sprite {
    return this.#draw(this.#weigh(figure), 0);
  }

  /** The form of a figure of any other colour. */
  form(figure: Figure): Form {
    const black = this.#draw(this.#weigh(figure), BLACK_INK);
    this.#stretches.clear();
    const mixed = this.#imageParts(black);
    const smallMixed = this.#smallParts(black);
    return { black, inside: this.#stretches.toInt32Array(), mixed, smallMixed };
  }

  /** Upright figures differ between slots by whole pixels only, so each is drawn once. */
  #stencil(figure: Figure): Stencil {
    const key = `${figure.type} ${figure.unit} ${figure.scale}`;
    const known = this.#stencils.get(key);
    if (known) return known;
    const stencil = drawStencil(figure);
    this.#stencils.set(key, stencil);
    return stencil;
  }

  /** Writes the weights of a figure's pixels; returns where they are. */
  #weigh(figure: Figure): Region {
    const region = inkRegionOf(figure);
    // Scaling down looks at most four rows beyond.
    const first = Math.max(region.top - SMALL_STEP, 0) * IMAGE_SIZE;
    this.#weights.fill(0, first, (region.bottom + 1 + SMALL_STEP) * IMAGE_SIZE);
    const stencil = this.#stencil(figure);
    rotateWeights(stencil, this.#weights, IMAGE_SIZE, figure.centre, figure.angle, region);
    return region;
  }

  #draw(part: Region, ink: number): Sprite {
    const weights = this.#weights;
    const board = this.#image;
    for (let y = part.top; y <= part.bottom; y++) {
      const end = y * IMAGE_SIZE + part.right;
      for (let i = y * IMAGE_SIZE + part.left; i <= end; i++) {
        if (weights[i] !== 0) board[i] = greyOf(weights[i], ink);
      }
    }
    const region = smallRegion(part);
    downscaleRegion(board, 0, this.#small, 0, region);
    const support = this.#support(region);
    const imageEnd = writeRuns(0, this.#imageWords, IMAGE_WORDS, part);
    scratch[imageEnd] = FOUR_PAPER;
    const end = writeRuns(imageEnd + 1, this.#smallWords, SMALL_WORDS, region);
    board.fill(PAPER, part.top * IMAGE_SIZE, (part.bottom + 1) * IMAGE_SIZE);
    const words = scratch.slice(0, end);
    return { words, smallStart: imageEnd + 1, smallTop: region.top, support };
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

  #imageParts({ words, smallStart }: Sprite): Int32Array {
    this.#mixed.clear();
    // What is in no run is paper, as the word after the last run is.
    const end = smallStart - 1;
    this.#places.fill(end);
    let place = 0;
    while (place < end) {
      let word = words[place];
      const endOfRun = place + 2 + words[place + 1];
      for (place += 2; place < endOfRun; place++, word++) {
        this.#places[word] = place;
        this.#addImageWord(place, word * WORD);
      }
    }
    return this.#mixed.toInt32Array();
  }

  #addImageWord(place: number, pixel: number): void {
    const weights = this.#weights;
    let full = 0;
    for (let i = 0; i < WORD; i++) if (weights[pixel + i] === ALL_INSIDE) full += 1;
    if (full === WORD) {
      this.#stretches.pushToStretch(place);
      return;
    }
    for (let i = 0; i < WORD; i++) {
      const weight = weights[pixel + i];
      if (insideWeight(weight) === 0) continue;
      this.#mixed.push(place * WORD + i);
      this.#mixed.push(weight);
    }
  }

  /** Must follow `#imageParts`, which notes where the words of the image are. */
  #smallParts({ words, smallStart }: Sprite): Int32Array {
    this.#mixed.clear();
    let place = smallStart;
    while (place < words.length) {
      let word = words[place];
      const endOfRun = place + 2 + words[place + 1];
      for (place += 2; place < endOfRun; place++, word++) this.#addSmallWord(place, word);
    }
    return this.#mixed.toInt32Array();
  }

  #addSmallWord(place: number, word: number): void {
    const y = Math.floor(word / SMALL_WORDS);
    const x = (word % SMALL_WORDS) * WORD;
    let full = 0;
    for (let i = 0; i < WORD; i++) if (this.#insideOf(x + i, y) === 4 * FULL_WEIGHT) full += 1;
    if (full === WORD) {
      this.#stretches.pushToStretch(place);
      return;
    }
    for (let i = 0; i < WORD; i++) {
      if (this.#insideOf(x + i, y) > 0) this.#addSmallPixel(place * WORD + i, x + i, y);
    }
  }

  /** Sum of the inside's weights over the four pixels that a small one is made of. */
  #insideOf(x: number, y: number): number {
    const weights = this.#weights;
    const pixel = sourceOf(y) * IMAGE_SIZE + sourceOf(x);
    const below = pixel + IMAGE_SIZE;
    return (
      insideWeight(weights[pixel]) +
      insideWeight(weights[pixel + 1]) +
      insideWeight(weights[below]) +
      insideWeight(weights[below + 1])
    );
  }

  #addSmallPixel(byte: number, x: number, y: number): void {
    const pixel = sourceOf(y) * IMAGE_SIZE + sourceOf(x);
    const below = pixel + IMAGE_SIZE;
    this.#mixed.push(byte);
    this.#mixed.push(this.#byteOf(pixel));
    this.#mixed.push(this.#byteOf(pixel + 1));
    this.#mixed.push(this.#byteOf(below));
    this.#mixed.push(this.#byteOf(below + 1));
    this.#mixed.push((y & 1) * 2 + (x & 1));
  }

  /** Where a pixel of the image is in the sprite. */
  #byteOf(pixel: number): number {
    return this.#places[pixel >> 2] * WORD + (pixel & 3);
  }
}

/** The sprite of a form whose inside has some ink. */
export function colourForm({ black, inside, mixed, smallMixed }: Form, ink: number): Sprite {
  const fourPixels = (PAPER - ink) * 0x01010101;
  scratch.set(black.words);
  for (let i = 0; i < inside.length; i += 2) {
    const last = inside[i + 1];
    for (let at = inside[i]; at <= last; at++) scratch[at] = fourPixels;
  }
  for (let i = 0; i < mixed.length; i += 2) scratchBytes[mixed[i]] = greyOf(mixed[i + 1], ink);
  for (let i = 0; i < smallMixed.length; i += 6) {
    const upper = smallMixed[i + 5] & 2 ? 3 : 1;
    const left = smallMixed[i + 5] & 1 ? 3 : 1;
    const right = 4 - left;
    const above = left * scratchBytes[smallMixed[i + 1]] + right * scratchBytes[smallMixed[i + 2]];
    const below = left * scratchBytes[smallMixed[i + 3]] + right * scratchBytes[smallMixed[i + 4]];
    scratchBytes[smallMixed[i]] = (upper * above + (4 - upper) * below + 8) >> 4;
  }
  const { smallStart, smallTop, support } = black;
  return { words: scratch.slice(0, black.words.length), smallStart, smallTop, support };
}
