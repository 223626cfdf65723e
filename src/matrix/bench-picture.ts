/**
 * A problem as ml-rpm-bench ("How far are we from intelligent visual deductive reasoning", 2024) shows
 * it: one grey picture of 880x1120, the matrix above and eight lettered options below, or single tiles of
 * 220x220. The pixels are those of its program before it saves them as JPEG.
 */
import { Board, greySquare } from './board.js';
import { drawHershey } from './hershey.js';
import type { Picture } from './png.js';
import type { Point } from './raster.js';
import { IMAGE_SIZE } from './render-entity.js';
import { LETTERS } from './vlm-item.js';

const BORDER = 30;
const TILE = IMAGE_SIZE + 2 * BORDER;
const GAP = 20;
const BLACK = 0;
const QUESTION = { at: [TILE / 2, TILE / 2] as Point, scale: 2 };
const LETTER = { at: [27, 27] as Point, scale: 0.6 };

/** A tile with a panel of 160x160 in its middle. */
function panelTile(images: Uint8Array, index: number): Board {
  const tile = new Board(TILE, TILE, 1);
  const pixels = IMAGE_SIZE * IMAGE_SIZE;
  const panel = images.subarray(index * pixels, (index + 1) * pixels);
  tile.paste(greySquare(panel), BORDER, BORDER);
  return tile;
}

/** The nine tiles of the matrix, the last a question mark, and the eight of the options. */
function tiles(images: Uint8Array): { matrix: Board[]; options: Board[] } {
  const matrix = Array.from({ length: 8 }, (_, i) => panelTile(images, i));
  const question = new Board(TILE, TILE, 1);
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
  parts: readonly Board[],
  columns: number,
  rowLines: readonly number[],
  columnLines: readonly number[],
): Board {
  const all = new Board(columns * TILE, (parts.length / columns) * TILE, 1);
  parts.forEach((tile, i) => all.paste(tile, (i % columns) * TILE, Math.floor(i / columns) * TILE));
  for (const row of rowLines) all.fill(0, row - 1, all.width, 2, [BLACK]);
  for (const column of columnLines) all.fill(column - 1, 0, 2, all.height, [BLACK]);
  return all;
}

const optionGrid = (options: readonly Board[]): Board =>
  grid(options, 4, [TILE], [TILE, 2 * TILE, 3 * TILE]);

/** The options alone. */
export const benchOptions = (images: Uint8Array): Picture => optionGrid(tiles(images).options);

/** The whole puzzle; `images` is u8 [16, 160, 160], context and options. */
export function benchPicture(images: Uint8Array): Picture {
  const { matrix, options } = tiles(images);
  // A third of the side is written as 0.33 there, so that lines do not fall between tiles.
  const thirds = [0.33, 0.67].map((share) => Math.trunc(share * 3 * TILE));
  const above = grid(matrix, 3, thirds, thirds);
  const below = optionGrid(options);
  const whole = new Board(below.width, above.height + GAP + below.height, 1);
  whole.paste(above, TILE / 2, 0);
  whole.paste(below, 0, above.height + GAP);
  return whole;
}

/** The same as seventeen pictures by name: q0 to q8 (the question mark), A to H. */
export function benchTiles(images: Uint8Array): Map<string, Picture> {
  const { matrix, options } = tiles(images);
  return new Map([
    ...matrix.map((tile, i) => [`q${i}`, tile] as const),
    ...options.map((tile, i) => [LETTERS[i], tile] as const),
  ]);
}
