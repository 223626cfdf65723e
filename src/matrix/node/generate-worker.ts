/** The worker of `generate.ts`: samples a run of problems, draws them, and writes or returns them. */
import { openSync } from 'node:fs';
import path from 'node:path';
import { workerData } from 'node:worker_threads';
import { splitOf } from '../constraints.js';
import { describeRules } from '../describe.js';
import { answerRow, csvLine, itemName } from '../item.js';
import { problemToJson } from '../json.js';
import { layoutOf } from '../layouts.js';
import { encodePng, isWholePng, type Picture } from '../png.js';
import type { Configuration, Problem, Variant } from '../problem.js';
import { problemRuleParameters } from '../rule-parameters.js';
import { contactSheet } from '../render-sheet.js';
import { MATRIX_PIXELS, problemIntoBatch, SELECTION_PIXELS } from '../set.js';
import { problemToSvg } from '../svg.js';
import { vlmItem } from '../vlm-item.js';
import { ifMissing, readSmallFile, serveTasks } from '../../base/node.js';
import { FileBatch } from './file-batch.js';
import type { GenerateFormat } from './generate.js';
import { SHARD_PROBLEMS } from './parquet-shards.js';
import { problemMaker } from './problem-maker.js';
import { ravenFiles, type ProblemFile } from './raven-folder.js';
import type { VlmSetting } from './vlm-files.js';
import { writePictures, type WrittenProblems } from './set-writer.js';

export interface WorkerSetting {
  readonly configuration: Configuration;
  readonly noisy: boolean;
  readonly mesh: boolean;
  readonly variant: Variant;
  readonly seed: number;
  /** How many problems are made in all. */
  readonly count: number;
  readonly rules?: unknown;
  readonly format: GenerateFormat;
  /** The root that was asked for, and this configuration's folder or file in it. */
  readonly root: string;
  readonly folder: string;
  readonly resume: boolean;
  readonly withoutAnswers: boolean;
  readonly compress: boolean;
  readonly vlm: VlmSetting;
  readonly ruleParameters: boolean;
  /** Whether lines of an answer file are needed. */
  readonly answers: boolean;
  /** For npz: the file that the pictures of this set go to. */
  readonly set?: { readonly file: string; readonly count: number };
}

export interface GenerateTask {
  readonly first: number;
  readonly count: number;
}

export interface GenerateResult {
  readonly count: number;
  readonly kept: number;
  /** Of those that were there, how many were damaged and are made again. */
  readonly repaired: number;
  /** Lines of the answer file, if one is asked for. */
  readonly rows: readonly string[];
  /** For a set: what is known of the problems whose pictures are in its file. */
  readonly written?: WrittenProblems;
  /** Text to add to tables, by their names. */
  readonly tables?: Readonly<Record<string, string>>;
}

/** The files of a problem, and what it adds to tables beside them. */
interface FormedProblem {
  readonly files: readonly ProblemFile[];
  readonly tables?: Readonly<Record<string, string>>;
}
type FileForm = (problem: Problem, index: number) => FormedProblem;

async function fileForm(setting: WorkerSetting): Promise<FileForm | undefined> {
  const layout = layoutOf(setting.configuration, setting.noisy, setting.mesh);
  const named = (index: number, ending: string): string =>
    path.join(setting.folder, `${itemName(layout, index)}.${ending}`);
  switch (setting.format) {
    case 'raven':
      return (problem, index) => ({
        files: ravenFiles(setting.root, index, problem, {
          part: splitOf(setting.rules),
          compress: setting.compress,
          ruleParameters: setting.ruleParameters,
        }),
      });
    case 'png':
      return (problem, index) => ({
        files: [
          {
            file: named(index, 'png'),
            bytes: () => encodePng(sheetOf(problem, itemName(layout, index), setting)),
            isWhole: isWholePng,
          },
        ],
      });
    case 'svg':
      return (problem, index) => ({
        files: [
          {
            file: named(index, 'svg'),
            bytes: () => Buffer.from(problemToSvg(problem, { title: itemName(layout, index) })),
          },
        ],
      });
    case 'vlm': {
      const { vlmForm } = await import('./vlm-files.js');
      return vlmForm(setting.folder, setting.vlm, setting.seed);
    }
    case 'jsonl':
      return (problem, index) => ({
        files: [],
        tables: { [path.basename(setting.folder)]: problemLine(problem, setting.seed, index) },
      });
    case 'npz':
    case 'pdf':
    case 'parquet':
      return undefined;
  }
}

/** A problem as a line of text: what an item says of it, and all of it as data. */
function problemLine(problem: Problem, seed: number, index: number): string {
  const all = problem.candidates.map((_, i) => i);
  const { question: _, ...item } = vlmItem(problem, all, seed, index);
  return `${JSON.stringify({ ...item, problem: problemToJson(problem) })}\n`;
}

const sheetOf = (problem: Problem, title: string, { withoutAnswers }: WorkerSetting): Picture =>
  contactSheet(
    problem,
    withoutAnswers ? { title, markAnswer: false } : { title, rules: describeRules(problem) },
  );

/** No file of a problem comes near. */
const LARGEST_FILE = 64 << 20;

