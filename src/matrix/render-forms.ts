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
   * that the small pixel x is made of can have ink, even if too faint to change it.
   */
  readonly support: Int32Array;
}

/** A figure in black, and what differs in another colour; words and bytes are those of its runs. */
export interface Form {
  readonly black: Sprite;
  /** Int32 [n, 2]: first and last word of each stretch of the image that is inside. */
  readonly inside: Int32Array;
  /** Int32 [n, 2]: byte of the image, and the weights that make its ink. */
  readonly mixed: Int32Array;
  /** As `inside`, of the small image. */
  readonly smallInside: Int32Array;
  /**
   * Uint16 [n, 6]: byte of the small image, the four bytes of the image that it is made of (the byte
   * after the last stands for paper), and their weights as an index into SMALL_WEIGHTS.
   */
  readonly smallMixed: Uint16Array;
}

const WORD = 4;
const IMAGE_WORDS = IMAGE_SIZE / WORD;
const SMALL_WORDS = SMALL_SIZE / WORD;
const FOUR_PAPER = -1;

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

/** Weights in 16ths of the four pixels that make a small one, by whether its row and column are odd. */
const SMALL_WEIGHTS = [
  [1, 3, 3, 9],
  [3, 1, 9, 3],
  [3, 9, 1, 3],
  [9, 3, 3, 1],
] as const;

/** First of the two full-size columns or rows that a small one is made of. */
const sourceOf = (small: number): number => (small >> 1) * 5 + (small & 1) * 3;

/** Part of the small image that a part of the image makes, to whole words. */
const smallRegion = (region: Region): Region => ({
  // Five full-size rows make two small ones; ten columns make one word of four.
  left: Math.floor(region.left / 10) * 4,
  top: Math.floor(region.top / 5) * 2,
  right: Math.floor(region.right / 10) * 4 + 3,
  bottom: Math.floor(region.bottom / 5) * 2 + 1,
});

/** Room for the runs of any image (at worst every other word, with place and count), and one word. */
const scratch = new Int32Array((IMAGE_PIXELS / WORD / 2) * 3 + 1);
const scratchBytes = new Uint8Array(scratch.buffer);
const smallScratch = new Int32Array((SMALL_PIXELS / WORD / 2) * 3);
const smallScratchBytes = new Uint8Array(smallScratch.buffer);

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
      while (at <= end && words[at] !== FOUR_PAPER) scratch[length++] = words[at++];
      scratch[head] = start;
      scratch[head + 1] = at - start;
    }
  }
  return scratch.slice(0, length);
}

/** Calls `visit` with each word of runs: its place in the runs and in the image. */
function forEachWord(runs: Runs, visit: (place: number, word: number) => void): void {
  let read = 0;
  while (read < runs.length) {
    const first = runs[read] - read - 2;
    const end = read + 2 + runs[read + 1];
    for (read += 2; read < end; read++) visit(read, first + read);
  }
}

/** Collects words into stretches of [first, last]. */
function addToStretch(stretches: number[], word: number): void {
  if (stretches.at(-1) === word - 1) stretches[stretches.length - 1] = word;
  else stretches.push(word, word);
}

/** Draws figures on boards of its own, which are blank again after each. */
export class FormMaker {
  readonly #stencils = new Map<string, Stencil>();
  readonly #weights = new Int32Array(IMAGE_PIXELS);
  readonly #image = new Uint8Array(IMAGE_PIXELS).fill(PAPER);
  readonly #small = new Uint8Array(SMALL_PIXELS).fill(PAPER);
  readonly #imageWords = new Int32Array(this.#image.buffer);
  readonly #smallWords = new Int32Array(this.#small.buffer);
  /** Where each word of the image is in the runs at hand. */
  readonly #places = new Uint16Array(IMAGE_PIXELS / WORD);

  /** The sprite of a white figure, which is nothing but its outline. */
  outline(figure: Figure): Sprite {
    this.#weigh(figure);
    return this.#draw(reachOf(figure), 0);
  }

  /** The form of a figure of any other colour. */
  form(figure: Figure): Form {
    this.#weigh(figure);
    const black = this.#draw(reachOf(figure), BLACK_INK);
    return { black, ...this.#imageParts(black.image), ...this.#smallParts(black) };
  }

  /** Upright figures differ between slots by whole pixels only, so each is drawn once. */
  #stencil(figure: Figure): Stencil {
    const key = `${figure.type} ${figure.unit} ${figure.scale}`;
    const known = this.#stencils.get(key);
    if (known) return known;
    const centre: Point = [IMAGE_SIZE / 2, IMAGE_SIZE / 2];
    const codes = new Uint8Array(IMAGE_PIXELS);
    drawUpright(
      { width: IMAGE_SIZE, height: IMAGE_SIZE, data: codes },
      { ...figure, centre },
      INSIDE,
    );
    const data = Uint16Array.from(codes, (code) => (code > INSIDE ? OUTLINE : code));
    const stencil = { width: IMAGE_SIZE, data, centre, reach: farthestReach(figure) };
    this.#stencils.set(key, stencil);
    return stencil;
  }

  #weigh(figure: Figure): void {
    const region = reachOf(figure);
    this.#weights.fill(0, region.top * IMAGE_SIZE, (region.bottom + 1) * IMAGE_SIZE);
    const stencil = this.#stencil(figure);
    rotateWeights(stencil, this.#weights, IMAGE_SIZE, figure.centre, figure.angle, region);
  }

