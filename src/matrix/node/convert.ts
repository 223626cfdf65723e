/**
 * Moves problems between the formats: RAVEN's folders, set files, the authors' HDF5 caches (in only)
 * and contact sheets (out only). Pixels are copied as they are; with `redraw` every panel is drawn
 * again from its XML description instead. Problems pass through one at a time, so that size does not
 * matter.
 */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { describeRule, describeRules } from '../describe.js';
import { ArgumentError } from '../../base/index.js';
import { encodePng } from '../png.js';
import { ravenFileName } from '../raven-file.js';
import { contactSheet, contactSheetOfImages } from '../render-sheet.js';
import {
  batches,
  CANDIDATES,
  imagesToBatch,
  MATRIX_PIXELS,
  problemToBatch,
  SELECTION_PIXELS,
  type SetBatch,
} from '../set.js';
import type { Label, LabelRule } from '../set-label.js';
import { writeFileAtomically } from '../../base/node.js';
import { makeFolder, makeFolderOf } from '../../base/node.js';
import { openProblems } from './open.js';
import {
  configurationFolders,
  labelOfRaven,
  listRavenFolder,
  readRavenFolder,
  writeRavenProblem,
  type RavenProblem,
} from './raven-folder.js';
import { SetWriter } from './set-writer.js';
import { SMALL_SIZE } from '../render.js';
import { IMAGE_SIZE } from '../render-entity.js';

export const CONVERT_FORMATS = ['raven', 'npz', 'png'] as const;
export type ConvertFormat = (typeof CONVERT_FORMATS)[number];

