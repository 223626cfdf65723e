/** Bundles on disk: found by name or path, read with their sizes checked first, written whole or not. */
import { createHash } from 'node:crypto';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ArgumentError } from '../../base/index.js';
import {
  exists,
  folderPlace,
  isMissing,
  isTaken,
  makeFolder,
  makeFolderOf,
  openRegularFile,
  OutputTakenError,
  readSmallFile,
  removeAbandonedFiles,
  temporaryName,
  type OutputPlace,
} from '../../base/node.js';
import { BUNDLE_FILES, BUNDLE_SYSTEMS, formatManifest, MANIFEST_FILE } from '../bundle.js';
import type { BundleFileName, BundleSource, ExpectedFile, ManifestDraft } from '../bundle.js';
import { BundleError } from '../errors.js';
import { isBundleName, urlSource, type FileCache, type LoadOptions } from '../web.js';

/** The folder of the bundles that come with this package. */
export const zooFolder = (): string => fileURLToPath(new URL('../../../zoo/', import.meta.url));

/** Names of the bundles of other systems than CRAB, which have a folder each: `transformer/center`. */
export async function listOthers(folder = zooFolder()): Promise<string[]> {
  const found = await Promise.all(
    BUNDLE_SYSTEMS.map(async (system) =>
      (await listZoo(path.join(folder, system))).map((name) => `${system}/${name}`),
    ),
  );
  return found.flat();
}

/** Names of the bundles in a folder itself: those of CRAB, or of one system. */
export async function listZoo(folder = zooFolder()): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(
    names.map(async (name) =>
      (await exists(path.join(folder, name, MANIFEST_FILE))) ? [name] : [],
    ),
  );
  return found.flat().sort();
}

async function readExactly(file: string, expected: ExpectedFile): Promise<Uint8Array> {
  const handle = await openRegularFile(file);
  try {
    const status = await handle.stat();
    if (expected.file !== undefined && status.size !== expected.file.bytes) {
      throw new BundleError(
        `${file} has ${status.size} bytes, the manifest says ${expected.file.bytes}`,
      );
    }
    if (status.size > expected.most) {
      throw new BundleError(
        `${file} has ${status.size} bytes, at most ${expected.most} are allowed`,
      );
    }
    const bytes = new Uint8Array(status.size);
    for (let at = 0; at < bytes.length;) {
      const { bytesRead } = await handle.read(bytes, at, bytes.length - at, at);
      if (bytesRead === 0) throw new BundleError(`${file} became shorter while it was read`);
      at += bytesRead;
    }
    return bytes;
  } finally {
    await handle.close();
  }
}

/** Files of a bundle in a folder. */
export function folderSource(folder: string): BundleSource {
  return {
    name: folder,
    read: async (file, expected) => {
      try {
        return await readExactly(path.join(folder, file), expected);
      } catch (cause) {
        if (!isMissing(cause)) throw cause;
        throw new BundleError(`${folder}: there is no ${file}`, { cause });
      }
    },
  };
}

/** A bundle that is only in memory. */
export async function memoryBundle(
  manifest: ManifestDraft,
  files: ReadonlyMap<BundleFileName, Uint8Array>,
): Promise<BundleSource> {
  const all = new Map<string, Uint8Array>(files);
  all.set(MANIFEST_FILE, await formatManifest(manifest, files));
  return {
    name: manifest.name,
    read: (file) => {
      const bytes = all.get(file);
      if (bytes === undefined) throw new BundleError(`${manifest.name}: there is no ${file}`);
      return Promise.resolve(bytes);
    },
  };
}

/** Where a bundle is to be written, as it was before the work; a link to a folder stays. */
export async function bundlePlace(folder: string): Promise<OutputPlace> {
  const place = folderPlace(folder);
  if (place.before !== null && !(await isReplaceable(place.path))) {
    throw new ArgumentError(`${folder} holds other things than a bundle: name another folder`);
  }
  return place;
}