/** How a file on the disk compares with what its seed and number make of it. */
async function stateOf(
  { file, isWhole }: ProblemFile,
  expected: () => Uint8Array,
): Promise<'whole' | 'damaged' | 'missing'> {
  const found = await readSmallFile(file, LARGEST_FILE).catch(ifMissing(null));
  if (found === null) return 'missing';
  return (isWhole ? await isWhole(found) : found.equals(expected())) ? 'whole' : 'damaged';
}

/** Makes a problem's files, or with `resume` those that are missing or damaged. */
async function writeMissing(
  files: readonly ProblemFile[],
  resume: boolean,
  batch: FileBatch,
): Promise<'kept' | 'repaired' | 'made'> {
  const states = new Set<string>();
  for (const item of files) {
    let made: Uint8Array | undefined;
    const bytes = (): Uint8Array => (made ??= item.bytes());
    const state = resume ? await stateOf(item, bytes) : 'missing';
    states.add(state);
    if (state !== 'whole') await batch.write(item.file, bytes());
  }
  if (states.has('damaged')) return 'repaired';
  return states.has('missing') || files.length === 0 ? 'made' : 'kept';
}

async function makeFiles(
  setting: WorkerSetting,
  form: FileForm,
  make: (index: number) => Problem,
  { first, count }: GenerateTask,
): Promise<GenerateResult> {
  const rows: string[] = [];
  const counts = { kept: 0, repaired: 0, made: 0 };
  const batch = new FileBatch();
  const tables: Record<string, string> = {};
  try {
    for (let index = first; index < first + count; index++) {
      const problem = make(index);
      if (setting.answers) rows.push(csvLine(answerRow(problem, setting.seed, index)));
      const formed = form(problem, index);
      counts[await writeMissing(formed.files, setting.resume, batch)] += 1;
      for (const [name, text] of Object.entries(formed.tables ?? {})) {
        tables[name] = (tables[name] ?? '') + text;
      }
    }
    await batch.finish();
  } finally {
    await batch.settle();
  }
  return { count, kept: counts.kept, repaired: counts.repaired, rows, tables };
}

/** Makes one shard of Parquet files. */
async function makeShard(
  setting: WorkerSetting,
  { first, count }: GenerateTask,
): Promise<GenerateResult> {
  const { parquetShard } = await import('./parquet-files.js');
  const problems = Array.from({ length: count }, (_, i) => [make(first + i), first + i] as const);
  const layout = layoutOf(setting.configuration, setting.noisy, setting.mesh);
  const shard = first / SHARD_PROBLEMS;
  const states = new Set<string>();
  const batch = new FileBatch();
  try {
    const place = { shard, count: setting.count, part: splitOf(setting.rules) };
    for (const { file, bytes } of parquetShard(setting.folder, layout, problems, place)) {
      states.add(await writeMissing([{ file, bytes: () => bytes }], setting.resume, batch));
    }
    await batch.finish();
  } finally {
    await batch.settle();
  }
  const rows = setting.answers
    ? problems.map(([problem, index]) => csvLine(answerRow(problem, setting.seed, index)))
    : [];
  const repaired = states.has('repaired') ? count : 0;
  const kept = states.has('repaired') || states.has('made') ? 0 : count;
  return { count, kept, repaired, rows };
}

/** Makes problems of a set and writes their pictures to its file. The memory serves one task after the other. */
function setMaker(
  setting: WorkerSetting,
  { file, count: total }: NonNullable<WorkerSetting['set']>,
): (task: GenerateTask) => GenerateResult {
  const descriptor = openSync(file, 'r+');
  const part = splitOf(setting.rules);
  const memory = { panel: new Uint8Array(0), selection: new Uint8Array(0) };
  return ({ first, count }) => {
    if (memory.panel.length < count * MATRIX_PIXELS) {
      memory.panel = new Uint8Array(count * MATRIX_PIXELS);
      memory.selection = new Uint8Array(count * SELECTION_PIXELS);
    }
    const panel = memory.panel.subarray(0, count * MATRIX_PIXELS);
    const selection = memory.selection.subarray(0, count * SELECTION_PIXELS);
    const problems = Array.from({ length: count }, (_, i) => make(first + i));
    problems.forEach((problem, i) => problemIntoBatch(problem, { panel, selection }, i));
    const written = writePictures(descriptor, total, first, {
      count,
      panel,
      selection,
      answer: problems.map(({ target }) => target),
      label: problems.map(({ rules }) => rules),
      parameters: problems.map(problemRuleParameters),
      variant: setting.variant,
      part: part && problems.map(() => part),
    });
    const rows = setting.answers
      ? problems.map((problem, i) => csvLine(answerRow(problem, setting.seed, first + i)))
      : [];
    return { count, kept: 0, repaired: 0, rows, written };
  };
}

const setting = workerData as WorkerSetting;
const make = problemMaker(setting);
const form = await fileForm(setting);
const makeSet = setting.set && setMaker(setting, setting.set);
serveTasks<GenerateTask, GenerateResult>((task) => {
  if (makeSet) return makeSet(task);
  if (setting.format === 'parquet') return makeShard(setting, task);
  if (form) return makeFiles(setting, form, make, task);
  throw new Error(`no worker makes ${setting.format}`);
});
