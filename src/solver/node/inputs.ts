/** Problems as people have them on disk: a RAVEN .npz, a picture of a matrix, a folder of images. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { ArgumentError, FormatError } from '../../base/index.js';
import { decodePng, decodeRavenNpz, IMAGE_PIXELS, type Configuration } from '../../matrix/index.js';
import { readSmallFile } from '../../base/node.js';
import { readMatrixPicture } from '../matrix-picture.js';
import { greyToPanel, imageToPanel, type Panel } from '../panels.js';

export interface ProblemInput {
  /** Nine, row by row; null where a panel is not known. */
  readonly panels: readonly (Panel | null)[];
  /** Positions 1..9 without a panel. */
  readonly missing: readonly number[];
  readonly candidates: readonly Panel[];
  /** The right candidate, counted from 0, where the file says it. */
  readonly answer: number | null;
  /** The configurations it can be of by its structure; null where pictures are all there is. */
  readonly configurations: readonly Configuration[] | null;
}

const LARGEST_FILE = 64 << 20;
const CONTEXT = 8;

async function readRaven(file: string): Promise<ProblemInput> {
  const bytes = await readSmallFile(file, LARGEST_FILE);
  const { images, target, layouts } = await decodeRavenNpz(bytes, file);
  const panel = (i: number): Panel =>
    imageToPanel(images.subarray(i * IMAGE_PIXELS, (i + 1) * IMAGE_PIXELS));
  return {
    panels: [...Array.from({ length: CONTEXT }, (_, i) => panel(i)), null],
    missing: [9],
    candidates: Array.from({ length: CONTEXT }, (_, i) => panel(CONTEXT + i)),
    answer: target,
    configurations: [...new Set(layouts.map(({ configuration }) => configuration))],
  };
}

/** Adds the name of a file to what is wrong with it. */
async function naming<T>(file: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new FormatError(`${file}: ${error.message}`, { cause: error });
  }
}

function readPicture(file: string): Promise<ProblemInput> {
  return naming(file, async () => {
    const picture = decodePng(await readSmallFile(file, LARGEST_FILE));
    return { ...readMatrixPicture(picture), answer: null, configurations: null };
  });
}

/** Images in the order of their names, numbers in them counted as numbers. */
async function readFolder(folder: string): Promise<ProblemInput> {
  const names = (await readdir(folder))
    .filter((name) => /\.png$/i.test(name))
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  if (names.length < 8 || names.length > 9) {
    throw new ArgumentError(
      `${folder} holds ${names.length} PNG images: expected nine, or eight without the last panel`,
    );
  }
  const panels: (Panel | null)[] = await Promise.all(
    names.map((name) => {
      const file = path.join(folder, name);
      return naming(file, async () =>
        greyToPanel(decodePng(await readSmallFile(file, LARGEST_FILE))),
      );
    }),
  );
  if (panels.length === 8) panels.push(null);
  return {
    panels,
    missing: names.length === 8 ? [9] : [],
    candidates: [],
    answer: null,
    configurations: null,
  };
}

/** Reads a problem by what it is. */
export async function readProblem(location: string): Promise<ProblemInput> {
  if ((await stat(location)).isDirectory()) return readFolder(location);
  if (/\.npz$/i.test(location)) return readRaven(location);
  if (/\.png$/i.test(location)) return readPicture(location);
  throw new ArgumentError(
    `${location}: expected a RAVEN problem (.npz), a picture of a matrix (.png) or a folder of images`,
  );
}
