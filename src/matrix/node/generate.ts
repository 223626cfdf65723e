/**
 * Makes problems in bulk: worker threads sample and draw them, and they end up in a folder of files
 * or in one file. Problem i of a seed is the same whatever the count and the number of workers.
 *
 * Folders (`raven`, `png`, `svg`) can be resumed: a file stands under its name only when complete,
 * and `generate.json` beside the problems tells what they were made from.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { parseConstraints } from '../constraints.js';
import { ArgumentError } from '../../base/index.js';
import { ANSWER_COLUMNS, csvLine, layoutName } from '../item.js';
import type { ConfigurationLayout } from '../layouts.js';
import type { Variant } from '../problem.js';
import { writeFileAtomically } from '../../base/node.js';
import { exists, makeFolder, makeFolderOf } from '../../base/node.js';
import type { GenerateResult, GenerateTask, WorkerSetting } from './generate-worker.js';
import { runPool } from '../../base/node.js';
import { SetWriter } from './set-writer.js';

export const GENERATE_FORMATS = ['raven', 'npz', 'png', 'svg', 'pdf'] as const;
export type GenerateFormat = (typeof GENERATE_FORMATS)[number];

export interface GenerateOptions {
  readonly layouts: readonly ConfigurationLayout[];
  readonly variant: Variant;
  readonly count: number;
  readonly seed: number;
  readonly format: GenerateFormat;
  /** A folder for `raven`, `png` and `svg`; a file for `npz` and `pdf`. */
  readonly out: string;
  /** Parsed JSON of fixed rules and values, see `constraints.ts`. */
  readonly rules?: unknown;
  /** Where to write the answers as CSV. */
  readonly answers?: string;
  readonly workers: number;
  readonly resume?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface GenerateReport {
  readonly problems: number;
  /** Of these, how many were there already. */
  readonly kept: number;
  readonly outputs: readonly string[];
}

const CHUNK = 32;
const MANIFEST = 'generate.json';
const isFolderFormat = (format: GenerateFormat): boolean =>
  format === 'raven' || format === 'png' || format === 'svg';

