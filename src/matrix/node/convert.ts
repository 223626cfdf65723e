/**
 * Moves problems between the formats: RAVEN's folders, set files, the authors' HDF5 caches (in only)
 * and contact sheets (out only). Pixels are copied as they are; with `redraw` every panel is drawn
 * again from its XML description instead. A set becomes a RAVEN folder by reading its panels back.
 * Problems pass through one at a time, so that size does not matter.
 */
import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { describeRule, describeRules, ruleWords } from '../describe.js';
import { ArgumentError, FormatError, naming } from '../../base/index.js';
import { encodePng } from '../png.js';
import { CONTEXT_PANELS, type Problem } from '../problem.js';
import { ProblemReader } from '../problem-reader.js';
import { problemRuleParameters } from '../rule-parameters.js';
import { ravenFileName } from '../raven-file.js';
import { renderProblem } from '../render-panel.js';
import { contactSheetOfImages, type ProblemPictures } from '../render-sheet.js';
import { batches, imagesToBatch, MATRIX_PIXELS, SELECTION_PIXELS, type SetBatch } from '../set.js';
import type { Label, LabelRule } from '../set-label.js';
import {
  makeFolderOf,
  makeNewFolder,
  outputPlace,
  requireEnding,
  requireFolderName,
} from '../../base/node.js';
import { FileBatch } from './file-batch.js';
import { openProblems } from './open.js';
import {
  configurationFolders,
  labelOfRaven,
  listRavenFolder,
  ravenFiles,
  readRavenFolder,
  withoutProblems,
  type RavenProblem,
} from './raven-folder.js';
import { SetWriter } from './set-writer.js';
import { SMALL_PIXELS, SMALL_SIZE } from '../render.js';
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
  /** Contact sheets that tell neither the answer nor the rules. */
  readonly withoutAnswers?: boolean;
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
  if (folders === undefined && options.redraw && options.format !== 'raven') {
    throw new ArgumentError(
      `--redraw needs a RAVEN folder: ${options.input} holds images without descriptions`,
    );
  }
  const several = (folders?.length ?? 1) > 1;
  checkNames(options, several);
  const progress = await startCounting(options, folders);
  if (folders !== undefined && progress.counts.every((count) => count === 0))
    throw withoutProblems(options.input);
  const outputs: string[] = [];
  for (const [i, folder] of (folders ?? [undefined]).entries()) {
    const sink = await openSink(options, several ? folder : undefined, progress.counts[i]);
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

/** Refuses what a format cannot be or have. */
function checkNames({ format, out, withoutAnswers }: ConvertOptions, several: boolean): void {
  if (withoutAnswers && format !== 'png') {
    throw new ArgumentError(`--no-answers is for png: ${format} files hold the answers`);
  }
  if (format !== 'npz') requireFolderName('--out', out, `--format ${format}`);
  else if (several) requireFolderName('--out', out, 'a set for each configuration');
  else requireEnding('--out', out, format);
}

/** The RAVEN folders under a path, or undefined if it is a file. */
async function ravenFolders(input: string): Promise<string[] | undefined> {
  if (!(await stat(input)).isDirectory()) return undefined;
  const folders = await configurationFolders(input);
  if (folders.length > 0) return folders;
  if ((await listRavenFolder(input)).length > 0) return [input];
  throw withoutProblems(input);
}

interface Counter {
  /** How many problems each folder holds, or the one file. */
  readonly counts: readonly number[];
  done: number;
  add(count: number): void;
}

async function startCounting(
  options: ConvertOptions,
  folders: readonly string[] | undefined,
): Promise<Counter> {
  const counts: number[] = [];
  if (folders) {
    for (const folder of folders) counts.push((await listRavenFolder(folder)).length);
  } else {
    const source = await openProblems(options.input);
    counts.push(source.count);
    await source.close();
  }
  const total = counts.reduce((sum, count) => sum + count, 0);
  const counter: Counter = {
    counts,
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
    await sink.raven(options.redraw ? redrawn(problem) : problem);
    progress.add(1);
  }
}

/** A difference of grey values that antialiasing does not make within a figure. */
const CLEAR_DIFFERENCE = 64;
/**
 * Most pixels of a problem that may differ clearly when it is drawn again: another program's lines may lie
 * a pixel beside ours. Two problems of one configuration differ in 3% at least, mostly in 8% to 25%.
 */
const MOST_DIFFERENT = 0.025;

/** The same problem with panels drawn from its description, which must be of this problem. */
function redrawn(found: RavenProblem): RavenProblem {
  const { problem, arrays, file } = found;
  if (!problem) throw new ArgumentError(`--redraw: ${file} has no XML description beside it`);
  const { images } = renderProblem(problem);
  let different = 0;
  for (let i = 0; i < images.length; i++) {
    if (Math.abs(images[i] - arrays.images[i]) > CLEAR_DIFFERENCE) different++;
  }
  const share = different / images.length;
  if (share > MOST_DIFFERENT) {
    throw new FormatError(
      `--redraw: the XML beside ${file} describes another problem: drawn again, ${(100 * share).toFixed(0)}% of the pixels would change`,
    );
  }
  return { ...found, arrays: { ...arrays, images } };
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

/** Opens the output for `count` problems; `folder` names the configuration if there are several. */
async function openSink(
  options: ConvertOptions,
  folder: string | undefined,
  count: number,
): Promise<Sink> {
  const inFolder = (name: string): string =>
    folder === undefined ? options.out : path.join(options.out, path.basename(folder) + name);
  switch (options.format) {
    case 'npz':
      return openSetSink(inFolder('.npz'), count);
    case 'png':
      return openSheetSink(options, inFolder(''));
    case 'raven':
      return openRavenSink(options, inFolder(''));
  }
}

const existsAlready = (output: string): ArgumentError =>
  new ArgumentError(`--out ${output} exists already: choose another name`);

const copied = (found: RavenProblem): SetBatch => ({
  ...imagesToBatch(found.arrays.images, found.arrays.target, labelOfRaven(found)),
  parameters: found.problem && [problemRuleParameters(found.problem)],
  variant: found.problem?.variant,
  part: [found.part],
});

async function openSetSink(output: string, count: number): Promise<Sink> {
  const place = outputPlace(output);
  if (!place.direct && place.before !== null) throw existsAlready(output);
  await makeFolderOf(place.path);
  const writer = await SetWriter.create(place, count);
  return {
    output,
    raven: (found) => writer.add(copied(found)),
    batch: (batch) => writer.add(batch),
    finish: () => writer.finish(),
    abandon: () => writer.abandon(),
  };
}

/** Ends writing and removes the folder, which was made for it: half of the problems look like all. */
async function abandoned(files: FileBatch, folder: string): Promise<void> {
  await files.settle();
  await rm(folder, { recursive: true, force: true });
}

/** `folder` is what must not be there yet; problems go under `out` by their configuration. */
async function openRavenSink(options: ConvertOptions, folder: string): Promise<Sink> {
  if (!(await makeNewFolder(folder))) throw existsAlready(folder);
  const files = new FileBatch();
  let reader: ProblemReader | undefined;
  const write = async (
    index: number,
    problem: Problem,
    given: Parameters<typeof ravenFiles>[3],
  ): Promise<void> => {
    for (const { file, bytes } of ravenFiles(options.out, index, problem, given)) {
      await makeFolderOf(file);
      await files.write(file, bytes());
    }
  };
  return {
    output: options.out,
    async raven({ problem, arrays, index, part, file: source }) {
      if (!problem) {
        throw new ArgumentError(`--format raven: ${source} has no XML description beside it`);
      }
      await write(index, problem, { images: arrays.images, part });
    },
    async batch(batch, first) {
      const problems = await naming(options.input, () => {
        reader ??= ProblemReader.of(batch);
        return reader.read(batch, first);
      });
      for (const [i, problem] of problems.entries()) {
        await write(first + i, problem, { part: batch.part?.[i] });
      }
    },
    finish: () => files.finish(),
    abandon: () => abandoned(files, folder),
  };
}

async function openSheetSink(options: ConvertOptions, output: string): Promise<Sink> {
  if (!(await makeNewFolder(output))) throw existsAlready(output);
  const files = new FileBatch();
  const write = (
    title: string,
    pictures: ProblemPictures,
    rules: readonly string[],
  ): Promise<void> => {
    const told = options.withoutAnswers ? { title, markAnswer: false } : { title, rules };
    const sheet = encodePng(contactSheetOfImages(pictures, told));
    return files.write(path.join(output, `${title}.png`), sheet);
  };
  return {
    output,
    async raven({ index, part, problem, arrays: { images, target } }) {
      const rules = problem ? describeRules(problem) : [];
      await write(ravenFileName(index, part), { size: IMAGE_SIZE, images, target }, rules);
    },
    async batch(batch, first) {
      for (let i = 0; i < batch.count; i++) {
        const name = `problem-${String(first + i).padStart(5, '0')}`;
        const pictures = { size: SMALL_SIZE, images: imagesOf(batch, i), target: batch.answer[i] };
        await write(name, pictures, labelLines(batch.label[i]));
      }
    },
    finish: () => files.finish(),
    abandon: () => abandoned(files, output),
  };
}

/** The eight context panels and the eight candidates of one problem of a batch, one after the other. */
function imagesOf(batch: SetBatch, i: number): Uint8Array {
  const context = CONTEXT_PANELS * SMALL_PIXELS;
  const images = new Uint8Array(context + SELECTION_PIXELS);
  images.set(batch.panel.subarray(i * MATRIX_PIXELS, i * MATRIX_PIXELS + context));
  images.set(batch.selection.subarray(i * SELECTION_PIXELS, (i + 1) * SELECTION_PIXELS), context);
  return images;
}

/** A set's rules in words; it does not say how its components are called. */
function labelLines(label: Label): string[] {
  const line = ({ name, attribute, value }: LabelRule): string =>
    value === null ? `${attribute}: ${ruleWords(name)}` : describeRule({ name, attribute, value });
  return label.flatMap((rules, component) =>
    rules.map((rule) => (label.length > 1 ? `Component ${component + 1}: ` : '') + line(rule)),
  );
}
