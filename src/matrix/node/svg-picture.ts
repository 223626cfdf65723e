/**
 * SVG as pixels, by resvg compiled to WebAssembly with fonts of its own package: the same picture on
 * every machine, whatever fonts it has.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Resvg } from '@resvg/resvg-wasm';
import { FormatError } from '../../base/index.js';
import { LimitedThreads, ThreadError } from '../../base/node.js';
import type { GreyImage } from '../png.js';
import type { SvgReply } from './svg-worker.js';

type RenderedImage = ReturnType<InstanceType<typeof Resvg>['render']>;

/** Most pixels of a drawing. */
const MOST_PIXELS = 24 << 20;

const FONTS = ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf'];

interface SvgDrawing {
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

const threads = new LimitedThreads(new URL('./svg-worker.js', import.meta.url));
/** Most milliseconds for a drawing: a small file may ask for endless work. */
const TIME_LIMIT = 20_000;
/** Drawings wait for each other, so that one thread serves all of them. */
let before: Promise<unknown> = Promise.resolve();

/** Draws an SVG in its own size on white paper; FormatError if it cannot be drawn. */
export function decodeSvg(bytes: Uint8Array, timeLimit = TIME_LIMIT): Promise<GreyImage> {
  const image = before.then(() => drawnByThread(new TextDecoder().decode(bytes), timeLimit));
  before = image.catch(() => undefined);
  return image;
}

async function drawnByThread(svg: string, timeLimit: number): Promise<GreyImage> {
  const thread = threads.take();
  try {
    const reply = await thread.ask<SvgReply>(svg, timeLimit);
    if ('image' in reply) return reply.image;
    throw new FormatError(reply.refusal);
  } catch (cause) {
    if (!(cause instanceof ThreadError)) throw cause;
    throw new FormatError(`the SVG cannot be drawn: ${cause.message}`, { cause });
  } finally {
    await thread.release();
  }
}
