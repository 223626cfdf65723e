/** Pictures in the formats people have: PNG or JPEG, told by their first bytes and not by a name. */
import { FormatError } from '../base/index.js';
import { decodeJpeg, isJpeg } from './jpeg.js';
import { decodePng, isPng, type GreyImage, type PictureLimits } from './png.js';

/** Names of picture files. */
export const PICTURE_FILE = /\.(?:png|jpe?g)$/i;

/** Whether bytes begin as a picture does that `decodePicture` reads. */
export const isPicture = (bytes: Uint8Array): boolean => isPng(bytes) || isJpeg(bytes);

/** How far into a file its first element is looked for, behind comments. */
const SEARCHED = 4096;

/** Whether a file is an SVG, by how it begins. */
export function isSvg(bytes: Uint8Array): boolean {
  const start = new TextDecoder().decode(bytes.subarray(0, SEARCHED)).trimStart();
  return start.startsWith('<') && /<svg[\s/>]/.test(start);
}

/** Reads a PNG or a JPEG; FormatError if it is neither, damaged or larger than allowed. */
export function decodePicture(bytes: Uint8Array, limits: PictureLimits = {}): GreyImage {
  if (isPng(bytes)) return decodePng(bytes, limits);
  if (isJpeg(bytes)) return decodeJpeg(bytes, limits);
  throw new FormatError('not a PNG or JPEG image');
}
