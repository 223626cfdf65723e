/**
 * A panel as ideal shapes, for anything that draws with lines and curves: SVG, PDF, a canvas. The
 * geometry is that of the raster images without its truncation to whole pixels; coordinates are in
 * pixels of the 160x160 image, x to the right, y down.
 */
import { ANGLES, COLORS } from './attributes.js';
import type { ConfigurationLayout } from './layouts.js';
import { MESH, segmentOf } from './mesh.js';
import type { Entity, Panel } from './problem.js';
import type { Point } from './raster.js';
import { cosineOf, sineOf } from './raster-rotate.js';
import { figureOf, idealVertices, IMAGE_SIZE, pixelVertices, radiusOf } from './render-entity.js';

/** Width of outlines, chosen to weigh as much as those of the raster images. */
export const OUTLINE_WIDTH = 2.5;
/** Width of the line between two components. */
export const STRUCTURE_LINE_WIDTH = 1;

/** What an entity's shape comes from, so that a page can tell a reader which one was pointed at. */
interface ShapeSource {
  readonly component: number;
  readonly entity: Entity;
  /** Centre of the slot, about which the shape is rotated. */
  readonly centre: Point;
  /** Degrees counter-clockwise. */
  readonly degrees: number;
  /** Grey value of the inside, 0 black; null if it is transparent. */
  readonly fill: number | null;
}

export interface PolygonShape extends ShapeSource {
  readonly kind: 'polygon';
  /** Vertices before rotation. */
  readonly upright: readonly Point[];
  /** Vertices as they are seen. */
  readonly vertices: readonly Point[];
}

export interface CircleShape extends ShapeSource {
  readonly kind: 'circle';
  readonly radius: number;
}

/** The line between two components, or one of a mesh. */
export interface LineShape {
  readonly kind: 'line';
  readonly from: Point;
  readonly to: Point;
  readonly width: number;
}

export type PanelShape = PolygonShape | CircleShape | LineShape;

/** A pixel's centre lies half a pixel from its corner, where shapes have their origin. */
const HALF_PIXEL = 0.5;
const MIDDLE = IMAGE_SIZE / 2 + HALF_PIXEL;

function rotated([x, y]: Point, [centreX, centreY]: Point, angle: number): Point {
  const cosine = cosineOf(angle);
  const sine = sineOf(angle);
  const [dx, dy] = [x - centreX, y - centreY];
  return [centreX + cosine * dx + sine * dy, centreY - sine * dx + cosine * dy];
}

/** The shape of one entity; `truncated` to whole pixels as in the raster images, or ideal. */
export function entityShape(
  layout: ConfigurationLayout,
  component: number,
  entity: Entity,
  truncated = false,
): PolygonShape | CircleShape {
  const figure = figureOf(layout.components[component], entity);
  const centre: Point = [figure.centre[0] + HALF_PIXEL, figure.centre[1] + HALF_PIXEL];
  const source = {
    component,
    entity,
    centre,
    degrees: ANGLES[entity.angle],
    fill: entity.color === 0 ? null : COLORS[entity.color],
  };
  if (figure.type === 'circle') {
    const radius = radiusOf(figure);
    return { ...source, kind: 'circle', radius: truncated ? Math.trunc(radius) : radius };
  }
  const offsets = truncated ? pixelVertices(figure) : idealVertices(figure);
  const upright = offsets.map(([x, y]): Point => [centre[0] + x, centre[1] + y]);
  const vertices = upright.map((vertex) => rotated(vertex, centre, entity.angle));
  return { ...source, kind: 'polygon', upright, vertices };
}

function meshLine({ slot }: Entity): LineShape {
  const [from, to] = segmentOf(MESH.slots[slot], IMAGE_SIZE).map(([x, y]): Point => [
    x + HALF_PIXEL,
    y + HALF_PIXEL,
  ]);
  return { kind: 'line', from, to, width: OUTLINE_WIDTH };
}

function structureLine(layout: ConfigurationLayout): LineShape[] {
  if (layout.structure === 'Left_Right') {
    return [
      { kind: 'line', from: [MIDDLE, 0], to: [MIDDLE, IMAGE_SIZE], width: STRUCTURE_LINE_WIDTH },
    ];
  }
  if (layout.structure === 'Up_Down') {
    return [
      { kind: 'line', from: [0, MIDDLE], to: [IMAGE_SIZE, MIDDLE], width: STRUCTURE_LINE_WIDTH },
    ];
  }
  return [];
}

/** The shapes of a panel in drawing order: later ones lie over earlier ones. */
export function panelShapes(layout: ConfigurationLayout, panel: Panel): PanelShape[] {
  const entities = panel.components.flatMap((component, index) =>
    component.entities.map((entity) =>
      layout.components[index] === MESH ? meshLine(entity) : entityShape(layout, index, entity),
    ),
  );
  return [...entities, ...structureLine(layout)];
}
