/**
 * A problem as ml-rpm-bench ("How far are we from intelligent visual deductive reasoning", 2024) shows
 * it: one grey picture of 880x1120, the matrix above and eight lettered options below, or single tiles of
 * 220x220. The pixels are those of its program before it saves them as JPEG.
 */
import { drawHershey } from './hershey.js';
import type { Picture } from './png.js';
import type { Point, Raster } from './raster.js';
import { IMAGE_SIZE } from './render-entity.js';
import { LETTERS } from './vlm-item.js';

const BORDER = 30;
const TILE = IMAGE_SIZE + 2 * BORDER;
const GAP = 20;
const BLACK = 0;
const WHITE = 255;
const QUESTION = { at: [TILE / 2, TILE / 2] as Point, scale: 2 };
const LETTER = { at: [27, 27] as Point, scale: 0.6 };

const blank = (width: number, height: number): Raster => ({
  width,
  height,
  data: new Uint8Array(width * height).fill(WHITE),
});

function paste(to: Raster, from: Raster, left: number, top: number): void {
  for (let row = 0; row < from.height; row++) {
    const line = from.data.subarray(row * from.width, (row + 1) * from.width);
    to.data.set(line, (top + row) * to.width + left);
  }
}

/** A tile with a panel of 160x160 in its middle. */
function panelTile(images: Uint8Array, index: number): Raster {
  const tile = blank(TILE, TILE);
  const pixels = IMAGE_SIZE * IMAGE_SIZE;
  const data = images.subarray(index * pixels, (index + 1) * pixels);
  paste(tile, { width: IMAGE_SIZE, height: IMAGE_SIZE, data }, BORDER, BORDER);
  return tile;
}

/** The nine tiles of the matrix, the last a question mark, and the eight of the options. */
function tiles(images: Uint8Array): { matrix: Raster[]; options: Raster[] } {
  const matrix = Array.from({ length: 8 }, (_, i) => panelTile(images, i));
  const question = blank(TILE, TILE);
  drawHershey(question, '?', QUESTION.at, QUESTION.scale, BLACK);
  const options = LETTERS.map((letter, i) => {
    const tile = panelTile(images, 8 + i);
    drawHershey(tile, letter, LETTER.at, LETTER.scale, BLACK);
    return tile;
  });
  return { matrix: [...matrix, question], options };
}

/** Tiles side by side, with lines of two pixels that end at the given rows and columns. */
function grid(
  parts: readonly Raster[],
  columns: number,
  rowLines: readonly number[],
  columnLines: readonly number[],
): Raster {
  const all = blank(columns * TILE, (parts.length / columns) * TILE);
  parts.forEach((tile, i) =>
    paste(all, tile, (i % columns) * TILE, Math.floor(i / columns) * TILE),
  );
  for (const row of rowLines) all.data.fill(BLACK, (row - 1) * all.width, (row + 1) * all.width);
  for (let row = 0; row < all.height; row++) {
    for (const column of columnLines) {
      all.data.fill(BLACK, row * all.width + column - 1, row * all.width + column + 1);
    }
  }
  return all;
}

const picture = (raster: Raster): Picture => ({ ...raster, channels: 1 });

const optionGrid = (options: readonly Raster[]): Raster =>
  grid(options, 4, [TILE], [TILE, 2 * TILE, 3 * TILE]);

/** The options alone. */
export const benchOptions = (images: Uint8Array): Picture =>
  picture(optionGrid(tiles(images).options));

/** The whole puzzle; `images` is u8 [16, 160, 160], context and options. */
export function benchPicture(images: Uint8Array): Picture {
  const { matrix, options } = tiles(images);
  // A third of the side is written as 0.33 there, so that lines do not fall between tiles.
  const thirds = [0.33, 0.67].map((share) => Math.trunc(share * 3 * TILE));
  const above = grid(matrix, 3, thirds, thirds);
  const below = optionGrid(options);
  const whole = blank(below.width, above.height + GAP + below.height);
  paste(whole, above, TILE / 2, 0);
  paste(whole, below, 0, above.height + GAP);
  return picture(whole);
}

/** The same as seventeen pictures by name: q0 to q8 (the question mark), A to H. */
export function benchTiles(images: Uint8Array): Map<string, Picture> {
  const { matrix, options } = tiles(images);
  return new Map([
    ...matrix.map((tile, i) => [`q${i}`, picture(tile)] as const),
    ...options.map((tile, i) => [LETTERS[i], picture(tile)] as const),
  ]);
}
