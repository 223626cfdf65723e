/**
 * Where a named output really goes. A finished file is renamed to its name, and a rename replaces
 * whatever stands there: a link would be lost and its target stay old, a device or a pipe would become
 * a plain file. So links are followed first, and what is no plain file is written to as it stands.
 */
import { lstatSync, readlinkSync, realpathSync, statSync, type Stats } from 'node:fs';
import path from 'node:path';
import { ArgumentError } from '../errors.js';

export interface OutputPlace {
  /** The file itself, links followed. */
  readonly path: string;
  /** A device or a pipe: written to directly, never replaced. */
  readonly direct: boolean;
}

/** As many links in a row as Linux follows. */
const MOST_LINKS = 40;

/** The place of an output file, which need not exist; ArgumentError where no file can be written. */
export function outputPlace(file: string): OutputPlace {
  const there = found(statSync, file);
  if (there === undefined) return { path: danglingTarget(file), direct: false };
  if (there.isDirectory()) throw new ArgumentError(`${file} is a folder: name a file`);
  // The name as given: what stands behind /dev/stdout may have no other.
  if (there.isCharacterDevice() || there.isBlockDevice() || there.isFIFO()) {
    return { path: file, direct: true };
  }
  if (!there.isFile()) throw new ArgumentError(`${file} is no file that can be written`);
  return { path: isLink(file) ? realpathSync(file) : file, direct: false };
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
