/** A white board that pictures are put together on: rectangles, smaller pictures and words, in grey or RGB. */
import type { Picture } from './png.js';
import { drawText, textWidth } from './raster-font.js';

/** One value for each channel of the board. */
type Colour = readonly number[];

export class Board implements Picture {
  readonly data: Uint8Array;

  constructor(
    readonly width: number,
    readonly height: number,
    readonly channels: 1 | 3,
  ) {
    this.data = new Uint8Array(width * height * channels).fill(255);
  }

  fill(left: number, top: number, width: number, height: number, colour: Colour): void {
    for (let row = top; row < top + height; row++) {
      let at = (row * this.width + left) * this.channels;
      for (let column = 0; column < width; column++) {
        for (let channel = 0; channel < this.channels; channel++) this.data[at++] = colour[channel];
      }
    }
  }

  /** A frame just outside a square. */
  frame(left: number, top: number, side: number, thickness: number, colour: Colour): void {
    const outer = side + 2 * thickness;
    const [x, y] = [left - thickness, top - thickness];
    this.fill(x, y, outer, thickness, colour);
    this.fill(x, top + side, outer, thickness, colour);
    this.fill(x, y, thickness, outer, colour);
    this.fill(left + side, y, thickness, outer, colour);
  }

  /** A picture, each of its pixels `scale` wide and high; a grey one goes on an RGB board too. */
  paste(picture: Picture, left: number, top: number, scale = 1): void {
    const { data: target, channels: inks } = this;
    const { width, height, data: source, channels: step } = picture;
    for (let row = 0; row < height; row++) {
      const pixels = source.subarray(row * width * step, (row + 1) * width * step);
      const start = ((top + row * scale) * this.width + left) * inks;
      if (scale === 1 && step === inks) {
        target.set(pixels, start);
        continue;
      }
      let to = start;
      for (let from = 0; from < pixels.length; from += step) {
        for (let again = 0; again < scale; again++) {
          for (let ink = 0; ink < inks; ink++)
            target[to++] = pixels[step === 1 ? from : from + ink];
        }
      }
      for (let again = 1; again < scale; again++) {
        target.copyWithin(start + again * this.width * inks, start, to);
      }
    }
  }

  text(text: string, left: number, top: number, scale: number, colour: Colour): void {
    drawText(text, left, top, scale, (x, y, side) => this.fill(x, y, side, side, colour));
  }

  centredText(text: string, middle: number, top: number, scale: number, colour: Colour): void {
    this.text(text, Math.round(middle - textWidth(text, scale) / 2), top, scale, colour);
  }
}

/** A square grey picture. */
export function greySquare(data: Uint8Array): Picture {
  const side = Math.sqrt(data.length);
  return { width: side, height: side, channels: 1, data };
}
