/** Files of measurements: which there are in a folder, and how many digits they keep. */
import path from 'node:path';
import { namesIn } from '../../base/node.js';

/** For `JSON.stringify`: six digits, which is finer than any interval. */
export const sixDigits = (_: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;

/** Paths of a folder's JSON files, by name; none if there is no such folder. */
export async function jsonFilesIn(folder: string): Promise<string[]> {
  return (await namesIn(folder))
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => path.join(folder, name));
}
