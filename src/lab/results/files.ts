/** Files of measurements: which there are in a folder, and how many digits they keep. */
import path from 'node:path';
import { namesIn, readSmallFile } from '../../base/node.js';

const LARGEST_FILE = 4 << 20;

/** For `JSON.stringify`: six digits, which is finer than any interval. */
export const sixDigits = (_: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;

/** What the JSON files of a folder hold, by name; nothing if there is no such folder. */
export async function readJsonFiles<T>(
  folder: string,
  parse: (json: string, file: string) => T,
): Promise<T[]> {
  const names = (await namesIn(folder)).filter((name) => name.endsWith('.json')).sort();
  const read: T[] = [];
  for (const name of names) {
    const file = path.join(folder, name);
    const bytes = await readSmallFile(file, LARGEST_FILE);
    read.push(parse(bytes.toString('utf8'), file));
  }
  return read;
}
