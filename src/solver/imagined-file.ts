/**
 * `imagined.png`: what a model painted as the last panel of a few matrices while it was trained. A row for
 * each snapshot of `rules.json`, oldest first; column n is the panel of problem n of its source. The true
 * panels are not stored: they follow from the source.
 */
import { FormatError } from '../base/index.js';
import { decodePng, encodePng, SMALL_PIXELS, SMALL_SIZE } from '../matrix/index.js';
import { BundleError } from './errors.js';
import type { Panel } from './panels.js';

const FILE = 'imagined.png';
/** Of pictures to read: 64 moments of 16 panels. */
const MOST_PIXELS = 64 * 16 * SMALL_PIXELS;
/** Shades of grey that are kept: eyes tell no more apart, and the file is half as large. */
const SHADES = 32;

const shaded = (grey: number): number =>
  Math.round((Math.round((grey / 255) * (SHADES - 1)) / (SHADES - 1)) * 255);

/** The bytes of the file from the panels of every moment, u8 [columns, 64, 64] each. */
export function formatImagined(moments: readonly Uint8Array[]): Uint8Array {
  const columns = (moments.at(0)?.length ?? 0) / SMALL_PIXELS;
  const width = columns * SMALL_SIZE;
  const data = new Uint8Array(moments.length * width * SMALL_SIZE);
  moments.forEach((panels, moment) => {
    if (panels.length !== columns * SMALL_PIXELS) {
      throw new FormatError(
        `${FILE}: the panels of a moment have ${panels.length} bytes, not ${columns * SMALL_PIXELS}`,
      );
    }
    panels.forEach((grey, i) => {
      const column = Math.floor(i / SMALL_PIXELS);
      const line = Math.floor((i % SMALL_PIXELS) / SMALL_SIZE);
      const at = (moment * SMALL_SIZE + line) * width + column * SMALL_SIZE + (i % SMALL_SIZE);
      data[at] = shaded(grey);
    });
  });
  return encodePng({ width, height: moments.length * SMALL_SIZE, channels: 1, data });
}

/** The panels of every moment, of which `rules.json` has so many. */
export function parseImagined(bytes: Uint8Array, moments: number): Panel[][] {
  const height = moments * SMALL_SIZE;
  const { data, ...size } = decoded(bytes);
  const columns = size.width / SMALL_SIZE;
  if (size.height !== height || !Number.isInteger(columns)) {
    throw new BundleError(
      `${FILE}: expected panels of ${SMALL_SIZE}x${SMALL_SIZE} in ${moments} rows, got ${size.width}x${size.height} pixels`,
    );
  }
  const lineOf = (moment: number, line: number, column: number): Float32Array => {
    const start = (moment * SMALL_SIZE + line) * size.width + column * SMALL_SIZE;
    return data.subarray(start, start + SMALL_SIZE);
  };
  return Array.from({ length: moments }, (_, moment) =>
    Array.from({ length: columns }, (_, column) => {
      const panel = new Float32Array(SMALL_PIXELS);
      for (let line = 0; line < SMALL_SIZE; line++) {
        panel.set(lineOf(moment, line, column), line * SMALL_SIZE);
      }
      return panel;
    }),
  );
}

function decoded(bytes: Uint8Array): ReturnType<typeof decodePng> {
  try {
    return decodePng(bytes, { maxPixels: MOST_PIXELS });
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new BundleError(`${FILE}: ${error.message}`, { cause: error });
  }
}