  #draw(reach: Region, ink: number): Sprite {
    const weights = this.#weights;
    const board = this.#image;
    for (let y = reach.top; y <= reach.bottom; y++) {
      const end = y * IMAGE_SIZE + reach.right;
      for (let i = y * IMAGE_SIZE + reach.left; i <= end; i++) {
        if (weights[i] !== 0) board[i] = greyOf(weights[i], ink);
      }
    }
    const image = runsIn(this.#imageWords, IMAGE_WORDS, reach);
    const region = smallRegion(reach);
    downscaleRegion(board, 0, this.#small, 0, region);
    const small = runsIn(this.#smallWords, SMALL_WORDS, region);
    const support = this.#support(region);
    board.fill(PAPER, reach.top * IMAGE_SIZE, (reach.bottom + 1) * IMAGE_SIZE);
    return { image, small, smallTop: region.top, support };
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

  #imageParts(runs: Runs): Pick<Form, 'inside' | 'mixed'> {
    const weights = this.#weights;
    const inside: number[] = [];
    const mixed: number[] = [];
    forEachWord(runs, (place, word) => {
      let full = 0;
      for (let i = 0; i < WORD; i++) if (weights[word * WORD + i] === ALL_INSIDE) full += 1;
      if (full === WORD) {
        addToStretch(inside, place);
        return;
      }
      for (let i = 0; i < WORD; i++) {
        const weight = weights[word * WORD + i];
        if (insideWeight(weight) > 0) mixed.push(place * WORD + i, weight);
      }
    });
    return { inside: Int32Array.from(inside), mixed: Int32Array.from(mixed) };
  }

  #smallParts({ image, small }: Sprite): Pick<Form, 'smallInside' | 'smallMixed'> {
    this.#places.fill(image.length);
    forEachWord(image, (place, word) => (this.#places[word] = place));
    const smallInside: number[] = [];
    const smallMixed: number[] = [];
    forEachWord(small, (place, word) => {
      const y = Math.floor(word / SMALL_WORDS);
      const x = (word % SMALL_WORDS) * WORD;
      const shares = [0, 1, 2, 3].map((i) => this.#insideOfSmall(x + i, y));
      if (shares.every((share) => share === 4 * FULL_WEIGHT)) {
        addToStretch(smallInside, place);
        return;
      }
      shares.forEach((share, i) => {
        if (share > 0) smallMixed.push(place * WORD + i, ...this.#smallRecipe(x + i, y));
      });
    });
    return {
      smallInside: Int32Array.from(smallInside),
      smallMixed: Uint16Array.from(smallMixed),
    };
  }

  /** Sum of the inside's weights over the four pixels that a small one is made of. */
  #insideOfSmall(x: number, y: number): number {
    const pixel = sourceOf(y) * IMAGE_SIZE + sourceOf(x);
    let sum = 0;
    for (const at of [pixel, pixel + 1, pixel + IMAGE_SIZE, pixel + IMAGE_SIZE + 1]) {
      sum += insideWeight(this.#weights[at]);
    }
    return sum;
  }

  /** The four bytes of the runs that a small pixel is made of, and the index of their weights. */
  #smallRecipe(x: number, y: number): number[] {
    const pixel = sourceOf(y) * IMAGE_SIZE + sourceOf(x);
    const bytes = [pixel, pixel + 1, pixel + IMAGE_SIZE, pixel + IMAGE_SIZE + 1].map(
      (at) => this.#places[at >> 2] * WORD + (at & 3),
    );
    return [...bytes, (y & 1) * 2 + (x & 1)];
  }
}

/** Fills stretches of words with one word. */
function fillStretches(words: Int32Array, stretches: Int32Array, word: number): void {
  for (let i = 0; i < stretches.length; i += 2) {
    const last = stretches[i + 1];
    for (let at = stretches[i]; at <= last; at++) words[at] = word;
  }
}

/** The sprite of a form whose inside has some ink. */
export function colourForm(form: Form, ink: number): Sprite {
  const { black, inside, mixed, smallInside, smallMixed } = form;
  const fourPixels = (PAPER - ink) * 0x01010101;
  scratch.set(black.image);
  scratch[black.image.length] = FOUR_PAPER;
  fillStretches(scratch, inside, fourPixels);
  for (let i = 0; i < mixed.length; i += 2) scratchBytes[mixed[i]] = greyOf(mixed[i + 1], ink);
  smallScratch.set(black.small);
  fillStretches(smallScratch, smallInside, fourPixels);
  for (let i = 0; i < smallMixed.length; i += 6) {
    const [a, b, c, d] = SMALL_WEIGHTS[smallMixed[i + 5]];
    const sum =
      a * scratchBytes[smallMixed[i + 1]] +
      b * scratchBytes[smallMixed[i + 2]] +
      c * scratchBytes[smallMixed[i + 3]] +
      d * scratchBytes[smallMixed[i + 4]];
    smallScratchBytes[smallMixed[i]] = (sum + 8) >> 4;
  }
  return {
    image: scratch.slice(0, black.image.length),
    small: smallScratch.slice(0, black.small.length),
    smallTop: black.smallTop,
    support: black.support,
  };
}
