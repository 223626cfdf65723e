/**
 * Makes problems in bulk: worker threads sample and draw them, and they end up in a folder of files
 * or in one file. Problem i of a seed is the same whatever the count and the number of workers.
 *
 * Folders (`FOLDER_FORMATS`) can be resumed: `generate.json` beside the problems tells what they
 * were made from, and files that are not what they should be are made again.
 */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { parseConstraints } from '../constraints.js';
import { ArgumentError, isRecord } from '../../base/index.js';
import { ANSWER_COLUMNS, csvLine, layoutName } from '../item.js';
import type { ConfigurationLayout } from '../layouts.js';
import type { Variant } from '../problem.js';
import {
  aboutFile,
  makeFolder,
  makeFolderOf,
  outputPlace,
  OutputTakenError,
  PendingFile,
  removeAbandonedFiles,
  requireEnding,
  requireFolderName,
  runPool,
  syncFolder,
  writeFileAtomically,
  type OutputPlace,
} from '../../base/node.js';
import type { GenerateResult, GenerateTask, WorkerSetting } from './generate-worker.js';
import { MANIFEST, manifestBytes, readManifest } from './manifest.js';
import { SHARD_PROBLEMS } from './parquet-shards.js';
import { SetWriter } from './set-writer.js';
import { TableFiles } from './table-files.js';
import { vlmTables, type VlmSetting } from './vlm-files.js';

export const GENERATE_FORMATS = [
  'raven',
  'npz',
  'png',
  'svg',
  'pdf',
  'vlm',
  'parquet',
  'jsonl',
] as const;
export type GenerateFormat = (typeof GENERATE_FORMATS)[number];

