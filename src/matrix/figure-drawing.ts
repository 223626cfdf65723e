/**
 * Figures in the pixels of the 160x160 image, as the data sets draw them or as ideal shapes, and what a picture of
 * 64x64 shows of them. Small figures are a few pixels wide: where a picture's pixels lie on the panel, and how
 * much of it each averages, decides which size and colour they seem to have.
 */
import { FigureForm, inkWithin } from './figure-form.js';
import type { ConfigurationLayout } from './layouts.js';
import type { Entity } from './problem.js';
import { drawStructureLine, IMAGE_PIXELS, PAPER, SMALL_SIZE } from './render.js';
import { BLACK_INK, drawFigure, figureOf, IMAGE_SIZE, inkRegionOf } from './render-entity.js';
import type { Region } from './raster-rotate.js';
import { entityShape } from './svg-shapes.js';

/** The square of a panel that a picture shows, in pixels of the 160x160 image: cut cells miss or add a little. */
export interface Section {
  readonly left: number;
  readonly top: number;
  readonly side: number;
  /** Side of the square that a pixel of the picture averages: more than its own if the picture is blurred. */
  readonly spread: number;
  /** How dark black is: 1 if it is black, less if the picture is pale. */
  readonly black: number;
}

export const WHOLE_PANEL: Section = {
  left: 0,
  top: 0,
  side: IMAGE_SIZE,
  spread: IMAGE_SIZE / SMALL_SIZE,
  black: 1,
};

/** Ink of something black, and of its inside alone, in a region of the 160x160 image, row by row. */
export interface Drawing {
  readonly region: Region;
  readonly whole: Float32Array;
  readonly inside: Float32Array;
}

const widthOf = ({ left, right }: Region): number => right - left + 1;
const heightOf = ({ top, bottom }: Region): number => bottom - top + 1;

/** A region's values, from those of each pixel. */
function cut(region: Region, valueOf: (x: number, y: number) => number): Float32Array {
  const values = new Float32Array(widthOf(region) * heightOf(region));
  let at = 0;
  for (let y = region.top; y <= region.bottom; y++) {
    for (let x = region.left; x <= region.right; x++) values[at++] = valueOf(x, y);
  }
  return values;
}

/** A figure as the data sets draw it, pixel for pixel, or as an ideal shape. */
export function drawingOf(
  layout: ConfigurationLayout,
  component: number,
  entity: Entity,
  truncated: boolean,
): Drawing {
  const figure = figureOf(layout.components[component], entity);
  const region = inkRegionOf(figure);
  if (!truncated) {
    const { whole, inside } = inkWithin(entityShape(layout, component, entity));
    return { region, whole: cut(region, whole), inside: cut(region, inside) };
  }
  const black = drawFigure(figure, BLACK_INK).data;
  const outline = drawFigure(figure, 0).data;
  return {
    region,
    whole: cut(region, (x, y) => black[y * IMAGE_SIZE + x] / BLACK_INK),
    inside: cut(region, (x, y) => {
      const at = y * IMAGE_SIZE + x;
      return (black[at] - outline[at]) / BLACK_INK;
    }),
  };
}

/** The line between two components; null if the layout has none. */
export function lineDrawingOf(layout: ConfigurationLayout): Drawing | null {
  const image = new Uint8Array(IMAGE_PIXELS).fill(PAPER);
  drawStructureLine(layout, image, 0);
  const first = image.findIndex((value) => value !== PAPER);
  if (first < 0) return null;
  const last = image.findLastIndex((value) => value !== PAPER);
  const region: Region = {
    left: first % IMAGE_SIZE,
    top: Math.floor(first / IMAGE_SIZE),
    right: last % IMAGE_SIZE,
    bottom: Math.floor(last / IMAGE_SIZE),
  };
  return { region, whole: cut(region, () => 1), inside: cut(region, () => 0) };
}

/** Along one axis, which pixels of the 160x160 image each pixel of a picture averages. */
class Averages {
  /** The first that each averages, and how many at most. */
  readonly #from: Int32Array;
  readonly #count: number;
  /** By pixel of the picture, then from its first on; those of a pixel add up to `total`. */
  readonly #weights: Float32Array;

  constructor(start: number, pixel: number, spread: number, total: number) {
    const count = Math.ceil(spread) + 1;
    this.#count = count;
    this.#from = new Int32Array(SMALL_SIZE);
    this.#weights = new Float32Array(SMALL_SIZE * count);
    for (let i = 0; i < SMALL_SIZE; i++) {
      const low = start + (i + 0.5) * pixel - spread / 2;
      const from = Math.floor(low);
      this.#from[i] = from;
      for (let k = 0; k < count; k++) {
        const covered = Math.min(from + k + 1, low + spread) - Math.max(from + k, low);
        this.#weights[i * count + k] = (total * Math.max(0, covered)) / spread;
      }
    }
  }

