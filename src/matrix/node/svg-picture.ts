/**
 * SVG as pixels, by resvg compiled to WebAssembly with fonts of its own package: the same picture on
 * every machine, whatever fonts it has.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Resvg } from '@resvg/resvg-wasm';
import { FormatError } from '../../base/index.js';
import { decodePng, type GreyImage } from '../png.js';

type RenderedImage = ReturnType<InstanceType<typeof Resvg>['render']>;

/** Most pixels of a drawing. */
const MOST_PIXELS = 24 << 20;

const FONTS = ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf'];

export interface SvgDrawing {
  /** Pixels for each unit of the drawing. */
  readonly scale: number;
  readonly background: string;
}

/** Draws an SVG and hands the image on; what `take` returns must not refer to it. */
export type DrawSvg = <T>(svg: string, drawing: SvgDrawing, take: (image: RenderedImage) => T) => T;

let started: Promise<DrawSvg> | undefined;

/** The library is loaded with the first use. */
export const svgDrawer = (): Promise<DrawSvg> => (started ??= start());

async function start(): Promise<DrawSvg> {
  const { initWasm, Resvg } = await import('@resvg/resvg-wasm');
  const { resolve } = createRequire(import.meta.url);
  await initWasm(await readFile(resolve('@resvg/resvg-wasm/index_bg.wasm')));
  const fontBuffers = await Promise.all(
    FONTS.map((font) => readFile(resolve(`dejavu-fonts-ttf/ttf/${font}`))),
  );
  return (svg, { scale, background }, take) => {
    const resvg = new Resvg(svg, {
      fitTo: { mode: 'zoom', value: scale },
      background,
      font: { fontBuffers, defaultFontFamily: 'DejaVu Sans', sansSerifFamily: 'DejaVu Sans' },
    });
    try {
      if (resvg.width * resvg.height * scale * scale > MOST_PIXELS) {
        throw new FormatError('a drawing of more than 24 million pixels');
      }
      const image = resvg.render();
      try {
        return take(image);
      } finally {
        image.free();
      }
    } finally {
      resvg.free();
    }
  };
}

/** How far into a file its first element is looked for, behind comments. */
const SEARCHED = 4096;

/** Whether a file is an SVG, by how it begins. */
export const isSvg = (bytes: Uint8Array): boolean => {
  const start = new TextDecoder().decode(bytes.subarray(0, SEARCHED)).trimStart();
  return start.startsWith('<') && /<svg[\s/>]/.test(start);
};

/** Draws an SVG in its own size on white paper; FormatError if it cannot be drawn. */
export async function decodeSvg(bytes: Uint8Array): Promise<GreyImage> {
  const draw = await svgDrawer();
  const drawing = { scale: 1, background: 'white' };
  try {
    const png = draw(new TextDecoder().decode(bytes), drawing, (image) => image.asPng());
    return decodePng(png);
  } catch (cause) {
    if (cause instanceof FormatError) throw cause;
    throw new FormatError('not an SVG that can be drawn', { cause });
  }
}
