/**
 * JPEG images, as cameras and scanners make them. jpeg-js decodes; before it takes any memory, the parts
 * of the file are gone through here: its size, the number of its scans (each goes over the whole image,
 * so that many of them in a small file would take for ever) and how the camera was held.
 */
import { decode } from 'jpeg-js';
import { FormatError } from '../base/index.js';
import { DEFAULT_MAX_PIXELS, luma, MAX_SIDE, type GreyImage, type PictureLimits } from './png.js';

const START_OF_IMAGE = 0xd8;
const END_OF_IMAGE = 0xd9;
const START_OF_SCAN = 0xda;
const EXIF = 0xe1;
/** Frame headers of the kinds that jpeg-js reads: baseline, extended and progressive. */
const FRAMES: readonly number[] = [0xc0, 0xc1, 0xc2];
/** The others: lossless, hierarchical, arithmetic coding. */
const OTHER_FRAMES: readonly number[] = [
  0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf,
];
/** Progressive files have about ten. */
const MOST_SCANS = 64;
/** What jpeg-js may take for the largest picture, in MB. */
const MOST_MEMORY = 768;

interface JpegHeader {
  readonly width: number;
  readonly height: number;
  /** As EXIF counts it: 1 upright, up to 8 for quarter turns and mirror images. */
  readonly orientation: number;
}

/** Whether bytes begin as a JPEG does. */
export const isJpeg = (bytes: Uint8Array): boolean =>
  bytes[0] === 0xff && bytes[1] === START_OF_IMAGE && bytes[2] === 0xff;

const damaged = (): FormatError => new FormatError('the JPEG is truncated or damaged');

/** Where the next marker stands: after stuffed bytes and restart markers of a scan, too. */
function nextMarker(bytes: Uint8Array, from: number): number {
  for (let at = from; at + 1 < bytes.length; at++) {
    const code = bytes[at + 1];
    const inScan = code === 0 || code === 0xff || (code >= 0xd0 && code <= 0xd7);
    if (bytes[at] === 0xff && !inScan) return at;
  }
  throw damaged();
}

/** The Orientation that an EXIF part tells, 1 if it tells none. */
function orientationOf(part: Uint8Array): number {
  const text = String.fromCharCode(...part.subarray(0, 6));
  if (text !== 'Exif\0\0' || part.length < 14) return 1;
  const tiff = part.subarray(6);
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength);
  const little = view.getUint16(0) === 0x4949;
  const directory = view.getUint32(4, little);
  if (directory + 2 > tiff.length) return 1;
  const entries = view.getUint16(directory, little);
  for (let i = 0; i < entries; i++) {
    const at = directory + 2 + 12 * i;
    if (at + 12 > tiff.length) return 1;
    if (view.getUint16(at, little) !== 0x0112) continue;
    const value = view.getUint16(at + 8, little);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

function readHeader(bytes: Uint8Array, maxPixels: number): JpegHeader {
  if (!isJpeg(bytes)) throw new FormatError('not a JPEG image');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [width, height, orientation, scans] = [0, 0, 1, 0];
  for (let at = nextMarker(bytes, 2); bytes[at + 1] !== END_OF_IMAGE;) {
    const code = bytes[at + 1];
    if (at + 4 > bytes.length) throw damaged();
    const end = at + 2 + view.getUint16(at + 2);
    if (end > bytes.length || end < at + 4) throw damaged();
    if (OTHER_FRAMES.includes(code)) {
      throw new FormatError('a JPEG of a rare kind (lossless, hierarchical or arithmetic coding)');
    }
    if (FRAMES.includes(code)) {
      if (width > 0) throw new FormatError('the JPEG holds more than one image');
      if (end < at + 10) throw damaged();
      [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)];
      if (
        width < 1 ||
        height < 1 ||
        Math.max(width, height) > MAX_SIDE ||
        width * height > maxPixels
      ) {
        throw new FormatError(
          `a JPEG of ${width}x${height} is beyond the ${maxPixels} pixels allowed`,
        );
      }
    }
    if (code === EXIF && orientation === 1)
      orientation = orientationOf(bytes.subarray(at + 4, end));
    if (code === START_OF_SCAN && ++scans > MOST_SCANS) {
      throw new FormatError(`the JPEG has more than ${MOST_SCANS} scans`);
    }
    at = nextMarker(bytes, end);
  }
  if (width === 0 || scans === 0) throw damaged();
  return { width, height, orientation };
}

/** The picture as the camera was held. */
function upright(image: GreyImage, orientation: number): GreyImage {
  if (orientation === 1) return image;
  const { width, height, data } = image;
  const turned = orientation >= 5;
  const [w, h] = turned ? [height, width] : [width, height];
  const fromRight = [2, 3, 7, 8].includes(orientation);
  const fromBelow = [3, 4, 6, 7].includes(orientation);
  const out = new Float32Array(data.length);
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w; x++) {
      const [across, down] = turned ? [y, x] : [x, y];
      const column = fromRight ? width - 1 - across : across;
      const row = fromBelow ? height - 1 - down : down;
      out[y * w + x] = data[row * width + column];
    }
  }
  return { width: w, height: h, data: out };
}

/** Reads a JPEG, upright; FormatError if it is damaged or larger than allowed. */
export function decodeJpeg(bytes: Uint8Array, limits: PictureLimits = {}): GreyImage {
  const maxPixels = limits.maxPixels ?? DEFAULT_MAX_PIXELS;
  const { width, height, orientation } = readHeader(bytes, maxPixels);
  let rgb: Uint8Array;
  try {
    const decoded = decode(bytes, {
      useTArray: true,
      formatAsRGBA: false,
      maxResolutionInMP: maxPixels / 1e6,
      maxMemoryUsageInMB: MOST_MEMORY,
    });
    if (decoded.width !== width || decoded.height !== height) throw damaged();
    rgb = decoded.data;
  } catch (cause) {
    throw cause instanceof FormatError
      ? cause
      : new FormatError('the JPEG is truncated or damaged', { cause });
  }
  const data = new Float32Array(width * height);
  for (let i = 0; i < data.length; i++) {
    data[i] = luma(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]) / 255;
  }
  return upright({ width, height, data }, orientation);
}
