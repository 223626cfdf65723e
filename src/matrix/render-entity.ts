/**
 * One entity on an otherwise empty layer: where its vertices lie, and its ink. The figures' offsets
 * from the centre are truncated to whole pixels, as in the data sets.
 */
import { COLORS, SIZES, TYPES, UPRIGHT } from './attributes.js';
import type { ComponentLayout, Slot } from './layouts.js';
import type { Entity } from './problem.js';
import {
  fillCircle,
  fillConvexPolygon,
  outlineCircle,
  outlinePolygon,
  type Point,
  type Raster,
} from './raster.js';
import { cosineOf, rotate, sineOf, type Region } from './raster-rotate.js';

/** Side of a full image in pixels. */
export const IMAGE_SIZE = 160;

/** Ink of outlines. */
export const BLACK_INK = 255;

/** What decides the form of an entity: everything but its colour. */
export interface Figure {
  /** A line is no figure: `mesh.ts` draws it. */
  readonly type: (typeof TYPES)[number];
  /** Centre in whole pixels. */
  readonly centre: Point;
  /** Half the side of the slot, in pixels. */
  readonly unit: number;
  /** Fraction of the slot that is filled. */
  readonly scale: number;
  /** Angle level. */
  readonly angle: number;
}

/** Pixels of half a slot's side. */
const unitOf = (slot: Slot): number => (Math.min(slot.width, slot.height) * IMAGE_SIZE) / 2;

/** Pixel at the centre of a slot. */
const centreOf = (slot: Slot): Point => [
  Math.trunc(slot.column * IMAGE_SIZE),
  Math.trunc(slot.row * IMAGE_SIZE),
];

/** The figure of an entity in its component's layout. */
export function figureOf(layout: ComponentLayout, entity: Entity): Figure {
  const slot = layout.slots[entity.slot];
  return {
    type: TYPES[entity.type],
    centre: centreOf(slot),
    unit: unitOf(slot),
    scale: SIZES[entity.size],
    angle: entity.angle,
  };
}

/** Distance from the centre to a vertex, or a circle's radius, untruncated. */
export const radiusOf = (figure: Figure): number => figure.unit * figure.scale;

const halfSideOfSquare = (figure: Figure): number => (figure.unit / 2) * Math.SQRT2 * figure.scale;

// Written out, not computed: engines may differ in the last bit of a cosine.
const COS_18 = 0.9510565162951535;
const SIN_18 = 0.3090169943749474;
const SIN_36 = 0.5877852522924731;
const COS_36 = 0.8090169943749475;
const COS_30 = 0.8660254037844386;

/** Corners of the unit figures around (0, 0), in drawing order. */
const UNIT_VERTICES: Readonly<Record<'triangle' | 'pentagon' | 'hexagon', readonly Point[]>> = {
  triangle: [
    [0, -1],
    [COS_30, 0.5],
    [-COS_30, 0.5],
  ],
  pentagon: [
    [0, -1],
    [-COS_18, -SIN_18],
    [-SIN_36, COS_36],
    [SIN_36, COS_36],
    [COS_18, -SIN_18],
  ],
  hexagon: [
    [0, -1],
    [-COS_30, -0.5],
    [-COS_30, 0.5],
    [0, 1],
    [COS_30, 0.5],
    [COS_30, -0.5],
  ],
};

/** Vertices relative to the centre before any rotation, not truncated; none for a circle. */
export function idealVertices(figure: Figure): readonly Point[] {
  if (figure.type === 'square') return squareVertices(halfSideOfSquare(figure));
  if (figure.type === 'circle' || figure.type === 'none' || figure.type === 'line') return [];
  const radius = radiusOf(figure);
  return UNIT_VERTICES[figure.type].map(([x, y]): Point => [x * radius, y * radius]);
}

const squareVertices = (half: number): readonly Point[] => [
  [-half, -half],
  [half, -half],
  [half, half],
  [-half, half],
];

