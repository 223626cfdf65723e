/**
 * Panels and whole problems as images, fast: put together from kept sprites, pixel for pixel equal
 * to drawing them plainly. Images are bytes, row by row, 255 white paper; functions ending in `Into`
 * write into a buffer of the caller's at an offset (fastest if it is a multiple of four).
 */
import { ArgumentError } from '../base/index.js';
import { layoutOfProblem, type ConfigurationLayout } from './layouts.js';
import { MESH } from './mesh.js';
import {
  CANDIDATES,
  CONTEXT_PANELS,
  matrixPanels,
  problemPanels,
  type ComponentPanel,
  type Panel,
  type Problem,
} from './problem.js';
import { FOUR_PAPER, type Sprite } from './render-forms.js';
import { SpriteStore } from './render-sprites.js';
import {
  downscale,
  drawMeshInto,
  drawStructureLine,
  IMAGE_PIXELS,
  PAPER,
  scaleInto,
  SMALL_PIXELS,
  SMALL_SIZE,
  type ImageSide,
} from './render.js';
import { IMAGE_SIZE } from './render-entity.js';

const DEFAULT_CACHE_BYTES = 96 * 2 ** 20;

/** Number of images of a problem: eight of context, eight candidates. */
export const PROBLEM_IMAGES = CONTEXT_PANELS + CANDIDATES;

export interface RendererOptions {
  /** Most memory for kept sprites; 96 MiB unless told. */
  readonly cacheBytes?: number;
}

type Structure = ConfigurationLayout['structure'];

/** An empty panel at 64x64, line between the components included, and where the line is. */
interface Base {
  readonly words: Int32Array;
  readonly occupied: Int32Array;
}

/** Takes from `upper` each byte that is not paper, from `lower` the others. */
function mergeWords(lower: number, upper: number): number {
  let merged = lower;
  for (let shift = 0; shift < 32; shift += 8) {
    const byte = 255 << shift;
    if ((upper & byte) !== byte) merged = (merged & ~byte) | (upper & byte);
  }
  return merged;
}

/** Puts a sprite over what is there: its ink hides what lies below. */
function cover(target: Int32Array, { words, smallStart }: Sprite): void {
  const end = smallStart - 1;
  let read = 0;
  while (read < end) {
    let write = words[read];
    const endOfRun = read + 2 + words[read + 1];
    for (read += 2; read < endOfRun; read++, write++) {
      const lower = target[write];
      target[write] = lower === FOUR_PAPER ? words[read] : mergeWords(lower, words[read]);
    }
  }
}

/** Adds a sprite to a small image if it shares no pixel with what is there. */
function addSmall(target: Int32Array, { words, smallStart }: Sprite): void {
  let read = smallStart;
  while (read < words.length) {
    let write = words[read];
    const endOfRun = read + 2 + words[read + 1];
    for (read += 2; read < endOfRun; read++, write++) target[write] &= words[read];
  }
}

/** Marks a sprite's pixels as occupied; false, with nothing to rely on, if one was already. */
function occupy(occupied: Int32Array, { support, smallTop }: Sprite): boolean {
  const start = smallTop * 2;
  let common = 0;
  for (let i = 0; i < support.length; i++) {
    const bits = support[i];
    common |= occupied[start + i] & bits;
    occupied[start + i] |= bits;
  }
  return common === 0;
}

function assertRoom(out: Uint8Array, offset: number, pixels: number): void {
  if (Number.isInteger(offset) && offset >= 0 && offset + pixels <= out.length) return;
  throw new ArgumentError(
    `an image of ${pixels} bytes does not fit at offset ${offset} of a buffer of ${out.length} bytes`,
  );
}

function assertComponents(layout: ConfigurationLayout, panel: Panel): void {
  const expected = layout.components.length;
  const given = panel.components.length;
  if (given === expected) return;
  throw new ArgumentError(
    `a panel of ${layout.configuration} has ${expected} component(s), not ${given}`,
  );
}

