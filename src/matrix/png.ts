/**
 * PNG images, of eight bits to write and of any kind to read. Reading bounds memory before inflating.
 * Any PNG becomes grey: colours by their luma, transparency over white paper.
 */
import { strToU8, Unzlib } from 'fflate';
import { concatenate, FormatError } from '../base/index.js';
import { deflateZlib } from './deflate.js';
import { unfilterPasses, type PngHeader } from './png-filter.js';
import { crc32 } from './zip-checksum.js';

/** A picture to write: u8, row by row, one channel (grey) or three (RGB). */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 3;
  readonly data: Uint8Array;
}

/** A picture read: grey in [0, 1], 1 = white paper, row by row. */
export interface GreyImage {
  readonly width: number;
  readonly height: number;
  readonly data: Float32Array;
}

/** The byte of a grey value; values beyond [0, 1] become black or white. */
export const greyByte = (value: number): number =>
  Math.round(255 * Math.min(1, Math.max(0, value)));

/** What reading a picture may take. */
export interface PictureLimits {
  /** Most pixels accepted. */
  readonly maxPixels?: number;
}

export const DEFAULT_MAX_PIXELS = 16 << 20;
export const MAX_SIDE = 1 << 15;
/** Colour types and the filter that writing uses. */
const GREY = 0;
const RGB = 2;
const FILTER_UP = 2;
const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** `software`: the program that made it, written into the file in plain letters. */
export function encodePng(picture: Picture, software?: string): Uint8Array {
  const { width, height, channels, data } = picture;
  if (data.length !== width * height * channels) {
    throw new FormatError(
      `a picture of ${width}x${height} with ${channels} channels has ${width * height * channels} values, not ${data.length}`,
    );
  }
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([8, channels === 1 ? GREY : RGB], 8);
  return concatenate([
    Uint8Array.from(SIGNATURE),
    chunk('IHDR', header),
    ...(software === undefined ? [] : [chunk('tEXt', strToU8(`Software\0${software}`, true))]),
    chunk('IDAT', deflateZlib(filterUp(data, width * channels))),
    chunk('IEND', new Uint8Array(0)),
  ]);
}

/** Lines as differences to the line above: drawings repeat it mostly, so zeros are what deflate sees. */
function filterUp(data: Uint8Array, lineBytes: number): Uint8Array {
  const lines = data.length / lineBytes;
  const filtered = new Uint8Array(data.length + lines);
  for (let line = 0, from = 0, to = 0; line < lines; line++) {
    filtered[to++] = FILTER_UP;
    for (const end = from + lineBytes; from < end; from++, to++) {
      filtered[to] = line === 0 ? data[from] : data[from] - data[from - lineBytes];
    }
  }
  return filtered;
}

function chunk(type: string, body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, body.length);
  for (let i = 0; i < 4; i++) bytes[4 + i] = type.charCodeAt(i);
  bytes.set(body, 8);
  view.setUint32(8 + body.length, crc32(bytes.subarray(4, 8 + body.length)));
  return bytes;
}

/** Reads any PNG; FormatError if it is damaged or larger than allowed. */
export function decodePng(bytes: Uint8Array, limits: PictureLimits = {}): GreyImage {
  const chunks = readChunks(bytes);
  const header = parseHeader(chunks.header, limits.maxPixels ?? DEFAULT_MAX_PIXELS);
  const lines = unfilterPasses(header, (expected) => inflate(chunks.data, expected));
  return {
    width: header.width,
    height: header.height,
    data: toGrey(header, lines, parsePalette(header, chunks), chunks.transparency),
  };
}

/** Whether bytes begin as a PNG does. */
export const isPng = (bytes: Uint8Array): boolean =>
  SIGNATURE.every((byte, i) => bytes[i] === byte);

/** Whether a PNG is there from its beginning to its end and the checksums of its parts hold. */
export function isWholePng(bytes: Uint8Array): boolean {
  try {
    readChunks(bytes);
    return true;
  } catch (error) {
    if (error instanceof FormatError) return false;
    throw error;
  }
}

interface Chunks {
  header: Uint8Array;
  palette: Uint8Array | undefined;
  transparency: Uint8Array | undefined;
  data: Uint8Array[];
}

function readChunks(bytes: Uint8Array): Chunks {
  if (!isPng(bytes)) throw new FormatError('not a PNG image');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const chunks: Partial<Chunks> & { data: Uint8Array[] } = { data: [] };
  for (let at = SIGNATURE.length; at + 12 <= bytes.length;) {
    const length = view.getUint32(at);
    const end = at + 12 + length;
    if (end > bytes.length) break;
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    if (crc32(bytes.subarray(at + 4, end - 4)) !== view.getUint32(end - 4)) {
      throw new FormatError(`the ${JSON.stringify(type)} part of the PNG is damaged`);
    }
    const body = bytes.subarray(at + 8, end - 4);
    if ((chunks.header === undefined) !== (type === 'IHDR')) {
      throw new FormatError('a PNG begins with one header');
    }
    if (type === 'IEND' && chunks.header) {
      const { header, palette, transparency, data } = chunks;
      return { header, palette, transparency, data };
    }
    keepChunk(chunks, type, body);
    at = end;
  }
  throw new FormatError('the PNG is truncated');
}

