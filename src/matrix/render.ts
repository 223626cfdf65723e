/**
 * A panel as an image, entity by entity, the plain way: the definition of what every faster path
 * must equal. Images are 160x160 or 64x64 bytes, row by row, 255 white paper.
 */
import type { ConfigurationLayout } from './layouts.js';
import { drawMesh, MESH } from './mesh.js';
import type { ComponentPanel, Panel } from './problem.js';
import type { Region } from './raster-rotate.js';
import { BLACK_INK, drawFigure, figureOf, fillInk, IMAGE_SIZE } from './render-entity.js';

export const IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE;

/** Side of an image as the models see it. */
export const SMALL_SIZE = 64;
export const SMALL_PIXELS = SMALL_SIZE * SMALL_SIZE;

export const PAPER = 255;

/** Column or row of the line between two components. */
const STRUCTURE_LINE = IMAGE_SIZE / 2;

/** Draws the line between the components of left-right and up-down into an image. */
export function drawStructureLine(
  layout: ConfigurationLayout,
  image: Uint8Array,
  offset: number,
): void {
  if (layout.structure === 'Up_Down') {
    const start = offset + STRUCTURE_LINE * IMAGE_SIZE;
    image.fill(PAPER - BLACK_INK, start, start + IMAGE_SIZE);
  } else if (layout.structure === 'Left_Right') {
    for (let row = 0; row < IMAGE_SIZE; row++) {
      image[offset + row * IMAGE_SIZE + STRUCTURE_LINE] = PAPER - BLACK_INK;
    }
  }
}

/** Draws the lines of a mesh over what an image shows. */
export function drawMeshInto(
  { entities }: ComponentPanel,
  image: Uint8Array,
  offset: number,
): void {
  const data = image.subarray(offset, offset + IMAGE_PIXELS);
  const slots = entities.map(({ slot }) => slot);
  drawMesh({ width: IMAGE_SIZE, height: IMAGE_SIZE, data }, slots, PAPER - BLACK_INK);
}

/** Draws a panel step by step, without any cache: slow, and the measure of the fast ways. */
export function renderPanelPlainly(layout: ConfigurationLayout, panel: Panel): Uint8Array {
  const image = new Uint8Array(IMAGE_PIXELS).fill(PAPER);
  panel.components.forEach((component, index) => {
    if (layout.components[index] === MESH) return drawMeshInto(component, image, 0);
    for (const entity of component.entities) {
      const figure = figureOf(layout.components[index], entity);
      const layer = drawFigure(figure, fillInk(entity.color)).data;
      for (let i = 0; i < IMAGE_PIXELS; i++) {
        if (layer[i] > 0) image[i] = PAPER - layer[i];
      }
    }
  });
  drawStructureLine(layout, image, 0);
  return image;
}

/** Sides that images are made in: as published, halved by averaging, and as our models see them. */
export type ImageSide = 64 | 80 | 160;

/** Scales a 160x160 image to a side: 160 copies it, 80 averages 2x2 pixels, 64 is `downscale`. */
export function scaleInto(
  image: Uint8Array,
  imageOffset: number,
  out: Uint8Array,
  outOffset: number,
  side: ImageSide,
): void {
  if (side === 64) return downscale(image, out, outOffset, imageOffset);
  if (side === 160)
    return out.set(image.subarray(imageOffset, imageOffset + IMAGE_PIXELS), outOffset);
  for (let pixel = 0; pixel < side * side; pixel++) {
    const at = imageOffset + Math.floor(pixel / side) * 2 * IMAGE_SIZE + (pixel % side) * 2;
    const sum = image[at] + image[at + 1] + image[at + IMAGE_SIZE] + image[at + IMAGE_SIZE + 1];
    out[outOffset + pixel] = (sum + 2) >> 2;
  }
}

/** The whole of a 64x64 image. */
const WHOLE: Region = { left: 0, top: 0, right: SMALL_SIZE - 1, bottom: SMALL_SIZE - 1 };

/**
 * Scales a 160x160 image to 64x64: bilinear, pixel centres at half positions, no antialiasing,
 * rounded half up.
 */
export function downscale(
  image: Uint8Array,
  out: Uint8Array,
  outOffset = 0,
  imageOffset = 0,
): void {
  downscaleRegion(image, imageOffset, out, outOffset, WHOLE);
}

/**
 * Scales down what makes a region of the 64x64 image; `left` must be even and `right` odd. Five
 * source pixels make two: weights (1, 3) on the first two and (3, 1) on the last two; the middle one
 * is never looked at.
 */
export function downscaleRegion(
  image: Uint8Array,
  imageOffset: number,
  out: Uint8Array,
  outOffset: number,
  region: Region,
): void {
  const firstColumn = (region.left >> 1) * 5;
  const lastColumn = (region.right >> 1) * 5;
  for (let y = region.top; y <= region.bottom; y++) {
    const odd = y & 1;
    const upper = imageOffset + ((y >> 1) * 5 + odd * 3) * IMAGE_SIZE;
    const lower = upper + IMAGE_SIZE;
    const upperWeight = odd ? 3 : 1;
    const lowerWeight = 4 - upperWeight;
    let write = outOffset + y * SMALL_SIZE + region.left;
    for (let x = firstColumn; x <= lastColumn; x += 5) {
      const a = upper + x;
      const b = lower + x;
      const left =
        upperWeight * (image[a] + 3 * image[a + 1]) + lowerWeight * (image[b] + 3 * image[b + 1]);
      const right =
        upperWeight * (3 * image[a + 3] + image[a + 4]) +
        lowerWeight * (3 * image[b + 3] + image[b + 4]);
      out[write] = (left + 8) >> 4;
      out[write + 1] = (right + 8) >> 4;
      write += 2;
    }
  }
}
