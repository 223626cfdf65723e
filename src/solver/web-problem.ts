/** Problems in a browser: from an address, a dropped file of any kind a browser can show, or a canvas. */
import { FormatError, naming } from '../base/index.js';
import { isSvg } from '../matrix/index.js';
import type { PixelImage } from './panels.js';
import {
  givenProblem,
  LARGEST_FILE,
  pictureProblem,
  type FileLike,
  type ProblemInput,
  type ProblemOrigin,
} from './problem-input.js';

const MOST_PIXELS = 24 << 20;

/** The browser's own things, which the types of Node do not know. */
interface Bitmap {
  readonly width: number;
  readonly height: number;
  close(): void;
}
interface Drawing {
  drawImage(bitmap: Bitmap, x: number, y: number): void;
  getImageData(x: number, y: number, width: number, height: number): PixelImage;
}
interface PageImage {
  src: string;
  decode(): Promise<void>;
}
interface Page {
  createImageBitmap(source: FileLike | PageImage): Promise<Bitmap>;
  /** Absent in workers. */
  readonly Image?: new () => PageImage;
  readonly OffscreenCanvas: new (
    width: number,
    height: number,
  ) => { getContext(kind: '2d'): Drawing | null };
}
const page = globalThis as unknown as Page;

/** An SVG as a browser's own image draws it: bitmaps are not made from the file itself. */
async function svgImage(file: FileLike): Promise<PageImage | null> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (page.Image === undefined || !isSvg(bytes)) return null;
  const image = new page.Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(new TextDecoder().decode(bytes))}`;
  await image.decode();
  return image;
}

/** Pixels of a picture in any format the browser knows, SVG outside of workers only; `name` is for errors. */
export async function browserPicture(file: FileLike, name: string): Promise<PixelImage> {
  let bitmap: Bitmap;
  try {
    if (file.size > LARGEST_FILE) throw new FormatError('too large');
    bitmap = await page.createImageBitmap((await svgImage(file)) ?? file);
  } catch {
    throw new FormatError(`${name} is not a picture this browser can read`);
  }
  const { width, height } = bitmap;
  if (width * height > MOST_PIXELS) {
    throw new FormatError(`${name} has ${width}x${height} pixels: at most 24 million are read`);
  }
  const context = new page.OffscreenCanvas(width, height).getContext('2d');
  if (context === null) throw new FormatError(`${name}: this browser cannot draw pictures`);
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  return context.getImageData(0, 0, width, height);
}

/** The file at an address, called by it. */
async function download(address: string): Promise<FileLike> {
  let response: Response;
  try {
    response = await fetch(address);
  } catch (cause) {
    throw new FormatError(`${address} cannot be loaded`, { cause });
  }
  if (!response.ok) throw new FormatError(`${address}: the server answers ${response.status}`);
  return Object.assign(await response.blob(), { name: address });
}

/** Reads a problem: a RAVEN .npz, or a picture of a whole matrix. */
export async function readProblem(source: ProblemOrigin): Promise<ProblemInput> {
  const given = typeof source === 'string' ? await download(source) : source;
  return givenProblem(given, async (file, name) => {
    const picture = await browserPicture(file, name);
    return naming(name, () => pictureProblem(picture));
  });
}
