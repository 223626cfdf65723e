/** Opens problems wherever they are: a set file, a folder of RAVEN, an HDF5 cache. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ArgumentError, FormatError } from '../../base/index.js';
import { layoutOf } from '../layouts.js';
import type { Configuration } from '../problem.js';
import type { Part } from '../raven-file.js';
import { SMALL_SIZE, type ImageSide } from '../render.js';
import { batches, openSetFrom, type ProblemSource } from '../set.js';
import { fileSource } from '../../base/node.js';
import { openHdf5Cache } from './hdf5.js';
import {
  configurationFolders,
  listRavenFolder,
  openRavenFolder,
  withoutProblems,
} from './raven-folder.js';
import { SetWriter } from './set-writer.js';

export interface OpenOptions {
  /** Which configuration is meant, if a root holds several or an HDF5 file's folder names none. */
  readonly configuration?: Configuration;
  readonly noisy?: boolean;
  /** Of a RAVEN folder, only this part. */
  readonly part?: Part;
  /** Side of the pictures, 64 unless told. Only RAVEN folders hold larger ones. */
  readonly side?: ImageSide;
  /** Make reading in any order cheap: a compressed set is unpacked into a temporary file. */
  readonly randomAccess?: boolean;
}

/** Opens a set file (.npz). */
export async function openSet(file: string): Promise<ProblemSource> {
  const source = await fileSource(file);
  try {
    return await openSetFrom(source);
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** Opens a set file, a RAVEN folder (or a root with one) or an HDF5 cache, by what it is. */
export async function openProblems(
  location: string,
  options: OpenOptions = {},
): Promise<ProblemSource> {
  const info = await stat(location);
  const { part, side = SMALL_SIZE } = options;
  if (info.isDirectory()) {
    return openRavenFolder(await chooseFolder(location, options), part, side);
  }
  if (side !== SMALL_SIZE) {
    throw new ArgumentError(
      `${location} holds pictures of 64x64, and ${side}x${side} are needed: give a RAVEN folder`,
    );
  }
  if (/\.(hdf5|h5)$/i.test(location)) {
    return openHdf5Cache(location, { configuration: options.configuration });
  }
  if (!/\.npz$/i.test(location) && !(await beginsAsZip(location))) {
    throw new FormatError(
      `${location}: expected a RAVEN folder, a set (.npz) or an HDF5 cache (.hdf5)`,
    );
  }
  const set = await openSet(location);
  return options.randomAccess && !set.randomAccess ? unpack(set) : set;
}

/** Whether a file begins as an .npz does, whatever it is called. */
async function beginsAsZip(location: string): Promise<boolean> {
  const source = await fileSource(location);
  try {
    return Buffer.from(await source.read(0, 2)).toString('latin1') === 'PK';
  } finally {
    await source.close();
  }
}

async function chooseFolder(root: string, options: OpenOptions): Promise<string> {
  const folders = await configurationFolders(root);
  if (folders.length === 0) {
    if ((await listRavenFolder(root)).length > 0) return root;
    throw withoutProblems(root);
  }
  if (options.configuration !== undefined) {
    const { folder } = layoutOf(options.configuration, options.noisy);
    const found = folders.find((candidate) => path.basename(candidate) === folder);
    if (found !== undefined) return found;
    throw new ArgumentError(`${root} has no folder ${folder}`);
  }
  if (folders.length === 1) return folders[0];
  throw new ArgumentError(
    `${root} holds ${folders.map((folder) => path.basename(folder)).join(', ')}: give one of these folders`,
  );
}

/** The same problems from an uncompressed copy that lasts until it is closed. */
async function unpack(compressed: ProblemSource): Promise<ProblemSource> {
  const folder = await mkdtemp(path.join(tmpdir(), 'crab-set-'));
  const discard = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const file = path.join(folder, 'set.npz');
    const writer = await SetWriter.create(file, compressed.count);
    try {
      for await (const batch of batches(compressed)) await writer.add(batch);
      await writer.finish();
    } catch (error) {
      await writer.abandon();
      throw error;
    }
    const opened = await openSet(file);
    return {
      ...opened,
      name: compressed.name,
      close: async () => {
        await opened.close();
        await discard();
      },
    };
  } catch (error) {
    await discard();
    throw error;
  } finally {
    await compressed.close();
  }
}
