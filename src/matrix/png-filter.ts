/**
 * The middle of PNG decoding: scan lines, filtered and perhaps interlaced in seven passes (Adam7),
 * become samples in reading order.
 */
import { FormatError } from '../base/index.js';

export interface PngHeader {
  readonly width: number;
  readonly height: number;
  /** Bits of one sample: 1, 2, 4, 8 or 16. */
  readonly depth: number;
  readonly colourType: number;
  readonly channels: number;
  readonly interlaced: boolean;
}

/** Which pixels a pass holds: the first column and row, and the steps between them. */
interface Pass {
  readonly x: number;
  readonly y: number;
  readonly stepX: number;
  readonly stepY: number;
}

const WHOLE: readonly Pass[] = [{ x: 0, y: 0, stepX: 1, stepY: 1 }];
const ADAM7: readonly Pass[] = [
  { x: 0, y: 0, stepX: 8, stepY: 8 },
  { x: 4, y: 0, stepX: 8, stepY: 8 },
  { x: 0, y: 4, stepX: 4, stepY: 8 },
  { x: 2, y: 0, stepX: 4, stepY: 4 },
  { x: 0, y: 2, stepX: 2, stepY: 4 },
  { x: 1, y: 0, stepX: 2, stepY: 2 },
  { x: 0, y: 1, stepX: 1, stepY: 2 },
];

/**
 * All samples, [height, width, channels]. `inflate` is asked once for the filtered bytes and told
 * exactly how many there must be.
 */
export function unfilterPasses(
  header: PngHeader,
  inflate: (bytes: number) => Uint8Array,
): Uint8Array | Uint16Array {
  const { width, height, channels, depth } = header;
  const bitsPerPixel = channels * depth;
  const passes = (header.interlaced ? ADAM7 : WHOLE)
    .map((pass) => ({
      ...pass,
      columns: Math.ceil((width - pass.x) / pass.stepX),
      rows: Math.ceil((height - pass.y) / pass.stepY),
    }))
    .filter(({ columns, rows }) => columns > 0 && rows > 0)
    .map((pass) => ({ ...pass, lineBytes: Math.ceil((pass.columns * bitsPerPixel) / 8) }));
  const filtered = inflate(passes.reduce((sum, pass) => sum + pass.rows * (1 + pass.lineBytes), 0));
  const samples =
    depth === 16
      ? new Uint16Array(width * height * channels)
      : new Uint8Array(width * height * channels);
  let at = 0;
  for (const pass of passes) {
    let previous: Uint8Array = new Uint8Array(pass.lineBytes);
    for (let row = 0; row < pass.rows; row++) {
      const line = filtered.subarray(at + 1, at + 1 + pass.lineBytes);
      unfilter(filtered[at], line, previous, Math.max(1, bitsPerPixel >> 3));
      at += 1 + pass.lineBytes;
      const start = ((pass.y + row * pass.stepY) * width + pass.x) * channels;
      spread(line, samples, start, pass.columns, pass.stepX * channels, channels, depth);
      previous = line;
    }
  }
  return samples;
}

/** Undoes the filter of one line in place; `distance` is how far back the pixel to the left is. */
function unfilter(kind: number, line: Uint8Array, above: Uint8Array, distance: number): void {
  if (kind > 4) throw new FormatError(`unknown PNG filter ${kind}`);
  if (kind === 0) return;
  for (let i = 0; i < line.length; i++) {
    const left = i >= distance ? line[i - distance] : 0;
    if (kind === 1) line[i] += left;
    else if (kind === 2) line[i] += above[i];
    else if (kind === 3) line[i] += (left + above[i]) >> 1;
    else line[i] += paeth(left, above[i], i >= distance ? above[i - distance] : 0);
  }
}

/** Whichever of the three neighbours is nearest to left + above - corner. */
function paeth(left: number, above: number, corner: number): number {
  const byLeft = Math.abs(above - corner);
  const byAbove = Math.abs(left - corner);
  const byCorner = Math.abs(left + above - 2 * corner);
  if (byLeft <= byAbove && byLeft <= byCorner) return left;
  return byAbove <= byCorner ? above : corner;
}

/** Puts the samples of one line, of any depth, where they belong in the image. */
function spread(
  line: Uint8Array,
  samples: Uint8Array | Uint16Array,
  start: number,
  columns: number,
  step: number,
  channels: number,
  depth: number,
): void {
  const largest = 2 ** depth - 1;
  for (let column = 0, k = 0; column < columns; column++) {
    for (let channel = 0; channel < channels; channel++, k++) {
      let value: number;
      if (depth === 8) value = line[k];
      else if (depth === 16) value = (line[2 * k] << 8) | line[2 * k + 1];
      else value = (line[(k * depth) >> 3] >> (8 - depth - ((k * depth) & 7))) & largest;
      samples[start + column * step + channel] = value;
    }
  }
}
