/** Problems in Node: a RAVEN .npz, a picture of a matrix or a folder of images on disk, or a file in memory. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { ArgumentError, decodePng, FormatError } from '../../matrix/index.js';
import { readSmallFile } from '../../matrix/node.js';
import { greyToPanel, type Panel } from '../panels.js';
import {
  givenProblem,
  LARGEST_FILE,
  naming,
  pngProblem,
  ravenProblem,
  type ProblemInput,
  type ProblemOrigin,
} from '../problem-input.js';

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

type Reader = (bytes: Uint8Array, file: string) => Promise<ProblemInput>;
const READERS: Readonly<Record<string, Reader | undefined>> = {
  '.npz': ravenProblem,
  '.png': pngProblem,
};

async function readFile(file: string): Promise<ProblemInput> {
  const read = READERS[path.extname(file).toLowerCase()];
  if (read === undefined) {
    throw new ArgumentError(
      `${file}: expected a RAVEN problem (.npz), a picture of a matrix (.png) or a folder of images`,
    );
  }
  return read(await readSmallFile(file, LARGEST_FILE), file);
}

/** Reads a problem by what it is. */
export async function readProblem(source: ProblemOrigin): Promise<ProblemInput> {
  if (typeof source === 'string') {
    return (await stat(source)).isDirectory() ? readFolder(source) : readFile(source);
  }
  return givenProblem(source, (_, name) => {
    throw new FormatError(`${name} is neither a RAVEN problem (.npz) nor a PNG picture`);
  });
}
