/** Files that a command writes again and again, and how it recognises its own: no other is replaced. */
import { stat } from 'node:fs/promises';
import { isStandardOutput, readSmallFile, type OutputPlace } from '../base/node.js';
import { UsageError } from './errors.js';
import { isAbsent, refused, requireOutputFile, type NamedPath } from './paths.js';

export interface OwnFile {
  readonly ending: 'html' | 'json' | 'png';
  /** What it is, in words. */
  readonly what: string;
  readonly isOwn: (text: string) => boolean;
}

/** A PNG that names the program it was made by. */
export const ownPicture = (software: string): OwnFile => ({
  ending: 'png',
  what: 'a picture',
  isOwn: (text) => text.includes(`Software\0${software}`),
});

/** Ours are smaller. */
const LARGEST = 64 << 20;

/** Refuses an output like `requireOutputFile`, and one that would replace a file of somebody else. */
export async function requireOwnFile(
  argument: string,
  location: string,
  inputs: readonly NamedPath[],
  { ending, what, isOwn }: OwnFile,
): Promise<OutputPlace> {
  if (isStandardOutput(location)) {
    throw new UsageError(
      `${argument} ${location}: the results go to standard output already; name a file`,
    );
  }
  const place = await requireOutputFile(argument, location, inputs, ending);
  try {
    const found = await stat(location);
    // Pipes and devices must not be read. An empty file says as little as any other that it is ours.
    if (!found.isFile()) return place;
    if (found.size <= LARGEST && isOwn(String(await readSmallFile(location, LARGEST))))
      return place;
  } catch (error) {
    if (isAbsent(error)) return place;
    throw refused({ argument, location }, error);
  }
  throw new UsageError(
    `${argument} ${location}: this file exists and is not ${what} that crab wrote here before; name another file, or move it`,
  );
}
