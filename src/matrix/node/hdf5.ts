/**
 * Reads the CRAB authors' caches, `<configuration>/<part>_64.hdf5`: `panel` (the eight context
 * panels) and `selection` as numbers [N, 8, 1, 64, 64] in 0..255, `answer` [N], `label`
 * [N, concepts]. The HDF5 library works in a thread of its own: see `hdf5-thread.ts`.
 */
import path from 'node:path';
import { ArgumentError, FormatError, CrabError } from '../../base/index.js';
import { conceptCount, labelOfConcepts } from '../hdf5-concepts.js';
import { findLayout } from '../layouts.js';
import { CONTEXT_PANELS, type Configuration } from '../problem.js';
import { SMALL_PIXELS } from '../render.js';
import { MATRIX_PIXELS, SELECTION_PIXELS, type ProblemSource, type SetBatch } from '../set.js';
import { MAX_CACHE_BATCH } from './hdf5-protocol.js';
import { CacheThread } from './hdf5-thread.js';
import { openRegularFile } from '../../base/node.js';

export interface CacheOptions {
  /** By default the name of the folder that the file lies in. */
  readonly configuration?: Configuration;
  /** Most milliseconds for opening and for each batch. */
  readonly timeLimit?: number;
}

const DEFAULT_TIME_LIMIT = 20_000;
const SIGNATURE = Buffer.from('\x89HDF\r\n\x1a\n', 'latin1');

/** Opens a cache as a source of problems. */
export async function openHdf5Cache(
  file: string,
  options: CacheOptions = {},
): Promise<ProblemSource> {
  const configuration = options.configuration ?? configurationOf(file);
  await checkSignature(file);
  const thread = new CacheThread(file, options.timeLimit ?? DEFAULT_TIME_LIMIT);
  try {
    const opened = await thread.ask({ kind: 'open', file: path.resolve(file) });
    if (opened.kind !== 'opened') throw new FormatError(`${file}: it cannot be opened`);
    if (opened.concepts !== conceptCount(configuration)) {
      throw new FormatError(
        `${file}: its labels have ${opened.concepts} concepts, ${configuration} has ${conceptCount(configuration)}`,
      );
    }
    return {
      name: file,
      count: opened.count,
      randomAccess: true,
      read: (first, count) => readProblems(thread, configuration, opened, first, count),
      close: () => thread.end(),
    };
  } catch (error) {
    await thread.end();
    throw error;
  }
}

function configurationOf(file: string): Configuration {
  const folder = path.basename(path.dirname(path.resolve(file)));
  try {
    return findLayout(folder).configuration;
  } catch (error) {
    if (!(error instanceof CrabError)) throw error;
    throw new ArgumentError(
      `${file}: its folder "${folder}" is not called after a configuration: move it into one that is, such as center_single`,
      { cause: error },
    );
  }
}

async function checkSignature(file: string): Promise<void> {
  const handle = await openRegularFile(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(SIGNATURE.length), 0, SIGNATURE.length, 0);
    if (!buffer.equals(SIGNATURE)) throw new FormatError(`${file} is not an HDF5 file`);
  } finally {
    await handle.close();
  }
}

async function readProblems(
  thread: CacheThread,
  configuration: Configuration,
  cache: { readonly count: number; readonly concepts: number },
  first: number,
  count: number,
): Promise<SetBatch> {
  if (first < 0 || count < 0 || first + count > cache.count) {
    throw new RangeError(`problems ${first}..${first + count} of ${cache.count}`);
  }
  const panel = new Uint8Array(count * MATRIX_PIXELS);
  const selection = new Uint8Array(count * SELECTION_PIXELS);
  const answer: number[] = [];
  const label: SetBatch['label'][number][] = [];
  for (let done = 0; done < count; done += MAX_CACHE_BATCH) {
    const size = Math.min(MAX_CACHE_BATCH, count - done);
    const rows = await thread.ask({ kind: 'read', first: first + done, count: size });
    if (rows.kind !== 'rows') throw new FormatError(`${thread.file}: it cannot be read`);
    selection.set(rows.selection, done * SELECTION_PIXELS);
    for (let i = 0; i < size; i++) {
      const to = (done + i) * MATRIX_PIXELS;
      panel.set(rows.panel.subarray(i * SELECTION_PIXELS, (i + 1) * SELECTION_PIXELS), to);
      const from = i * SELECTION_PIXELS + rows.answer[i] * SMALL_PIXELS;
      panel.set(
        rows.selection.subarray(from, from + SMALL_PIXELS),
        to + CONTEXT_PANELS * SMALL_PIXELS,
      );
      const concepts = rows.label.slice(i * cache.concepts, (i + 1) * cache.concepts);
      label.push(labelOfConcepts(configuration, concepts));
    }
    answer.push(...rows.answer);
  }
  return { count, panel, selection, answer, label };
}
