/**
 * Figures as PNG, by resvg compiled to WebAssembly with fonts of its own package: the same picture on
 * every machine, whatever fonts it has.
 */
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { withTheme, type Theme } from './theme.js';

const FONTS = ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf'];
const PAPER: Readonly<Record<Theme, string>> = { light: '#ffffff', dark: '#14181d' };

let started: Promise<readonly Uint8Array[]> | undefined;

async function start(): Promise<readonly Uint8Array[]> {
  const { resolve } = createRequire(import.meta.url);
  await initWasm(await readFile(resolve('@resvg/resvg-wasm/index_bg.wasm')));
  return Promise.all(FONTS.map((font) => readFile(resolve(`dejavu-fonts-ttf/ttf/${font}`))));
}

export interface RasterOptions {
  /** Pixels for each unit of the figure; 2 unless told. */
  readonly scale?: number;
  readonly theme?: Theme;
}

/** A figure's SVG as the bytes of a PNG. */
export async function rasterize(svg: string, options: RasterOptions = {}): Promise<Uint8Array> {
  const { scale = 2, theme = 'light' } = options;
  started ??= start();
  const fontBuffers = [...(await started)];
  const resvg = new Resvg(withTheme(svg, theme), {
    fitTo: { mode: 'zoom', value: scale },
    background: PAPER[theme],
    font: { fontBuffers, defaultFontFamily: 'DejaVu Sans', sansSerifFamily: 'DejaVu Sans' },
  });
  try {
    const image = resvg.render();
    try {
      return image.asPng();
    } finally {
      image.free();
    }
  } finally {
    resvg.free();
  }
}
