/** Problems as people have them: a RAVEN .npz, or a picture of a whole matrix. */
import { ArgumentError, FormatError, naming } from '../base/index.js';
import {
  CANDIDATES,
  CONTEXT_PANELS,
  decodePng,
  decodeRavenNpz,
  IMAGE_PIXELS,
  isPng,
  MATRIX_PANELS,
  type Configuration,
  type GreyImage,
} from '../matrix/index.js';
import { readMatrixPicture } from './matrix-picture.js';
import { greyOf, imageToPanel, type Panel, type PixelImage } from './panels.js';

export interface ProblemInput {
  /** Nine, row by row; null if a panel is not known. */
  readonly panels: readonly (Panel | null)[];
  /** Positions 1..9 without a panel. */
  readonly missing: readonly number[];
  readonly candidates: readonly Panel[];
  /** The right candidate, counted from 0, if the file says it. */
  readonly answer: number | null;
  /** The configurations it can be of by its structure; null if pictures are all there is. */
  readonly configurations: readonly Configuration[] | null;
  /** Whether it has a mesh by its structure. */
  readonly mesh?: boolean;
}

/** The panels that a matrix asks for, and that its candidates are for: the blank ones, or else the last. */
export const askedPanels = (blank: readonly number[]): readonly number[] =>
  blank.length > 0 ? blank : [MATRIX_PANELS];

/** A `File`, or a `Blob` without a name. */
export interface FileLike {
  readonly name?: string;
  readonly size: number;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** What a problem is read from; a text is a path in Node and an address in a browser. */
export type ProblemOrigin = string | FileLike | PixelImage | GreyImage;

export const LARGEST_FILE = 64 << 20;
const ZIP_SIGNATURE = [0x50, 0x4b];

const isNpz = (bytes: Uint8Array): boolean => ZIP_SIGNATURE.every((byte, i) => bytes[i] === byte);

export async function ravenProblem(bytes: Uint8Array, file: string): Promise<ProblemInput> {
  const { images, target, layouts } = await decodeRavenNpz(bytes, file);
  const panel = (i: number): Panel =>
    imageToPanel(images.subarray(i * IMAGE_PIXELS, (i + 1) * IMAGE_PIXELS));
  return {
    panels: [...Array.from({ length: CONTEXT_PANELS }, (_, i) => panel(i)), null],
    missing: [MATRIX_PANELS],
    candidates: Array.from({ length: CANDIDATES }, (_, i) => panel(CONTEXT_PANELS + i)),
    answer: target,
    configurations: [...new Set(layouts.map(({ configuration }) => configuration))],
    mesh: layouts.some(({ mesh }) => mesh),
  };
}

/** A picture of a whole matrix, with a blank cell and perhaps candidates beside it. */
export const pictureProblem = (picture: PixelImage | GreyImage): ProblemInput => ({
  ...readMatrixPicture(greyOf(picture)),
  answer: null,
  configurations: null,
});

const isPicture = (source: object): source is PixelImage | GreyImage =>
  'width' in source && 'height' in source && 'data' in source;
const isFile = (source: object): source is FileLike => 'size' in source && 'arrayBuffer' in source;

/** Reads what is at hand in memory; `others` reads a file that is neither a RAVEN problem nor a PNG. */
export async function givenProblem(
  source: Exclude<ProblemOrigin, string>,
  others: (file: FileLike, name: string) => Promise<ProblemInput>,
): Promise<ProblemInput> {
  const given: unknown = source;
  if (typeof given === 'object' && given !== null) {
    if (isPicture(given)) return naming('the picture', () => pictureProblem(given));
    if (isFile(given)) {
      const name = given.name ?? 'the file';
      if (given.size > LARGEST_FILE) throw new FormatError(`${name} is larger than 64 MB`);
      const bytes = new Uint8Array(await given.arrayBuffer());
      if (isNpz(bytes)) return ravenProblem(bytes, name);
      return isPng(bytes)
        ? naming(name, () => pictureProblem(decodePng(bytes)))
        : others(given, name);
    }
  }
  throw new ArgumentError(
    'readProblem: expected a path or address, a File or Blob, or a picture such as an ImageData',
  );
}
