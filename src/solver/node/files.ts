/** Bundles on disk: found by name or path, read with their sizes checked first, written whole or not. */
import { createHash, randomBytes } from 'node:crypto';
import { open, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ArgumentError } from '../../base/index.js';
import { exists, makeFolder, makeFolderOf } from '../../base/node.js';
import { BUNDLE_FILES, formatManifest, MANIFEST_FILE } from '../bundle.js';
import type { BundleFileName, BundleManifest, BundleSource, ExpectedFile } from '../bundle.js';
import { BundleError } from '../errors.js';
import { isBundleName, urlSource, type FileCache, type LoadOptions } from '../web.js';

/** The folder of the bundles that come with this package. */
export const zooFolder = (): string => fileURLToPath(new URL('../../../zoo/', import.meta.url));

/** Names of the bundles in a folder. */
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
  const handle = await open(file, 'r');
  try {
    const status = await handle.stat();
    if (!status.isFile()) throw new BundleError(`${file} is not a file`);
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
        if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
        throw new BundleError(`${folder}: there is no ${file}`, { cause });
      }
    },
  };
}

/** A bundle that is only in memory. */
export async function memoryBundle(
  manifest: Omit<BundleManifest, 'format' | 'version' | 'files'>,
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

/** Writes a bundle: into a new folder beside the place, then renamed, so that it is whole or absent. */
export async function writeBundle(
  folder: string,
  manifest: Omit<BundleManifest, 'format' | 'version' | 'files'>,
  files: ReadonlyMap<BundleFileName, Uint8Array>,
): Promise<void> {
  // A link to a folder stays: what it points to is replaced.
  const named = path.resolve(folder);
  const target = (await exists(named)) ? await realpath(named) : named;
  if ((await exists(target)) && !(await isReplaceable(target))) {
    throw new ArgumentError(`${folder} holds other things than a bundle: name another folder`);
  }
  const temporary = `${target}.partial-${randomBytes(4).toString('hex')}`;
  await makeFolder(temporary);
  try {
    for (const [name, bytes] of files) await writeFile(path.join(temporary, name), bytes);
    await writeFile(path.join(temporary, MANIFEST_FILE), await formatManifest(manifest, files));
    await rm(target, { recursive: true, force: true });
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}

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
      readFile(place(url, file.sha256)).then(
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
  const names = await listZoo(zoo);
  const known = names.length > 0 ? names.join(', ') : 'none yet';
  throw new ArgumentError(
    `${location} is neither a folder with a ${MANIFEST_FILE} nor a bundle of the zoo (${known})`,
  );
}
