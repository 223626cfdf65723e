/** The thread in which drawings of others become pixels: see `decodeSvg`. */
import { parentPort } from 'node:worker_threads';
import { FormatError } from '../../base/index.js';
import { decodePng, type GreyImage } from '../png.js';
import { svgDrawer } from './svg-picture.js';

export type SvgReply = { readonly image: GreyImage } | { readonly refusal: string };

const draw = await svgDrawer();

function answerTo(svg: string): SvgReply {
  try {
    const drawing = { scale: 1, background: 'white' };
    return { image: decodePng(draw(svg, drawing, (image) => image.asPng())) };
  } catch (error) {
    // The library itself broke down, and cannot be used again: that ends this thread.
    if (error instanceof Error && error.name === 'RuntimeError') throw error;
    const isOurs = error instanceof FormatError;
    return { refusal: isOurs ? error.message : 'not an SVG that can be drawn' };
  }
}

parentPort?.on('message', (svg: string) => parentPort?.postMessage(answerTo(svg)));
