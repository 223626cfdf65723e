/**
 * What the data sets' XML says of an entity beside its levels: the pixels it covers, as run lengths,
 * and the box around its rotated vertices. Both equal the published values to the last digit, which
 * needs the same order of floating-point operations.
 */
import type { ComponentLayout } from './layouts.js';
import { drawMesh, MESH, segmentOf } from './mesh.js';
import type { Entity } from './problem.js';
import { roundHalfEven, type Point } from './raster.js';
import { cosineOf, sineOf } from './raster-rotate.js';
import {
  BLACK_INK,
  drawFigure,
  figureOf,
  IMAGE_SIZE,
  pixelVertices,
  radiusOf,
  type Figure,
} from './render-entity.js';

/** Room that a box leaves for the outline, as a fraction of the image. */
const BOX_MARGIN = 3 / IMAGE_SIZE;

function lineMask({ slot }: Entity): number[] {
  const data = new Uint8Array(IMAGE_SIZE * IMAGE_SIZE);
  drawMesh({ width: IMAGE_SIZE, height: IMAGE_SIZE, data }, [slot], BLACK_INK);
  return coveredRuns(data);
}

function coveredRuns(data: Uint8Array): number[] {
  const runs: number[] = [];
  let start = data.indexOf(BLACK_INK);
  while (start >= 0) {
    let end = start;
    while (data[end] === BLACK_INK) end += 1;
    runs.push(start + 1, end - start);
    start = data.indexOf(BLACK_INK, end);
  }
  return runs;
}

/** Masks already made, by figure; there are at most 240 for each slot, so a few thousand in all. */
const knownMasks = new Map<string, readonly number[]>();
const MOST_MASKS = 8192;

/**
 * The pixels an entity covers, drawn solid black at its angle: pairs of start (1-based, row by row)
 * and length. The colour does not matter.
 */
export function entityMask(layout: ComponentLayout, entity: Entity): readonly number[] {
  if (layout === MESH) return lineMask(entity);
  const figure = figureOf(layout, entity);
  const { type, centre, unit, scale, angle } = figure;
  const key = `${type} ${centre[0]} ${centre[1]} ${unit} ${scale} ${angle}`;
  const known = knownMasks.get(key);
  if (known) return known;
  const mask = Object.freeze(coveredRuns(drawFigure(figure, BLACK_INK).data));
  if (knownMasks.size >= MOST_MASKS) knownMasks.clear();
  knownMasks.set(key, mask);
  return mask;
}

/**
 * `factor * times + addend` with a single rounding, as a fused multiply-add gives it. `times` must
 * be a small integer: the factor is cut in two halves whose products with it are exact.
 */
function fusedMultiplyAdd(factor: number, times: number, addend: number): number {
  const high = Math.fround(factor);
  const highProduct = high * times;
  const lowProduct = (factor - high) * times;
  const sum = addend + highProduct;
  const shift = sum - addend;
  const lost = addend - (sum - shift) + (highProduct - shift);
  return sum + (lost + lowProduct);
}

/** A vertex in pixels of the image after rotation about the figure's centre. */
function rotatedVertex(figure: Figure, [x, y]: Point): Point {
  const [centreX, centreY] = figure.centre;
  const cosine = cosineOf(figure.angle);
  const sine = sineOf(figure.angle);
  const shiftX = (1 - cosine) * centreX - sine * centreY;
  const shiftY = sine * centreX + (1 - cosine) * centreY;
  return [
    fusedMultiplyAdd(sine, centreY + y, cosine * (centreX + x)) + shiftX,
    fusedMultiplyAdd(cosine, centreY + y, -sine * (centreX + x)) + shiftY,
  ];
}

const toFourDigits = (value: number): number => roundHalfEven(value * 10000) / 10000;

/** Centre and extent along one axis, in fractions of the image. */
function spanOf(values: readonly number[]): [centre: number, extent: number] {
  const low = Math.min(...values) / IMAGE_SIZE;
  const high = Math.max(...values) / IMAGE_SIZE;
  return [(low + high) / 2, high - low + BOX_MARGIN];
}

function lineBox({ slot }: Entity): [row: number, column: number, height: number, width: number] {
  const ends = segmentOf(MESH.slots[slot], IMAGE_SIZE);
  const [column, width] = spanOf(ends.map(([x]) => x));
  const [row, height] = spanOf(ends.map(([, y]) => y));
  return [toFourDigits(row), toFourDigits(column), toFourDigits(height), toFourDigits(width)];
}

/** The box around an entity at its angle: row and column of its centre, height, width; fractions. */
export function realBoundingBox(
  layout: ComponentLayout,
  entity: Entity,
): [row: number, column: number, height: number, width: number] {
  if (layout === MESH) return lineBox(entity);
  const figure = figureOf(layout, entity);
  if (figure.type === 'circle') {
    const side = toFourDigits((2 * radiusOf(figure)) / IMAGE_SIZE + BOX_MARGIN);
    const [x, y] = figure.centre;
    return [toFourDigits(y / IMAGE_SIZE), toFourDigits(x / IMAGE_SIZE), side, side];
  }
  const vertices = pixelVertices(figure).map((vertex) => rotatedVertex(figure, vertex));
  const [column, width] = spanOf(vertices.map(([x]) => x));
  const [row, height] = spanOf(vertices.map(([, y]) => y));
  return [toFourDigits(row), toFourDigits(column), toFourDigits(height), toFourDigits(width)];
}