/** Draws panels; holds the sprites it has drawn. */
export class Renderer {
  readonly #sprites: SpriteStore;
  readonly #bases = new Map<Structure, Base>();
  readonly #occupied = new Int32Array(SMALL_SIZE * 2);
  readonly #scratch = new Uint8Array(IMAGE_PIXELS);
  /** The first `#count` are the sprites of the panel at hand, in the order of drawing. */
  readonly #panel: Sprite[] = [];
  #count = 0;
  #mesh: ComponentPanel | undefined;

  constructor(options: RendererOptions = {}) {
    this.#sprites = new SpriteStore(options.cacheBytes ?? DEFAULT_CACHE_BYTES);
  }

  /** Bytes that the kept sprites take now. */
  get cachedBytes(): number {
    return this.#sprites.bytes;
  }

  /** Draws a panel at 160x160. */
  renderInto(layout: ConfigurationLayout, panel: Panel, out: Uint8Array, offset = 0): void {
    assertRoom(out, offset, IMAGE_PIXELS);
    this.#collect(layout, panel);
    this.#draw(layout, out, offset);
  }

  /** Draws a panel at 64x64: what scaling down its 160x160 image gives. */
  render64Into(layout: ConfigurationLayout, panel: Panel, out: Uint8Array, offset = 0): void {
    assertRoom(out, offset, SMALL_PIXELS);
    this.#collect(layout, panel);
    this.#drawSmall(layout, out, offset);
  }

  /** Draws a panel at both sizes. */
  renderBothInto(
    layout: ConfigurationLayout,
    panel: Panel,
    out: Uint8Array,
    offset: number,
    small: Uint8Array,
    smallOffset: number,
  ): void {
    assertRoom(out, offset, IMAGE_PIXELS);
    assertRoom(small, smallOffset, SMALL_PIXELS);
    this.#collect(layout, panel);
    this.#draw(layout, out, offset);
    this.#drawSmall(layout, small, smallOffset);
  }

  #collect(layout: ConfigurationLayout, panel: Panel): void {
    assertComponents(layout, panel);
    const { components } = panel;
    let count = 0;
    this.#mesh = layout.mesh ? components[components.length - 1] : undefined;
    for (let index = 0; index < components.length; index++) {
      if (layout.components[index] === MESH) continue;
      const { entities } = components[index];
      count = this.#sprites.collect(layout.components[index], entities, this.#panel, count);
    }
    this.#count = count;
  }

  /** Draws the sprites at hand. */
  #draw(layout: ConfigurationLayout, out: Uint8Array, offset: number): void {
    const start = out.byteOffset + offset;
    if (start % 4 !== 0) {
      this.#draw(layout, this.#scratch, 0);
      out.set(this.#scratch, offset);
      return;
    }
    const words = new Int32Array(out.buffer, start, IMAGE_PIXELS / 4).fill(FOUR_PAPER);
    const sprites = this.#panel;
    const count = this.#count;
    for (let i = 0; i < count; i++) cover(words, sprites[i]);
    if (this.#mesh) drawMeshInto(this.#mesh, out, offset);
    drawStructureLine(layout, out, offset);
  }

  #drawSmall(layout: ConfigurationLayout, out: Uint8Array, offset: number): void {
    const start = out.byteOffset + offset;
    const plain = start % 4 === 0 && !this.#mesh;
    if (plain && this.#assembleSmall(layout, out.buffer, start)) return;
    this.#draw(layout, this.#scratch, 0);
    downscale(this.#scratch, out, offset);
  }

  /**
   * Puts small sprites side by side. Returns false if two of them meet in a pixel: there, and
   * only there, the order of covering and scaling matters.
   */
  #assembleSmall(layout: ConfigurationLayout, buffer: ArrayBufferLike, start: number): boolean {
    const base = this.#bases.get(layout.structure) ?? this.#addBase(layout);
    const occupied = this.#occupied;
    const sprites = this.#panel;
    const count = this.#count;
    occupied.set(base.occupied);
    for (let i = 0; i < count; i++) if (!occupy(occupied, sprites[i])) return false;
    const words = new Int32Array(buffer, start, SMALL_PIXELS / 4);
    words.set(base.words);
    for (let i = 0; i < count; i++) addSmall(words, sprites[i]);
    return true;
  }

  #addBase(layout: ConfigurationLayout): Base {
    const image = new Uint8Array(IMAGE_PIXELS).fill(PAPER);
    const small = new Uint8Array(SMALL_PIXELS);
    drawStructureLine(layout, image, 0);
    downscale(image, small);
    const occupied = new Int32Array(SMALL_SIZE * 2);
    small.forEach((value, pixel) => {
      if (value !== PAPER) occupied[pixel >> 5] |= 1 << (pixel & 31);
    });
    const base = { words: new Int32Array(small.buffer), occupied };
    this.#bases.set(layout.structure, base);
    return base;
  }
}