/** What the system says if a folder is to be renamed to one that is there and not empty. */
const NOT_EMPTY = ['ENOTEMPTY', 'EEXIST', 'EPERM'];

/**
 * Writes a bundle: into a new folder beside the place, then renamed, so that it is whole or absent. One
 * that another process has written there since the place was looked at stays.
 */
export async function writeBundle(
  folder: string | OutputPlace,
  manifest: ManifestDraft,
  files: ReadonlyMap<BundleFileName, Uint8Array>,
): Promise<void> {
  const place = typeof folder === 'string' ? await bundlePlace(folder) : folder;
  const { path: target } = place;
  await removeAbandonedFiles(path.dirname(target), path.basename(target));
  const temporary = temporaryName(target);
  await makeFolder(temporary);
  try {
    for (const [name, bytes] of files) await writeFile(path.join(temporary, name), bytes);
    await writeFile(path.join(temporary, MANIFEST_FILE), await formatManifest(manifest, files));
    if (isTaken(place)) throw new OutputTakenError(place);
    if (place.before !== null) await rm(target, { recursive: true, force: true });
    await rename(temporary, target).catch((error: NodeJS.ErrnoException) => {
      throw NOT_EMPTY.includes(error.code ?? '') ? new OutputTakenError(place) : error;
    });
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}

/** What the folder of a training's run holds, and that of a bundle does not. */
const RUN_FILE = 'config.json';

/** What people read about a bundle, beside it. */
export const CARD_FILE = 'README.md';

/** Whether a folder holds nothing, or nothing but a bundle and its card. */
async function isReplaceable(folder: string): Promise<boolean> {
  const ours = new Set<string>([...BUNDLE_FILES, MANIFEST_FILE, CARD_FILE]);
  return (await readdir(folder)).every((name) => ours.has(name));
}

/** Keeps downloaded files in the user's cache folder. */
function diskCache(): FileCache {
  const base = process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache');
  const place = (url: URL, hash: string): string => {
    const folder = createHash('sha256').update(url.href).digest('hex').slice(0, 32);
    return path.join(base, 'crab-raven', folder, hash);
  };
  return {
    get: (url, file) =>
      readSmallFile(place(url, file.sha256), file.bytes).then(
        (bytes) => new Uint8Array(bytes),
        () => null,
      ),
    put: async (url, file, bytes) => {
      const target = place(url, file.sha256);
      // Earlier versions of the same file are of no use any more.
      await rm(path.dirname(target), { recursive: true, force: true });
      await makeFolderOf(target);
      await writeFile(`${target}.partial`, bytes);
      await rename(`${target}.partial`, target);
    },
  };
}

/** Where the files of a bundle are: a URL, a folder, or a name in the zoo. */
export async function locateBundle(location: string, options: LoadOptions): Promise<BundleSource> {
  if (/^https?:\/\//i.test(location)) {
    const cache = (options.cache ?? true) ? diskCache() : null;
    return urlSource(new URL(location), cache, options.signal);
  }
  if (await exists(path.join(location, MANIFEST_FILE))) return folderSource(location);
  const zoo = options.zoo ?? zooFolder();
  if (isBundleName(location)) {
    const folder = path.join(zoo, location);
    if (await exists(path.join(folder, MANIFEST_FILE))) return folderSource(folder);
  }
  if (await exists(path.join(location, RUN_FILE))) {
    throw new ArgumentError(
      `${location} is a run of training, not a bundle: export it first, crab export ${location} --out FOLDER, and name that folder (runs of ${BUNDLE_SYSTEMS.join(' and ')} become bundles)`,
    );
  }
  const names = [...(await listZoo(zoo)), ...(await listOthers(zoo))];
  const known = names.length > 0 ? names.join(', ') : 'none yet';
  throw new ArgumentError(
    `${location} is neither a folder with a ${MANIFEST_FILE} nor a bundle of the zoo (${known})`,
  );
}