  /** The pixels of a picture that see some of the image's from `low` to `high`: the first, and after the last. */
  seeing(low: number, high: number): [number, number] {
    const from = this.#from;
    let first = 0;
    while (first < SMALL_SIZE && from[first] + this.#count <= low) first++;
    let end = first;
    while (end < SMALL_SIZE && from[end] <= high) end++;
    return [first, end];
  }

  /**
   * Averages values along this axis as the pixels of a picture from `first` to before `end` see them. The values begin
   * with those of pixel `start` of the image, and there are `length` along the axis; what lies `step` apart in
   * the list is next along it, what lies `otherStep` apart is next along the other axis.
   */
  averaged(
    values: Float32Array,
    { start, length, step, others, otherStep }: Axis,
    [first, end]: readonly [number, number],
    out: Float32Array,
    { step: outStep, otherStep: outOtherStep }: Pick<Axis, 'step' | 'otherStep'>,
  ): void {
    const [from, weights, count] = [this.#from, this.#weights, this.#count];
    for (let i = first; i < end; i++) {
      const offset = from[i] - start;
      const last = Math.min(count, length - offset);
      for (let k = Math.max(0, -offset); k < last; k++) {
        const weight = weights[i * count + k];
        let [at, into] = [(offset + k) * step, (i - first) * outStep];
        for (let j = 0; j < others; j++, at += otherStep, into += outOtherStep) {
          out[into] += weight * values[at];
        }
      }
    }
  }
}

/** How values lie along one axis, and across it. */
interface Axis {
  /** The pixel of the image that they start at, and how many there are. */
  readonly start: number;
  readonly length: number;
  readonly step: number;
  readonly others: number;
  readonly otherStep: number;
}

/** Pixels of a picture along both axes: from the first to before the last. */
interface Window {
  readonly across: readonly [number, number];
  readonly down: readonly [number, number];
}

/** What pictures of one section show of drawings. */
export class SectionView {
  readonly #columns: Averages;
  readonly #rows: Averages;

  constructor({ left, top, side, spread, black }: Section) {
    const pixel = side / SMALL_SIZE;
    this.#columns = new Averages(left, pixel, spread, 1);
    this.#rows = new Averages(top, pixel, spread, black);
  }

  #windowOf({ left, top, right, bottom }: Region): Window {
    return { across: this.#columns.seeing(left, right), down: this.#rows.seeing(top, bottom) };
  }

  /** What a window of a picture shows of a region's values, row by row. */
  #seen(values: Float32Array, region: Region, { across, down }: Window): Float32Array {
    const [width, height] = [widthOf(region), heightOf(region)];
    const [columns, rows] = [across[1] - across[0], down[1] - down[0]];
    const low = new Float32Array(rows * width);
    const inRows = { start: region.top, length: height, step: width, others: width, otherStep: 1 };
    this.#rows.averaged(values, inRows, down, low, { step: width, otherStep: 1 });
    const out = new Float32Array(rows * columns);
    const inColumns = {
      start: region.left,
      length: width,
      step: 1,
      others: rows,
      otherStep: width,
    };
    this.#columns.averaged(low, inColumns, across, out, { step: 1, otherStep: columns });
    return out;
  }

  formOf({ region, whole, inside }: Drawing): FigureForm {
    const window = this.#windowOf(region);
    const { across, down } = window;
    const width = across[1] - across[0];
    const pixels = new Int32Array(width * (down[1] - down[0]));
    for (let y = down[0], i = 0; y < down[1]; y++) {
      for (let x = across[0]; x < across[1]; x++) pixels[i++] = y * SMALL_SIZE + x;
    }
    const seen = (values: Float32Array): Float32Array => this.#seen(values, region, window);
    return new FigureForm(pixels, seen(whole), seen(inside));
  }

  /** The squared ink of a picture that some values explain; the same as that of their form. */
  gainOf(ink: Float32Array, values: Float32Array, region: Region): number {
    const window = this.#windowOf(region);
    const { across, down } = window;
    const seen = this.#seen(values, region, window);
    let sum = 0;
    for (let y = down[0], i = 0; y < down[1]; y++) {
      for (let x = across[0]; x < across[1]; x++, i++) {
        sum += seen[i] * (2 * ink[y * SMALL_SIZE + x] - seen[i]);
      }
    }
    return sum;
  }
}