const shared = new Renderer();

/** Draws a panel at 160x160 into `out`, with the shared sprites. */
export const renderInto = (
  layout: ConfigurationLayout,
  panel: Panel,
  out: Uint8Array,
  offset = 0,
): void => shared.renderInto(layout, panel, out, offset);

/** Draws a panel at 64x64 into `out`, with the shared sprites. */
export const render64Into = (
  layout: ConfigurationLayout,
  panel: Panel,
  out: Uint8Array,
  offset = 0,
): void => shared.render64Into(layout, panel, out, offset);

/** A panel as u8 [160, 160]. */
export function renderPanel(layout: ConfigurationLayout, panel: Panel): Uint8Array {
  const image = new Uint8Array(IMAGE_PIXELS);
  shared.renderInto(layout, panel, image);
  return image;
}

/** A panel as u8 [64, 64]. */
export function renderPanel64(layout: ConfigurationLayout, panel: Panel): Uint8Array {
  const image = new Uint8Array(SMALL_PIXELS);
  shared.render64Into(layout, panel, image);
  return image;
}

const scratch = new Uint8Array(IMAGE_PIXELS);

/** Draws a panel at a size, from `offset` of `out`. */
export function drawInto(
  layout: ConfigurationLayout,
  panel: Panel,
  side: ImageSide,
  out: Uint8Array,
  offset: number,
): void {
  if (side === SMALL_SIZE) return render64Into(layout, panel, out, offset);
  if (side === IMAGE_SIZE) return renderInto(layout, panel, out, offset);
  renderInto(layout, panel, scratch);
  scaleInto(scratch, 0, out, offset, side);
}

/** Images of a problem, context first, then candidates. */
export interface ProblemImages {
  /** u8 [16, 160, 160] */
  readonly images: Uint8Array;
  /** u8 [16, 64, 64] */
  readonly small: Uint8Array;
}

/** Draws all sixteen images of a problem at both sizes. */
export function renderProblem(problem: Problem): ProblemImages {
  const images = new Uint8Array(PROBLEM_IMAGES * IMAGE_PIXELS);
  const small = new Uint8Array(PROBLEM_IMAGES * SMALL_PIXELS);
  renderProblemInto(problem, images, 0, small, 0);
  return { images, small };
}

/** Draws all sixteen images of a problem: u8 [16, 160, 160] and u8 [16, 64, 64]. */
export function renderProblemInto(
  problem: Problem,
  images: Uint8Array,
  imagesOffset: number,
  small: Uint8Array,
  smallOffset: number,
): void {
  const layout = layoutOfProblem(problem);
  problemPanels(problem).forEach((panel, index) => {
    const offset = imagesOffset + index * IMAGE_PIXELS;
    shared.renderBothInto(layout, panel, images, offset, small, smallOffset + index * SMALL_PIXELS);
  });
}

/** Draws the sixteen images that files hold: u8 [16, 160, 160]. */
export function renderImagesInto(problem: Problem, out: Uint8Array): void {
  const layout = layoutOfProblem(problem);
  problemPanels(problem).forEach((panel, index) => {
    shared.renderInto(layout, panel, out, index * IMAGE_PIXELS);
  });
}

/** Draws what training looks at: u8 [9, 64, 64], the eight context panels and the answer. */
export function renderMatrix64Into(problem: Problem, out: Uint8Array, offset = 0): void {
  const layout = layoutOfProblem(problem);
  matrixPanels(problem).forEach((panel, index) => {
    shared.render64Into(layout, panel, out, offset + index * SMALL_PIXELS);
  });
}
