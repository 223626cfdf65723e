/**
 * Panels as people have them, turned into what a model sees: 64x64 grey values in [0, 1], 1 = white
 * paper. Pictures of other sizes are scaled the way the data sets were (through 160x160), paper of
 * another shade becomes white, and white drawings on dark paper are inverted.
 */
import { ArgumentError } from '../base/index.js';
import {
  decodePicture,
  downscale,
  IMAGE_PIXELS,
  IMAGE_SIZE,
  isPicture,
  luma,
  overPaper,
  SMALL_PIXELS,
  SMALL_SIZE,
  type GreyImage,
} from '../matrix/index.js';

/** 64x64 values in [0, 1], row by row. */
export type Panel = Float32Array;

/** A canvas' `ImageData` or anything of its shape: four bytes a pixel, or one. */
export interface PixelImage {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array | Uint8ClampedArray;
}

/**
 * 4096 values in [0, 1]; 4096 bytes (255 = white); the bytes of a PNG or JPEG; an `ImageData`; or a
 * grey picture of any size.
 */
export type PanelInput = Float32Array | readonly number[] | Uint8Array | PixelImage | GreyImage;

const LARGEST_SIDE = 1 << 14;
/** A paper this close to white is white. */
const PAPER_TOLERANCE = 0.004;

function requireUnitRange(values: Float32Array, what: string): Float32Array {
  for (let i = 0; i < values.length; i++) {
    if (!(values[i] >= 0 && values[i] <= 1)) {
      throw new ArgumentError(
        `${what}: value ${i} is ${values[i]}, expected 0 (black) to 1 (white)`,
      );
    }
  }
  return values;
}

/** Bytes as values, 255 = 1. Plain loops: `from` and `set` with a function take ten times as long. */
function unitValues(bytes: Uint8Array | Uint8ClampedArray, out: Float32Array): Float32Array {
  for (let i = 0; i < bytes.length; i++) out[i] = bytes[i] / 255;
  return out;
}

/** The bytes of a picture, 255 = white, as values of its own. */
export const bytesToPanel = (bytes: Uint8Array | Uint8ClampedArray): Panel =>
  unitValues(bytes, new Float32Array(bytes.length));

function writeValues(values: ArrayLike<number>, out: Panel, what: string): void {
  if (values.length !== SMALL_PIXELS) {
    throw new ArgumentError(`${what}: ${values.length} values, expected 64x64 = ${SMALL_PIXELS}`);
  }
  out.set(values);
  requireUnitRange(out, what);
}

function writeBytes(bytes: Uint8Array, out: Panel, what: string): void {
  if (isPicture(bytes)) out.set(greyToPanel(decodePicture(bytes)));
  else if (bytes.length === SMALL_PIXELS) unitValues(bytes, out);
  else {
    throw new ArgumentError(
      `${what}: ${bytes.length} bytes are neither a PNG or JPEG nor 64x64 values`,
    );
  }
}

/** Grey of an `ImageData` over white paper. */
export function greyOf(image: PixelImage | GreyImage, what = 'image'): GreyImage {
  const { width, height, data } = image;
  const whole = [width, height].every(
    (side) => Number.isInteger(side) && side >= 1 && side <= LARGEST_SIDE,
  );
  if (!whole || !ArrayBuffer.isView(data)) {
    throw new ArgumentError(
      `${what}: expected a picture of 1 to ${LARGEST_SIDE} pixels a side, not ${width}x${height}`,
    );
  }
  const pixels = width * height;
  if (data instanceof Float32Array) {
    if (data.length !== pixels) {
      throw new ArgumentError(`${what}: ${data.length} values for ${width}x${height}`);
    }
    return { width, height, data: requireUnitRange(data, what) };
  }
  if (data.length !== pixels && data.length !== 4 * pixels) {
    throw new ArgumentError(`${what}: ${data.length} bytes for ${width}x${height}`);
  }
  if (data.length === pixels) {
    return { width, height, data: bytesToPanel(data) };
  }
  const grey = new Float32Array(pixels);
  for (let i = 0; i < pixels; i++) {
    const [red, green, blue, alpha] = data.subarray(4 * i, 4 * i + 4);
    grey[i] = overPaper(luma(red, green, blue) / 255, alpha / 255);
  }
  return { width, height, data: grey };
}

