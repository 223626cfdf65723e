/** The ending of a file's name and what is written to it must not contradict each other. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { ArgumentError } from '../errors.js';
import { isStandardOutput } from './output-place.js';

/** Endings that promise a format. Others, and none, are the user's own affair. */
const PROMISING = new Set(
  'npz npy hdf5 h5 xml png jpg jpeg gif webp svg pdf csv json jsonl parquet html htm zip safetensors onnx'.split(
    ' ',
  ),
);

/** Other endings of the same format. */
const SAME: Readonly<Record<string, string>> = { htm: 'html' };

const endingOf = (location: string): string => path.extname(location).slice(1).toLowerCase();

/** Refuses a name that promises another format than the one that will be written. */
export function requireEnding(argument: string, location: string, format: string): void {
  const ending = endingOf(location);
  if (!PROMISING.has(ending) || (SAME[ending] ?? ending) === format) return;
  throw new ArgumentError(
    `${argument} ${location}: a .${format} file is written, so the name must not end in .${ending}`,
  );
}

/** Refuses a name that promises a file if `what` makes a folder; one that is a folder already is fine. */
export function requireFolderName(argument: string, location: string, what: string): void {
  if (isStandardOutput(location)) {
    throw new ArgumentError(
      `${argument} ${location}: ${what} makes a folder of files, and standard output takes one file alone: name a folder`,
    );
  }
  const ending = endingOf(location);
  if (!PROMISING.has(ending) || existsSync(location)) return;
  throw new ArgumentError(
    `${argument} ${location}: ${what} makes a folder of files, so the name must not end in .${ending}`,
  );
}