export interface GenerateOptions {
  readonly layouts: readonly ConfigurationLayout[];
  readonly variant: Variant;
  readonly count: number;
  readonly seed: number;
  readonly format: GenerateFormat;
  /**
   * A folder for `raven`, `png`, `svg`, `vlm` and `parquet`; for `npz`, `jsonl` and `pdf` a file, a pipe, or
   * `-`, which is standard output.
   */
  readonly out: string;
  /** Parsed JSON of fixed rules and values, see `constraints.ts`. */
  readonly rules?: unknown;
  /** Where to write the answers as CSV. */
  readonly answers?: string;
  /** Contact sheets that tell neither the answer nor the rules. */
  readonly withoutAnswers?: boolean;
  /** RAVEN folders: deflate the arrays of each .npz. */
  readonly compress?: boolean;
  /** How items for vision-language models look; `DEFAULT_VLM` unless told. */
  readonly vlm?: VlmSetting;
  /** RAVEN folders: rules with their parameters as further arrays of each .npz. */
  readonly ruleParameters?: boolean;
  readonly workers: number;
  readonly resume?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface GenerateReport {
  readonly problems: number;
  /** Of these, how many were there already. */
  readonly kept: number;
  /** And how many were there but damaged, and were made again. */
  readonly repaired: number;
  readonly outputs: readonly string[];
}

const CHUNK = 32;
export const DEFAULT_VLM: VlmSetting = {
  layout: 'clean',
  options: 8,
  size: 200,
  tiles: false,
  blind: false,
};

/** One configuration's problems, and where they go. */
interface Target {
  readonly layout: ConfigurationLayout;
  /** The folder or file. */
  readonly output: string;
  /** The file as it was before the work; of a folder its `generate.json`. */
  readonly place: OutputPlace;
}
const FOLDER_FORMATS: readonly GenerateFormat[] = ['raven', 'png', 'svg', 'vlm', 'parquet'];
const isFolderFormat = (format: GenerateFormat): boolean => FOLDER_FORMATS.includes(format);

/** Makes the problems; throws before writing anything if the request cannot be met. */
export async function generate(options: GenerateOptions): Promise<GenerateReport> {
  // Impossible rules must be refused here, not by the first worker.
  for (const layout of options.layouts) {
    if (options.rules !== undefined) checkRules(options.rules, layout);
  }
  if (options.out === '') throw new ArgumentError('--out is empty: name a folder or a file');
  checkFormat(options);
  const targets: Target[] = [];
  for (const layout of options.layouts) targets.push(await checkOutput(options, layout));
  const answers =
    options.answers === undefined
      ? undefined
      : checkAnswers(options.answers, [options.out, ...targets.map(({ output }) => output)]);

  const rows: string[] = [csvLine(ANSWER_COLUMNS)];
  const total = options.count * targets.length;
  let done = 0;
  let kept = 0;
  let repaired = 0;
  const onChunk = (result: GenerateResult): void => {
    done += result.count;
    kept += result.kept;
    repaired += result.repaired;
    if (answers !== undefined) rows.push(...result.rows);
    options.onProgress?.(done, total);
  };
  // Begun before the work: if it cannot be written, that must not come out at the end.
  if (answers === undefined) await makeAll(options, targets, onChunk);
  else {
    await makeFolderOf(answers.path);
    await PendingFile.fill(answers, async (file) => {
      await makeAll(options, targets, onChunk);
      await file.write(Buffer.from(rows.join('\r\n') + '\r\n'), 0);
    });
  }
  const outputs = [...new Set(targets.map(({ output }) => output))];
  return { problems: total, kept, repaired, outputs };
}

async function makeAll(
  options: GenerateOptions,
  targets: readonly Target[],
  onChunk: (result: GenerateResult) => void,
): Promise<void> {
  if (options.format === 'pdf') {
    // Loaded only here: a PDF library is large, and everything else starts faster without it.
    const { writePdf } = await import('./print.js');
    await writePdf(options, targets[0].place, onChunk);
  } else {
    for (const target of targets) await makeOne(options, target, onChunk);
  }
}

function checkRules(rules: unknown, layout: ConfigurationLayout): void {
  try {
    parseConstraints(rules, layout);
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    const message = `--rules for ${layoutName(layout)}: ${error.message}`;
    throw new ArgumentError(message, { cause: error });
  }
}

/** Refuses an answer file that could not be written at the end, when all the work is done. */
function checkAnswers(answers: string, outputs: readonly string[]): OutputPlace {
  if (answers === '') throw new ArgumentError('--answers is empty: name a file');
  const file = path.resolve(answers);
  const clash = outputs.map((output) => path.resolve(output)).includes(file);
  if (clash || path.basename(file) === MANIFEST) {
    throw new ArgumentError(`--answers ${answers} is also written by --out: choose another name`);
  }
  requireEnding('--answers', answers, 'csv');
  const place = outputPlace(answers);
  if (place.direct) throw new ArgumentError(`--answers ${answers} is no file: name a new one`);
  if (place.before !== null) {
    throw new ArgumentError(`--answers ${answers} exists already: choose another name`);
  }
  return place;
}

/** Refuses what a format cannot be or have. */
function checkFormat(options: GenerateOptions): void {
  const { format, out, layouts, resume, withoutAnswers, compress, ruleParameters } = options;
  if (resume && !isFolderFormat(format)) {
    throw new ArgumentError(
      `--resume continues folders (${FOLDER_FORMATS.join(', ')}); a ${format} file is made in one go`,
    );
  }
  if (withoutAnswers && !['png', 'svg', 'pdf'].includes(format)) {
    throw new ArgumentError(
      `--no-answers is for png, svg and pdf: ${format} files hold the answers`,
    );
  }
  if (options.answers !== undefined && format === 'vlm' && options.vlm?.options === 4) {
    throw new ArgumentError(
      '--answers numbers all eight candidates: items with --options 4 have their answers in items.jsonl',
    );
  }
  if (compress && format !== 'raven') {
    throw new ArgumentError(`--compress is for --format raven, not ${format}`);
  }
  if (ruleParameters && format !== 'raven') {
    throw new ArgumentError(
      `--rule-parameters is for --format raven: ${format} has them anyway, or has no place for them`,
    );
  }
  if (isFolderFormat(format)) requireFolderName('--out', out, `--format ${format}`);
  else if (format !== 'pdf' && layouts.length > 1) {
    const what = format === 'npz' ? 'set' : 'file';
    requireFolderName('--out', out, `a ${what} for each configuration`);
  } else requireEnding('--out', out, format);
}

/** Where one configuration's problems go. Several configurations make `out` a folder of sets. */
function outputOf(options: GenerateOptions, layout: ConfigurationLayout): string {
  switch (options.format) {
    case 'raven':
    case 'parquet':
      return path.join(options.out, layout.folder);
    case 'png':
    case 'svg':
    case 'vlm':
      return path.join(options.out, layoutName(layout));
    case 'npz':
    case 'jsonl':
      return options.layouts.length === 1
        ? options.out
        : path.join(options.out, `${layoutName(layout)}.${options.format}`);
    case 'pdf':
      return options.out;
  }
}

/** What a folder was made from; `--resume` continues only the same. */
function formatManifest(options: GenerateOptions, layout: ConfigurationLayout): string {
  const { variant, seed, format, rules } = options;
  const withoutAnswers = format === 'png' && options.withoutAnswers ? true : undefined;
  const configuration = layoutName(layout);
  const { compress, ruleParameters } = options;
  const made = {
    generator: 1,
    configuration,
    variant,
    seed,
    format,
    rules,
    withoutAnswers,
    ruleParameters,
    compress,
    // A file of Parquet tells in its name how many there are.
    count: format === 'parquet' ? options.count : undefined,
    vlm: format === 'vlm' ? (options.vlm ?? DEFAULT_VLM) : undefined,
  };
  return JSON.stringify(made, null, 2) + '\n';
}

async function checkOutput(options: GenerateOptions, layout: ConfigurationLayout): Promise<Target> {
  const output = outputOf(options, layout);
  if (!isFolderFormat(options.format)) {
    const place = outputPlace(output);
    if (!place.direct && place.before !== null) {
      throw new ArgumentError(`--out ${output} exists already: choose another name`);
    }
    return { layout, output, place };
  }
  const info = await stat(output).catch(() => undefined);
  if (info && !info.isDirectory()) {
    throw new ArgumentError(`--out: ${output} is a file, not a folder`);
  }
  const manifest = path.join(output, MANIFEST);
  if (info && (await readdir(output)).length > 0) {
    if (!options.resume) {
      throw new ArgumentError(
        `--out: ${output} holds files already: choose another folder, or continue it with --resume`,
      );
    }
    await checkManifest(options, layout, output);
  }
  return { layout, output, place: outputPlace(manifest) };
}

async function checkManifest(
  options: GenerateOptions,
  layout: ConfigurationLayout,
  folder: string,
): Promise<void> {
  const bytes = await manifestBytes(folder);
  if (bytes === undefined) {
    throw new ArgumentError(`--resume: ${folder} was not made by crab generate`);
  }
  const wanted = formatManifest(options, layout);
  if (bytes.toString() === wanted) return;
  const made = await readManifest(folder).catch(() => undefined);
  const different = differences(isRecord(made) ? made : {}, JSON.parse(wanted) as MadeFrom);
  throw new ArgumentError(
    `--resume: ${folder} was made with other options${different}; choose another folder, or the options of ${path.join(folder, MANIFEST)}`,
  );
}

type MadeFrom = Readonly<Record<string, unknown>>;

/** What the keys of a manifest are called on the command line, if otherwise. */
const OPTION_NAMES: Readonly<Record<string, string>> = {
  configuration: '--config',
  withoutAnswers: '--no-answers',
  ruleParameters: '--rule-parameters',
  vlm: 'the look of the items',
  generator: 'the version of the generator',
};

/** Which options of two manifests differ, with their values if these are short. */
function differences(made: MadeFrom, wanted: MadeFrom): string {
  const shown = (value: unknown): string | null =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : null;
  const keys = [...new Set([...Object.keys(made), ...Object.keys(wanted)])].filter(
    (key) => JSON.stringify(made[key]) !== JSON.stringify(wanted[key]),
  );
  const told = keys.map((key) => {
    const [before, now] = [shown(made[key]), shown(wanted[key])];
    const name = OPTION_NAMES[key] ?? `--${key}`;
    return before === null || now === null ? name : `${name} ${before}, not ${now}`;
  });
  return told.length === 0 ? '' : ` (${told.join('; ')})`;
}

/** Makes a folder this process's own; who comes second is told so and writes nothing. */
async function beginFolder(
  options: GenerateOptions,
  { layout, output, place }: Target,
): Promise<void> {
  await makeFolder(output);
  await removeAbandonedFiles(output);
  if (place.before !== null) return;
  try {
    await writeFileAtomically(place, formatManifest(options, layout));
  } catch (error) {
    if (!(error instanceof OutputTakenError)) throw error;
    throw new ArgumentError(
      `--out: another process has begun to write to ${output}: choose another folder, or continue it with --resume when that one has ended`,
      { cause: error },
    );
  }
}

async function makeOne(
  options: GenerateOptions,
  target: Target,
  onChunk: (result: GenerateResult) => void,
): Promise<void> {
  const { layout, output, place } = target;
  const folder = isFolderFormat(options.format);
  await (folder ? beginFolder(options, target) : makeFolderOf(place.path));
  const tables = await openTables(options, target);
  const set = options.format === 'npz' ? await SetWriter.create(place, options.count) : undefined;
  try {
    await runPool<GenerateTask, GenerateResult>({
      module: new URL('./generate-worker.js', import.meta.url),
      workerData: settingOf(options, layout, set && { file: set.temporary, count: set.count }),
      workers: options.workers,
      tasks: chunks(options.count, options.format === 'parquet' ? SHARD_PROBLEMS : CHUNK),
      signal: options.signal,
      onResult: async (result) => {
        if (set && result.written) set.addWritten(result.written);
        if (result.tables) await tables?.add(result.tables);
        onChunk(result);
      },
    });
    await set?.finish();
    await tables?.finish();
    if (folder) await syncFolder(output);
  } catch (error) {
    await set?.abandon();
    await tables?.abandon();
    throw aboutFile(error, output);
  }
}

/** The tables that grow with the problems, and the folders of pictures beside them. */
async function openTables(
  options: GenerateOptions,
  { output, place }: Target,
): Promise<TableFiles | undefined> {
  if (options.format === 'jsonl') return TableFiles.create([[path.basename(output), place, '']]);
  if (options.format !== 'vlm') return undefined;
  const { options: count, blind } = options.vlm ?? DEFAULT_VLM;
  for (const name of blind ? ['pictures', 'blind'] : ['pictures']) {
    await makeFolder(path.join(output, name));
  }
  return TableFiles.create(
    Object.entries(vlmTables(count)).map(([name, first]) => [name, path.join(output, name), first]),
  );
}

const settingOf = (
  options: GenerateOptions,
  layout: ConfigurationLayout,
  set: WorkerSetting['set'],
): WorkerSetting => ({
  configuration: layout.configuration,
  noisy: layout.noisy,
  mesh: layout.mesh,
  variant: options.variant,
  seed: options.seed,
  count: options.count,
  rules: options.rules,
  format: options.format,
  root: options.out,
  folder: outputOf(options, layout),
  resume: options.resume ?? false,
  withoutAnswers: options.withoutAnswers ?? false,
  compress: options.compress ?? false,
  vlm: options.vlm ?? DEFAULT_VLM,
  ruleParameters: options.ruleParameters ?? false,
  answers: options.answers !== undefined,
  set,
});

function chunks(count: number, size: number): GenerateTask[] {
  const tasks: GenerateTask[] = [];
  for (let first = 0; first < count; first += size) {
    tasks.push({ first, count: Math.min(size, count - first) });
  }
  return tasks;
}