/** The middle one of the values on the border: the shade of the paper. */
export function borderShade({ width, height, data }: GreyImage): number {
  const border: number[] = [];
  for (let x = 0; x < width; x++) border.push(data[x], data[(height - 1) * width + x]);
  for (let y = 0; y < height; y++) border.push(data[y * width], data[y * width + width - 1]);
  border.sort((a, b) => a - b);
  return border[border.length >> 1];
}

/** The same picture on white paper; `paper` is the shade of its own. */
export function onWhitePaper(image: GreyImage, paper = borderShade(image)): GreyImage {
  if (Math.abs(1 - paper) < PAPER_TOLERANCE) return image;
  const inverted = paper < 0.5;
  const shade = inverted ? 1 - paper : paper;
  const data = image.data.map((value) => Math.min(1, (inverted ? 1 - value : value) / shade));
  return { ...image, data };
}

/** Edges of output cell `i` of `count` over `length` inputs. */
const edge = (i: number, count: number, length: number): number => (i * length) / count;

/** Scales one axis by averaging what each output covers; enlarging repeats with soft edges. */
function scaleAxis(
  data: Float32Array,
  lines: number,
  length: number,
  count: number,
  at: (line: number, place: number, length: number) => number,
): Float32Array {
  const out = new Float32Array(lines * count);
  for (let i = 0; i < count; i++) {
    const from = edge(i, count, length);
    const to = edge(i + 1, count, length);
    const last = Math.min(length - 1, Math.ceil(to) - 1);
    for (let line = 0; line < lines; line++) {
      let sum = 0;
      for (let k = Math.floor(from); k <= last; k++) {
        sum += data[at(line, k, length)] * (Math.min(k + 1, to) - Math.max(k, from));
      }
      out[at(line, i, count)] = sum / (to - from);
    }
  }
  return out;
}

/** A square picture of `side` pixels; what is not square is put in the middle of white paper. */
export function resized(image: GreyImage, side: number): GreyImage {
  const { width, height, data } = squared(image);
  const wide = scaleAxis(data, height, width, side, (y, x, length) => y * length + x);
  const all = scaleAxis(wide, side, height, side, (x, y) => y * side + x);
  return { width: side, height: side, data: all };
}

function squared(image: GreyImage): GreyImage {
  const { width, height, data } = image;
  if (width === height) return image;
  const side = Math.max(width, height);
  const out = new Float32Array(side * side).fill(1);
  const [left, top] = [(side - width) >> 1, (side - height) >> 1];
  for (let y = 0; y < height; y++) {
    out.set(data.subarray(y * width, (y + 1) * width), (top + y) * side + left);
  }
  return { width: side, height: side, data: out };
}

/** A picture of any size and paper as a panel. */
export function greyToPanel(image: GreyImage): Panel {
  const white = onWhitePaper(image);
  const { width, height } = white;
  if (width === SMALL_SIZE && height === SMALL_SIZE) return white.data.slice();
  if (Math.max(width, height) < IMAGE_SIZE) return resized(white, SMALL_SIZE).data;
  const { data } =
    width === IMAGE_SIZE && height === IMAGE_SIZE ? white : resized(white, IMAGE_SIZE);
  const large = new Uint8Array(IMAGE_PIXELS);
  for (let i = 0; i < large.length; i++) large[i] = Math.round(data[i] * 255);
  return imageToPanel(large);
}

/** One of the 160x160 images of RAVEN's files as a panel, scaled as the data sets were. */
export function imageToPanel(image: Uint8Array): Panel {
  if (image.length !== IMAGE_PIXELS) {
    throw new ArgumentError(`an image has 160x160 pixels, not ${image.length}`);
  }
  const small = new Uint8Array(SMALL_PIXELS);
  downscale(image, small);
  return bytesToPanel(small);
}

/** Writes any accepted input as a panel to `out`, 4096 values long; `what` names it in errors. */
export function writePanel(input: PanelInput, out: Panel, what: string): void {
  if (input instanceof Float32Array) writeValues(input, out, what);
  else if (input instanceof Uint8Array) writeBytes(input, out, what);
  else if (Array.isArray(input)) writeValues(input as readonly number[], out, what);
  else if (typeof input === 'object' && input !== null && 'width' in input) {
    out.set(greyToPanel(greyOf(input, what)));
  } else {
    throw new ArgumentError(
      `${what}: expected 64x64 values, a PNG or JPEG, or a picture with its size`,
    );
  }
}

/** Any accepted input as a panel of its own; `what` names it in errors. */
export function toPanel(input: PanelInput, what = 'panel'): Panel {
  const panel = new Float32Array(SMALL_PIXELS);
  writePanel(input, panel, what);
  return panel;
}
