/**
 * Where a named output really goes. A finished file is renamed to its name, and a rename replaces
 * whatever stands there: a link would be lost and its target stay old, a device or a pipe would become
 * a plain file. So links are followed first, and what is no plain file is written to as it stands.
 *
 * A place remembers what stood there when it was looked at. Who takes it before a long work and gives it
 * to the writer afterwards overwrites nothing that another process wrote meanwhile.
 */
import { lstatSync, readlinkSync, realpathSync, statSync, type Stats } from 'node:fs';
import path from 'node:path';
import { ArgumentError } from '../errors.js';

export interface OutputPlace {
  /** The file itself, links followed. */
  readonly path: string;
  /** A device, a pipe or standard output: written to directly, never replaced. */
  readonly direct: boolean;
  /** What stood there at that time; null for nothing. */
  readonly before: string | null;
}

/** As many links in a row as Linux follows. */
const MOST_LINKS = 40;

/** What stands for standard output, be that a pipe, a terminal or a file that the shell opened. */
export const STANDARD_OUTPUT = '-';

export const isStandardOutput = (location: string): boolean =>
  location === STANDARD_OUTPUT || location === '/dev/stdout';

/** The place of an output file, which need not exist; ArgumentError if no file can be written. */
export function outputPlace(file: string): OutputPlace {
  if (isStandardOutput(file)) return { path: STANDARD_OUTPUT, direct: true, before: null };
  const there = found(statSync, file);
  if (there === undefined) return { path: danglingTarget(file), direct: false, before: null };
  if (there.isDirectory()) throw new ArgumentError(`${file} is a folder: name a file`);
  // The name as given: what stands behind /dev/fd/3 may have no other.
  if (there.isCharacterDevice() || there.isBlockDevice() || there.isFIFO()) {
    return { path: file, direct: true, before: identityOf(there) };
  }
  if (!there.isFile()) throw new ArgumentError(`${file} is no file that can be written`);
  const target = isLink(file) ? realpathSync(file) : file;
  return { path: target, direct: false, before: identityOf(there) };
}

/** The place of an output folder, which need not exist. */
export function folderPlace(folder: string): OutputPlace {
  const there = found(statSync, folder);
  if (there === undefined) return { path: path.resolve(folder), direct: false, before: null };
  return { path: realpathSync(folder), direct: false, before: identityOf(there) };
}

/** Tells a file from another of the same name, and from itself after a change. */
const identityOf = ({ dev, ino, size, mtimeMs }: Stats): string =>
  [dev, ino, size, mtimeMs].join(' ');

/** Whether a place is no longer as it was: something else stands there now. */
export function isTaken({ path: file, before }: OutputPlace): boolean {
  const there = found(statSync, file);
  return there !== undefined && identityOf(there) !== before;
}

/** Where the link at a path leads, if it leads nowhere; null for everything else. */
export function danglingLink(file: string): string | null {
  return isLink(file) && found(statSync, file) === undefined ? readlinkSync(file) : null;
}

/** What stands at a path; undefined for nothing, be it below a file: opening will say so better. */
function found(look: typeof statSync, file: string): Stats | undefined {
  try {
    return look(file, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}

const isLink = (file: string): boolean => found(lstatSync, file)?.isSymbolicLink() ?? false;

/** A path where no file is: itself, or what a link there points to. */
function danglingTarget(file: string): string {
  let target = file;
  for (let links = 0; isLink(target); links++) {
    if (links === MOST_LINKS) throw new ArgumentError(`${file} is a link to itself`);
    // A relative link counts from the folder it really is in.
    target = path.resolve(realpathSync(path.dirname(target)), readlinkSync(target));
  }
  return target;
}