function keepChunk(
  chunks: Partial<Chunks> & { data: Uint8Array[] },
  type: string,
  body: Uint8Array,
) {
  if (type === 'IHDR') chunks.header = body;
  else if (type === 'PLTE') chunks.palette = body;
  else if (type === 'tRNS') chunks.transparency = body;
  else if (type === 'IDAT') chunks.data.push(body);
  // A capital first letter marks a part without which the image cannot be read.
  else if (/^[^a-z]/.test(type)) throw new FormatError(`unknown PNG part ${JSON.stringify(type)}`);
}

/** Channels and allowed bits by PNG colour type. */
const COLOUR_TYPES = new Map<number, { channels: number; depths: readonly number[] }>([
  [0, { channels: 1, depths: [1, 2, 4, 8, 16] }],
  [2, { channels: 3, depths: [8, 16] }],
  [3, { channels: 1, depths: [1, 2, 4, 8] }],
  [4, { channels: 2, depths: [8, 16] }],
  [6, { channels: 4, depths: [8, 16] }],
]);
const INDEXED = 3;

function parseHeader(bytes: Uint8Array, maxPixels: number): PngHeader {
  if (bytes.length !== 13) throw new FormatError('the PNG header is damaged');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const width = view.getUint32(0);
  const height = view.getUint32(4);
  const [depth, colourType, compression, filter, interlace] = bytes.subarray(8);
  const colour = COLOUR_TYPES.get(colourType);
  if (!colour?.depths.includes(depth)) {
    throw new FormatError(`PNG colour type ${colourType} of ${depth} bits does not exist`);
  }
  if (compression !== 0 || filter !== 0 || interlace > 1) {
    throw new FormatError('the PNG uses an unknown compression, filter or interlacing');
  }
  if (width < 1 || height < 1 || Math.max(width, height) > MAX_SIDE || width * height > maxPixels) {
    throw new FormatError(`a PNG of ${width}x${height} is beyond the ${maxPixels} pixels allowed`);
  }
  return {
    width,
    height,
    depth,
    colourType,
    channels: colour.channels,
    interlaced: interlace === 1,
  };
}

/** Small, because each piece may inflate a thousandfold. */
const INFLATE_PIECE = 8 << 10;

function inflate(parts: readonly Uint8Array[], expected: number): Uint8Array {
  const out = new Uint8Array(expected);
  let at = 0;
  const unzlib = new Unzlib((piece) => {
    if (at + piece.length > expected) throw new FormatError('the PNG holds more than its size');
    out.set(piece, at);
    at += piece.length;
  });
  try {
    for (const part of parts) {
      for (let i = 0; i < part.length; i += INFLATE_PIECE) {
        unzlib.push(part.subarray(i, i + INFLATE_PIECE));
      }
    }
    unzlib.push(new Uint8Array(0), true);
  } catch (error) {
    if (error instanceof FormatError) throw error;
    throw new FormatError('the compressed data of the PNG are damaged', { cause: error });
  }
  if (at !== expected) throw new FormatError('the PNG holds less than its size');
  return out;
}

/** Grey of each palette entry, its transparency applied; undefined for other colour types. */
function parsePalette(header: PngHeader, chunks: Chunks): Float32Array | undefined {
  if (header.colourType !== INDEXED) return undefined;
  const { palette, transparency } = chunks;
  if (!palette || palette.length % 3 !== 0 || palette.length === 0 || palette.length > 768) {
    throw new FormatError('the palette of the PNG is missing or damaged');
  }
  return Float32Array.from({ length: palette.length / 3 }, (_, i) => {
    const [red, green, blue] = palette.subarray(3 * i);
    return overPaper(luma(red, green, blue) / 255, (transparency?.[i] ?? 255) / 255);
  });
}

/** Rec. 601, as image libraries turn colours to grey. */
export const luma = (red: number, green: number, blue: number): number =>
  0.299 * red + 0.587 * green + 0.114 * blue;

/** A grey value, partly transparent, over white paper. */
export const overPaper = (grey: number, alpha: number): number => 1 - alpha * (1 - grey);

/** `samples`: [height, width, channels], as stored. */
function toGrey(
  header: PngHeader,
  samples: Uint8Array | Uint16Array,
  palette: Float32Array | undefined,
  transparency: Uint8Array | undefined,
): Float32Array {
  const { channels, depth, width, height } = header;
  const largest = 2 ** depth - 1;
  const clear = palette ? undefined : clearColour(transparency, channels);
  const grey = new Float32Array(width * height);
  for (let i = 0; i < grey.length; i++) {
    const at = i * channels;
    if (palette) {
      if (samples[at] >= palette.length) throw new FormatError('a colour outside the palette');
      grey[i] = palette[samples[at]];
      continue;
    }
    const value = channels < 3 ? samples[at] : luma(samples[at], samples[at + 1], samples[at + 2]);
    const alpha = channels % 2 === 0 ? samples[at + channels - 1] / largest : 1;
    const isClear = clear?.every((part, k) => samples[at + k] === part) ?? false;
    grey[i] = isClear ? 1 : overPaper(value / largest, alpha);
  }
  return grey;
}

/** The one colour that counts as transparent in images without an alpha channel. */
function clearColour(transparency: Uint8Array | undefined, channels: number): number[] | undefined {
  if (!transparency || channels % 2 === 0) return undefined;
  if (transparency.length !== 2 * channels) {
    throw new FormatError('the transparency of the PNG is damaged');
  }
  return Array.from(
    { length: channels },
    (_, i) => (transparency[2 * i] << 8) | transparency[2 * i + 1],
  );
}
