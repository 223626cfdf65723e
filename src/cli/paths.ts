/**
 * Checks the paths that people name before any work begins: inputs must exist, outputs must be writable.
 * Nothing is left behind. Errors name the argument. If the system refuses a path, the command failed
 * (exit 1); if it is a folder in place of a file or the like, it was used wrongly (exit 2).
 */
import { constants } from 'node:fs';
import { access, open, realpath, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { FormatError } from '../base/index.js';
import {
  isStandardOutput,
  outputPlace,
  readSmallFile,
  requireEnding,
  temporaryName,
  type OutputPlace,
} from '../base/node.js';
import { UsageError } from './errors.js';
import { sentenceOf } from './sentences.js';

/** An argument as messages call it, `--data` or `RESPONSES`, and what was given for it. */
export interface NamedPath {
  readonly argument: string;
  readonly location: string;
  /** Of a folder of which every file is read: none may be written there. */
  readonly whole?: boolean;
}

export const isAbsent = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** The system's refusal of a path, with the argument it was given for. */
export const refused = ({ argument }: NamedPath, cause: unknown): Error =>
  new Error(`${argument} ${sentenceOf(cause)}`, { cause });

/** Refuses an input that is not there or cannot be read. */
export async function requireInput(argument: string, location: string): Promise<void> {
  try {
    await access(location, constants.R_OK);
  } catch (error) {
    throw refused({ argument, location }, error);
  }
}

/** Refuses `--part` for a file: only folders of RAVEN are parted. */
export const notParted = (location: string): UsageError =>
  new UsageError(`--part is of a RAVEN folder: ${location} is not parted`);

/** People write no larger JSON. */
const LARGEST_TEXT = 64 << 20;

/** The text of a file that was named; a folder, a pipe or a device is wrong use. */
export async function readTextInput(argument: string, location: string): Promise<string> {
  try {
    return String(await readSmallFile(location, LARGEST_TEXT));
  } catch (error) {
    if (error instanceof FormatError) throw new UsageError(`${argument} ${error.message}`);
    throw refused({ argument, location }, error);
  }
}

/** The nearest existing folder above a path: missing folders can be made in it. */
async function nearestFolder(named: NamedPath): Promise<string> {
  let folder = path.dirname(path.resolve(named.location));
  for (;;) {
    try {
      if ((await stat(folder)).isDirectory()) return folder;
      throw new UsageError(
        `${named.argument} ${named.location}: ${folder} is a file, a folder was expected`,
      );
    } catch (error) {
      if (error instanceof UsageError) throw error;
      if (!isAbsent(error)) throw refused(named, error);
      folder = path.dirname(folder);
    }
  }
}

const kindOf = async (named: NamedPath): Promise<'file' | 'folder' | null> => {
  try {
    return (await stat(named.location)).isDirectory() ? 'folder' : 'file';
  } catch (error) {
    if (isAbsent(error)) return null;
    throw refused(named, error);
  }
};

/** Tries to write: permissions alone say nothing about /proc, quotas or root. */
async function requireWritable(folder: string, { argument, location }: NamedPath): Promise<void> {
  const probe = temporaryName(path.join(folder, 'probe'));
  try {
    await (await open(probe, 'wx')).close();
    await rm(probe);
  } catch (cause) {
    throw new Error(`${argument} ${location}: nothing can be written to ${folder}`, { cause });
  }
}

/**
 * Refuses a file that cannot be written, that is one of the inputs, or whose name promises another format.
 * Returns its place as it is now, so that the writer notices if somebody else uses it meanwhile.
 */
export async function requireOutputFile(
  argument: string,
  location: string,
  inputs: readonly NamedPath[] = [],
  format?: string,
): Promise<OutputPlace> {
  const named = { argument, location };
  if (location === '') throw new UsageError(`${argument} is empty: name a file`);
  if (/[\\/]$/.test(location) || (await kindOf(named)) === 'folder') {
    throw new UsageError(`${argument} ${location}: this is a folder, a file was expected`);
  }
  const place = outputPlace(location);
  // The output may be a link to an input, or an input a link to the output.
  const real = await realPath(place.path);
  const inputPaths = await Promise.all(inputs.map((input) => realPath(input.location)));
  const same = inputs.find((_, i) => inputPaths[i] === real);
  if (same !== undefined) {
    throw new UsageError(
      `${argument} ${location}: this is also ${same.argument}; name another file`,
    );
  }
  const around = inputs.find(({ whole }, i) => whole && inputPaths[i] === path.dirname(real));
  if (around !== undefined) {
    throw new UsageError(
      `${argument} ${location}: this lies in ${around.argument}, of which every file is read; name another place`,
    );
  }
  if (isStandardOutput(location)) return place;
  if (place.direct) {
    await access(location, constants.W_OK).catch((cause: unknown) => {
      throw refused(named, cause);
    });
    return place;
  }
  if (format !== undefined) requireEnding(argument, location, format);
  await requireWritable(await nearestFolder({ argument, location: place.path }), named);
  return place;
}

/** The same for data, which take a while to make: an existing file is never replaced. */
export async function requireNewFile(
  argument: string,
  location: string,
  inputs: readonly NamedPath[] = [],
  format?: string,
): Promise<OutputPlace> {
  const place = await requireOutputFile(argument, location, inputs, format);
  if (!place.direct && (await kindOf({ argument, location })) !== null) {
    throw new UsageError(`${argument} ${location} exists already: choose another name`);
  }
  return place;
}

/** A path with its links followed, also those to what is not there yet. */
const realPath = (location: string): Promise<string> =>
  realpath(location).catch(async () => {
    const target = path.resolve(outputPlace(location).path);
    return path.join(await realPath(path.dirname(target)), path.basename(target));
  });

/** Refuses what is not there and what is not a folder. */
export async function requireInputFolder(argument: string, location: string): Promise<void> {
  const kind = await kindOf({ argument, location });
  if (kind === null) throw new UsageError(`${argument} ${location}: no such folder`);
  await requireFolder(argument, location);
}

/** Refuses what is not a folder and cannot become one. Returns the folder, or the nearest one above it. */
export async function requireFolder(argument: string, location: string): Promise<string> {
  const named = { argument, location };
  if (location === '') throw new UsageError(`${argument} is empty: name a folder`);
  const kind = await kindOf(named);
  if (kind === 'file') {
    throw new UsageError(`${argument} ${location}: this is a file, a folder was expected`);
  }
  return kind === 'folder' ? location : nearestFolder(named);
}

/** Refuses a folder that cannot be made or written to. */
export async function requireOutputFolder(argument: string, location: string): Promise<void> {
  if (isStandardOutput(location)) {
    throw new UsageError(
      `${argument} ${location}: this command makes a folder, and standard output takes one file alone: name a folder`,
    );
  }
  await requireWritable(await requireFolder(argument, location), { argument, location });
}