export interface ConvertOptions {
  /** A RAVEN folder, a root of several, a set file or an HDF5 cache. */
  readonly input: string;
  /** A folder, or a file for one set. */
  readonly out: string;
  readonly format: ConvertFormat;
  readonly redraw?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface ConvertReport {
  readonly problems: number;
  readonly outputs: readonly string[];
}

/** Where problems go, whichever form they come in. */
interface Sink {
  readonly output: string;
  raven(problem: RavenProblem): Promise<void>;
  /** Problems of a set; `first` is the number of the first of them. */
  batch(batch: SetBatch, first: number): Promise<void>;
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

/** Converts everything under `input`. */
export async function convert(options: ConvertOptions): Promise<ConvertReport> {
  if (options.out === '') throw new ArgumentError('--out is empty: name a folder or a file');
  const folders = await ravenFolders(options.input);
  if (folders === undefined && (options.redraw || options.format === 'raven')) {
    const wish = options.redraw ? '--redraw' : '--format raven';
    throw new ArgumentError(
      `${wish} needs a RAVEN folder: ${options.input} holds images without descriptions`,
    );
  }
  const progress = await startCounting(options, folders);
  const outputs: string[] = [];
  for (const folder of folders ?? [undefined]) {
    const several = (folders?.length ?? 1) > 1;
    const sink = await openSink(options, several ? folder : undefined);
    try {
      if (folder === undefined) await copySet(options, sink, progress);
      else await copyFolder(options, folder, sink, progress);
      await sink.finish();
    } catch (error) {
      await sink.abandon();
      throw error;
    }
    outputs.push(sink.output);
  }
  return { problems: progress.done, outputs: [...new Set(outputs)] };
}

/** The RAVEN folders under a path, or undefined where it is a file. */
async function ravenFolders(input: string): Promise<string[] | undefined> {
  if (!(await stat(input)).isDirectory()) return undefined;
  const folders = await configurationFolders(input);
  if (folders.length > 0) return folders;
  if ((await listRavenFolder(input)).length > 0) return [input];
  throw new ArgumentError(`${input} holds no RAVEN problems (RAVEN_<number>_<part>.npz)`);
}

interface Counter {
  done: number;
  add(count: number): void;
}

async function startCounting(
  options: ConvertOptions,
  folders: readonly string[] | undefined,
): Promise<Counter> {
  let total = 0;
  if (folders) {
    for (const folder of folders) total += (await listRavenFolder(folder)).length;
  } else {
    const source = await openProblems(options.input);
    total = source.count;
    await source.close();
  }
  const counter: Counter = {
    done: 0,
    add: (count) => {
      counter.done += count;
      options.onProgress?.(counter.done, total);
    },
  };
  return counter;
}

async function copyFolder(
  options: ConvertOptions,
  folder: string,
  sink: Sink,
  progress: Counter,
): Promise<void> {
  for await (const problem of readRavenFolder(folder)) {
    options.signal?.throwIfAborted();
    if (options.redraw && !problem.problem) {
      throw new ArgumentError(`--redraw: ${problem.file} has no XML description beside it`);
    }
    await sink.raven(problem);
    progress.add(1);
  }
}

async function copySet(options: ConvertOptions, sink: Sink, progress: Counter): Promise<void> {
  const source = await openProblems(options.input);
  try {
    let first = 0;
    for await (const batch of batches(source)) {
      options.signal?.throwIfAborted();
      await sink.batch(batch, first);
      first += batch.count;
      progress.add(batch.count);
    }
  } finally {
    await source.close();
  }
}

/** Opens the output; `folder` names the configuration where there are several. */
async function openSink(options: ConvertOptions, folder: string | undefined): Promise<Sink> {
  const inFolder = (name: string): string =>
    folder === undefined ? options.out : path.join(options.out, path.basename(folder) + name);
  switch (options.format) {
    case 'npz':
      return openSetSink(options, inFolder('.npz'));
    case 'png':
      return openSheetSink(options, inFolder(''));
    case 'raven':
      return openRavenSink(options, inFolder(''));
  }
}

async function refuseExisting(output: string): Promise<void> {
  const found = await stat(output).catch(() => undefined);
  if (found) throw new ArgumentError(`--out ${output} exists already: choose another name`);
}

const drawnAgain = (options: ConvertOptions, { problem }: RavenProblem): SetBatch | undefined =>
  options.redraw && problem ? problemToBatch(problem) : undefined;

const copied = (found: RavenProblem): SetBatch =>
  imagesToBatch(found.arrays.images, found.arrays.target, labelOfRaven(found));

async function openSetSink(options: ConvertOptions, output: string): Promise<Sink> {
  await refuseExisting(output);
  await makeFolderOf(output);
  const writer = await SetWriter.create(output);
  return {
    output,
    raven: (found) => writer.add(drawnAgain(options, found) ?? copied(found)),
    batch: (batch) => writer.add(batch),
    finish: () => writer.finish(),
    abandon: () => writer.abandon(),
  };
}

/** `folder` is what must not be there yet; problems go under `out` by their configuration. */
async function openRavenSink(options: ConvertOptions, folder: string): Promise<Sink> {
  await refuseExisting(folder);
  return {
    output: options.out,
    async raven({ problem, arrays, index, part, file }) {
      if (!problem) {
        throw new ArgumentError(`--format raven: ${file} has no XML description beside it`);
      }
      const images = options.redraw ? undefined : arrays.images;
      await writeRavenProblem(options.out, index, problem, { images, part });
    },
    batch: () => Promise.reject(new ArgumentError('--format raven needs a RAVEN folder')),
    finish: () => Promise.resolve(),
    abandon: () => Promise.resolve(),
  };
}

async function openSheetSink(options: ConvertOptions, output: string): Promise<Sink> {
  await refuseExisting(output);
  await makeFolder(output);
  const write = (name: string, sheet: Parameters<typeof encodePng>[0]): Promise<void> =>
    writeFileAtomically(path.join(output, `${name}.png`), encodePng(sheet), { sync: false });
  return {
    output,
    async raven(found) {
      const name = ravenFileName(found.index, found.part);
      const rules = found.problem ? describeRules(found.problem) : [];
      const sheet =
        options.redraw && found.problem
          ? contactSheet(found.problem, { title: name, rules })
          : contactSheetOfImages(
              {
                size: IMAGE_SIZE,
                images: found.arrays.images,
                target: found.arrays.target,
              },
              { title: name, rules },
            );
      await write(name, sheet);
    },
    async batch(batch, first) {
      for (let i = 0; i < batch.count; i++) {
        const name = `problem-${String(first + i).padStart(5, '0')}`;
        const sheet = contactSheetOfImages(
          { size: SMALL_SIZE, images: imagesOf(batch, i), target: batch.answer[i] },
          { title: name, rules: labelLines(batch.label[i]) },
        );
        await write(name, sheet);
      }
    },
    finish: () => Promise.resolve(),
    abandon: () => Promise.resolve(),
  };
}

/** The eight context panels and the eight candidates of one problem of a batch, one after the other. */
function imagesOf(batch: SetBatch, i: number): Uint8Array {
  const context = (MATRIX_PIXELS / 9) * CANDIDATES;
  const images = new Uint8Array(context + SELECTION_PIXELS);
  images.set(batch.panel.subarray(i * MATRIX_PIXELS, i * MATRIX_PIXELS + context));
  images.set(batch.selection.subarray(i * SELECTION_PIXELS, (i + 1) * SELECTION_PIXELS), context);
  return images;
}

/** A set's rules in words; it does not say how its components are called. */
function labelLines(label: Label): string[] {
  const line = ({ name, attribute, value }: LabelRule): string =>
    value === null
      ? `${attribute}: ${name.toLowerCase().replace('_', ' ')}`
      : describeRule({ name, attribute, value });
  return label.flatMap((rules, component) =>
    rules.map((rule) => (label.length > 1 ? `Component ${component + 1}: ` : '') + line(rule)),
  );
}
