/**
 * SVG as pixels, by resvg compiled to WebAssembly with fonts of its own package: the same picture on
 * every machine, whatever fonts it has.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Resvg } from '@resvg/resvg-wasm';

type RenderedImage = ReturnType<InstanceType<typeof Resvg>['render']>;

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