/** Makes the problems; throws before writing anything if the request cannot be met. */
export async function generate(options: GenerateOptions): Promise<GenerateReport> {
  // Impossible rules must be refused here, not by the first worker.
  for (const layout of options.layouts) {
    if (options.rules !== undefined) checkRules(options.rules, layout);
  }
  if (options.out === '') throw new ArgumentError('--out is empty: name a folder or a file');
  const targets = options.layouts.map((layout) => ({ layout, output: outputOf(options, layout) }));
  for (const { layout, output } of targets) await checkOutput(options, layout, output);
  if (options.answers !== undefined) {
    await checkAnswers(options.answers, [options.out, ...targets.map(({ output }) => output)]);
  }

  const rows: string[] = [csvLine(ANSWER_COLUMNS)];
  const total = options.count * targets.length;
  let done = 0;
  let kept = 0;
  const onChunk = (result: GenerateResult): void => {
    done += result.count;
    kept += result.kept;
    if (options.answers !== undefined) rows.push(...result.rows);
    options.onProgress?.(done, total);
  };
  if (options.format === 'pdf') {
    // Loaded only here: a PDF library is large, and everything else starts faster without it.
    const { writePdf } = await import('./print.js');
    await writePdf(options, onChunk);
  } else {
    for (const { layout, output } of targets) await makeOne(options, layout, output, onChunk);
  }
  if (options.answers !== undefined) {
    await writeFileAtomically(options.answers, rows.join('\r\n') + '\r\n');
  }
  const outputs = [...new Set(targets.map(({ output }) => output))];
  return { problems: total, kept, outputs };
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
async function checkAnswers(answers: string, outputs: readonly string[]): Promise<void> {
  if (answers === '') throw new ArgumentError('--answers is empty: name a file');
  const file = path.resolve(answers);
  const clash = outputs.map((output) => path.resolve(output)).includes(file);
  if (clash || path.basename(file) === MANIFEST) {
    throw new ArgumentError(`--answers ${answers} is also written by --out: choose another name`);
  }
  if (await exists(answers)) {
    throw new ArgumentError(`--answers ${answers} exists already: choose another name`);
  }
  await makeFolderOf(file);
}

/** Where one configuration's problems go. Several configurations make `out` a folder of sets. */
function outputOf(options: GenerateOptions, layout: ConfigurationLayout): string {
  switch (options.format) {
    case 'raven':
      return path.join(options.out, layout.folder);
    case 'png':
    case 'svg':
      return path.join(options.out, layoutName(layout));
    case 'npz':
      return options.layouts.length === 1
        ? options.out
        : path.join(options.out, `${layoutName(layout)}.npz`);
    case 'pdf':
      return options.out;
  }
}

/** What a folder was made from; `--resume` continues only the same. */
function manifestOf(options: GenerateOptions, layout: ConfigurationLayout): object {
  const { variant, seed, format, rules } = options;
  return { generator: 1, configuration: layoutName(layout), variant, seed, format, rules };
}

async function checkOutput(
  options: GenerateOptions,
  layout: ConfigurationLayout,
  output: string,
): Promise<void> {
  const folder = isFolderFormat(options.format);
  if (options.resume && !folder) {
    throw new ArgumentError(
      `--resume continues folders (raven, png, svg); a ${options.format} file is made in one go`,
    );
  }
  const info = await stat(output).catch(() => undefined);
  if (!info) return;
  if (!folder) throw new ArgumentError(`--out ${output} exists already: choose another name`);
  if (!info.isDirectory()) throw new ArgumentError(`--out: ${output} is a file, not a folder`);
  const names = await readdir(output);
  if (names.length === 0) return;
  if (!options.resume) {
    throw new ArgumentError(
      `--out: ${output} holds files already: choose another folder, or continue it with --resume`,
    );
  }
  await checkManifest(options, layout, path.join(output, MANIFEST));
}

async function checkManifest(
  options: GenerateOptions,
  layout: ConfigurationLayout,
  file: string,
): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) {
    throw new ArgumentError(`--resume: ${path.dirname(file)} was not made by crab generate`);
  }
  if (text !== formatManifest(manifestOf(options, layout))) {
    throw new ArgumentError(
      `--resume: ${path.dirname(file)} was made with other options, see ${file}`,
    );
  }
}

const formatManifest = (manifest: object): string => JSON.stringify(manifest, null, 2) + '\n';

async function makeOne(
  options: GenerateOptions,
  layout: ConfigurationLayout,
  output: string,
  onChunk: (result: GenerateResult) => void,
): Promise<void> {
  const folder = isFolderFormat(options.format);
  await (folder ? makeFolder(output) : makeFolderOf(output));
  if (folder) {
    const manifest = formatManifest(manifestOf(options, layout));
    await writeFileAtomically(path.join(output, MANIFEST), manifest);
  }
  const set = options.format === 'npz' ? await SetWriter.create(output) : undefined;
  try {
    await runPool<GenerateTask, GenerateResult>({
      module: new URL('./generate-worker.js', import.meta.url),
      workerData: settingOf(options, layout),
      workers: options.workers,
      tasks: chunks(options.count),
      signal: options.signal,
      onResult: async (result) => {
        if (set && result.batch) await set.add(result.batch);
        onChunk(result);
      },
    });
    await set?.finish();
  } catch (error) {
    await set?.abandon();
    throw error;
  }
}

const settingOf = (options: GenerateOptions, layout: ConfigurationLayout): WorkerSetting => ({
  configuration: layout.configuration,
  noisy: layout.noisy,
  variant: options.variant,
  seed: options.seed,
  rules: options.rules,
  format: options.format,
  root: options.out,
  folder: outputOf(options, layout),
  resume: options.resume ?? false,
});

function chunks(count: number): GenerateTask[] {
  const tasks: GenerateTask[] = [];
  for (let first = 0; first < count; first += CHUNK) {
    tasks.push({ first, count: Math.min(CHUNK, count - first) });
  }
  return tasks;
}
