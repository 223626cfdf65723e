/** `generate.json`, which `crab generate` writes beside the problems of a folder: what they were made from. */
import path from 'node:path';
import { FormatError, isRecord, parseJson } from '../../base/index.js';
import { readSmallFile } from '../../base/node.js';
import { VARIANTS, type Variant } from '../problem.js';

export const MANIFEST = 'generate.json';
const LARGEST_MANIFEST = 64 << 20;

/** The bytes of a folder's manifest; undefined if it has none. */
export const manifestBytes = (folder: string): Promise<Buffer | undefined> =>
  readSmallFile(path.join(folder, MANIFEST), LARGEST_MANIFEST).catch(() => undefined);

/** What a folder's manifest says, unchecked; undefined if it has none. FormatError if it is not JSON. */
export async function readManifest(folder: string): Promise<unknown> {
  const bytes = await manifestBytes(folder);
  return bytes && parseJson(bytes, FormatError, path.join(folder, MANIFEST));
}

/** What the manifest of a folder tells; a file that is none of ours tells nothing. */
async function toldBy(folder: string): Promise<Record<string, unknown>> {
  const read = await readManifest(folder).catch(() => undefined);
  return isRecord(read) ? read : {};
}

/** The name of the configuration that a folder's manifest tells. */
export async function configurationTold(folder: string): Promise<string | undefined> {
  const { configuration } = await toldBy(folder);
  return typeof configuration === 'string' ? configuration : undefined;
}

/** How the candidates of a folder were made, if its manifest tells. */
export async function variantTold(folder: string): Promise<Variant | undefined> {
  const { variant } = await toldBy(folder);
  return VARIANTS.find((name) => name === variant);
}
