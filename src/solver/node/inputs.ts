/** Problems in Node: a RAVEN .npz, a picture of a matrix or a folder of images on disk, or a file in memory. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { ArgumentError, FormatError, naming } from '../../base/index.js';
import { readSmallFile } from '../../base/node.js';
import { decodePicture, isPicture, isSvg, PICTURE_FILE } from '../../matrix/index.js';
import { decodeSvg } from '../../matrix/node.js';
import { drawnPanel } from '../familiarity.js';
import { greyToPanel, type Panel } from '../panels.js';
import {
  givenProblem,
  LARGEST_FILE,
  pictureProblem,
  ravenProblem,
  type ProblemInput,
  type ProblemOrigin,
} from '../problem-input.js';

/** Images in the order of their names, numbers in them counted as numbers. */
async function readFolder(folder: string): Promise<ProblemInput> {
  const all = await readdir(folder);
  const names = all
    .filter((name) => PICTURE_FILE.test(name))
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  if (names.length < 8 || names.length > 9) {
    const raven = all.find((name) => /^RAVEN_\d+_\w+\.npz$/.test(name));
    if (raven !== undefined) {
      throw new ArgumentError(
        `${folder} holds many problems: name one of its files, such as ${path.join(folder, raven)}`,
      );
    }
    throw new ArgumentError(
      `${folder} holds ${names.length} PNG or JPEG images: expected nine, or eight without the last panel`,
    );
  }
  const panels: (Panel | null)[] = await Promise.all(
    names.map((name) => {
      const file = path.join(folder, name);
      return naming(file, async () =>
        drawnPanel(greyToPanel(decodePicture(await readSmallFile(file, LARGEST_FILE)))),
      );
    }),
  );
  if (panels.every((panel) => panel === null)) {
    throw new FormatError(`${folder}: nothing is drawn on any of its images`);
  }
  if (panels.length === 8) panels.push(null);
  return {
    panels,
    missing: panels.flatMap((panel, i) => (panel === null ? [i + 1] : [])),
    candidates: [],
    answer: null,
    configurations: null,
  };
}

const SVG_FILE = /\.svg$/i;

const fromPicture = (bytes: Uint8Array, file: string): Promise<ProblemInput> =>
  naming(file, async () => {
    if (isSvg(bytes)) return pictureProblem(await decodeSvg(bytes));
    if (SVG_FILE.test(file) && !isPicture(bytes)) throw new FormatError('not an SVG drawing');
    return pictureProblem(decodePicture(bytes));
  });

async function readFile(file: string): Promise<ProblemInput> {
  const isProblem = /\.npz$/i.test(file);
  if (!isProblem && !PICTURE_FILE.test(file) && !SVG_FILE.test(file)) {
    throw new ArgumentError(
      `${file}: expected a RAVEN problem (.npz), a picture of a matrix (.png, .jpg, .svg) or a folder of images`,
    );
  }
  const bytes = await readSmallFile(file, LARGEST_FILE);
  if (bytes.length === 0) throw new FormatError(`${file} is empty`);
  return isProblem ? ravenProblem(bytes, file) : fromPicture(bytes, file);
}

/** Reads a problem by what it is. */
export async function readProblem(source: ProblemOrigin): Promise<ProblemInput> {
  if (typeof source === 'string') {
    return (await stat(source)).isDirectory() ? readFolder(source) : readFile(source);
  }
  return givenProblem(source, async (file, name) =>
    fromPicture(new Uint8Array(await file.arrayBuffer()), name),
  );
}