/** Vertices as they are drawn: whole pixels relative to the centre, before any rotation. */
export function pixelVertices(figure: Figure): readonly Point[] {
  if (figure.type === 'square') return squareVertices(Math.trunc(halfSideOfSquare(figure)));
  if (figure.type === 'circle' || figure.type === 'none' || figure.type === 'line') return [];
  const radius = Math.trunc(radiusOf(figure));
  return UNIT_VERTICES[figure.type].map(([x, y]): Point => [
    Math.trunc(x * radius),
    Math.trunc(y * radius),
  ]);
}

/** Ink of the inside of an entity: 0 for white, which is drawn transparent. */
export const fillInk = (color: number): number => BLACK_INK - COLORS[color];

/** Draws a figure upright: inside (unless `ink` is 0), then its black outline. */
export function drawUpright(raster: Raster, figure: Figure, ink: number): void {
  const { centre } = figure;
  if (figure.type === 'none' || figure.type === 'line') return;
  if (figure.type === 'circle') {
    const radius = Math.trunc(radiusOf(figure));
    if (ink !== 0) fillCircle(raster, centre, radius, ink);
    outlineCircle(raster, centre, radius, BLACK_INK);
    return;
  }
  const vertices = pixelVertices(figure).map(([x, y]): Point => [centre[0] + x, centre[1] + y]);
  if (ink !== 0) fillConvexPolygon(raster, vertices, ink);
  outlinePolygon(raster, vertices, BLACK_INK);
}

/** How far from its centre a figure can reach at any angle, with its outline and some room. */
export const farthestReach = (figure: Figure): number => Math.ceil(radiusOf(figure)) + 4;

/** The part of an image that a figure can reach at any angle. */
function reachOf(figure: Figure): Region {
  const reach = farthestReach(figure);
  const [x, y] = figure.centre;
  return {
    left: Math.max(x - reach, 0),
    top: Math.max(y - reach, 0),
    right: Math.min(x + reach, IMAGE_SIZE - 1),
    bottom: Math.min(y + reach, IMAGE_SIZE - 1),
  };
}

/** Room around the vertices for half of the outline, its round caps and what rotation spreads. */
const OUTLINE_ROOM = 3;

/** The part of an image where a figure at its angle has ink; less than its reach. */
export function inkRegionOf(figure: Figure): Region {
  const cosine = cosineOf(figure.angle);
  const sine = sineOf(figure.angle);
  const radius = figure.type === 'circle' ? Math.trunc(radiusOf(figure)) : 0;
  let left = -radius;
  let right = radius;
  let top = -radius;
  let bottom = radius;
  for (const [x, y] of pixelVertices(figure)) {
    left = Math.min(left, cosine * x + sine * y);
    right = Math.max(right, cosine * x + sine * y);
    top = Math.min(top, cosine * y - sine * x);
    bottom = Math.max(bottom, cosine * y - sine * x);
  }
  const [centreX, centreY] = figure.centre;
  return {
    left: Math.max(centreX + Math.floor(left) - OUTLINE_ROOM, 0),
    top: Math.max(centreY + Math.floor(top) - OUTLINE_ROOM, 0),
    right: Math.min(centreX + Math.ceil(right) + OUTLINE_ROOM, IMAGE_SIZE - 1),
    bottom: Math.min(centreY + Math.ceil(bottom) + OUTLINE_ROOM, IMAGE_SIZE - 1),
  };
}

const blankLayer = (): Raster => ({
  width: IMAGE_SIZE,
  height: IMAGE_SIZE,
  data: new Uint8Array(IMAGE_SIZE * IMAGE_SIZE),
});

/** A figure at its angle on an empty layer of its own; ink, 0 where there is none. */
export function drawFigure(figure: Figure, ink: number): Raster {
  const upright = blankLayer();
  drawUpright(upright, figure, ink);
  if (figure.angle === UPRIGHT) return upright;
  const rotated = blankLayer();
  rotate(upright, rotated, figure.centre, figure.angle, reachOf(figure));
  return rotated;
}
