/** The worker of `generate.ts`: samples a run of problems, draws them, and writes or returns them. */
import { access } from 'node:fs/promises';
import path from 'node:path';
import { workerData } from 'node:worker_threads';
import { parseConstraints } from '../constraints.js';
import { describeRules } from '../describe.js';
import { answerRow, csvLine, itemName } from '../item.js';
import { layoutOf } from '../layouts.js';
import type { Plan } from '../plan.js';
import { encodePng } from '../png.js';
import type { Configuration, Problem, Variant } from '../problem.js';
import { partOf, ravenFileName } from '../raven-file.js';
import { contactSheet } from '../render-sheet.js';
import { sampleProblem } from '../sampling.js';
import { MATRIX_PIXELS, problemIntoBatch, SELECTION_PIXELS, type SetBatch } from '../set.js';
import { problemToSvg } from '../svg.js';
import { writeFileAtomically } from '../../base/node.js';
import type { GenerateFormat } from './generate.js';
import { serveTasks } from '../../base/node.js';
import { writeRavenProblem } from './raven-folder.js';

export interface WorkerSetting {
  readonly configuration: Configuration;
  readonly noisy: boolean;
  readonly variant: Variant;
  readonly seed: number;
  readonly rules?: unknown;
  readonly format: GenerateFormat;
  /** The root that was asked for, and this configuration's folder or file in it. */
  readonly root: string;
  readonly folder: string;
  readonly resume: boolean;
}

export interface GenerateTask {
  readonly first: number;
  readonly count: number;
}

export interface GenerateResult {
  readonly count: number;
  readonly kept: number;
  /** Lines of the answer file. */
  readonly rows: readonly string[];
  /** The drawn problems, for a set. */
  readonly batch?: SetBatch;
}

/** Makes problem after problem of one setting. */
export function problemMaker(setting: WorkerSetting): (index: number) => Problem {
  const { configuration, noisy, variant, seed } = setting;
  const layout = layoutOf(configuration, noisy);
  const constraints: Plan | undefined =
    setting.rules === undefined ? undefined : parseConstraints(setting.rules, layout);
  return (index) => sampleProblem({ configuration, noisy, variant, seed, index, constraints });
}

/** Writes one problem as files; says where the last of them stands, which is written last. */
interface FileForm {
  readonly file: (index: number) => string;
  readonly write: (problem: Problem, index: number) => Promise<void>;
}

function fileForm(setting: WorkerSetting): FileForm | undefined {
  const layout = layoutOf(setting.configuration, setting.noisy);
  const named = (index: number, ending: string): string =>
    path.join(setting.folder, `${itemName(layout, index)}.${ending}`);
  switch (setting.format) {
    case 'raven':
      return {
        file: (index) => path.join(setting.folder, `${ravenFileName(index, partOf(index))}.npz`),
        write: (problem, index) => writeRavenProblem(setting.root, index, problem),
      };
    case 'png':
      return {
        file: (index) => named(index, 'png'),
        write: async (problem, index) => {
          const title = itemName(layout, index);
          const sheet = contactSheet(problem, { title, rules: describeRules(problem) });
          await writeFileAtomically(named(index, 'png'), encodePng(sheet), { sync: false });
        },
      };
    case 'svg':
      return {
        file: (index) => named(index, 'svg'),
        write: async (problem, index) => {
          const svg = problemToSvg(problem, { title: itemName(layout, index) });
          await writeFileAtomically(named(index, 'svg'), svg, { sync: false });
        },
      };
    case 'npz':
    case 'pdf':
      return undefined;
  }
}

const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

async function makeFiles(
  setting: WorkerSetting,
  form: FileForm,
  make: (index: number) => Problem,
  { first, count }: GenerateTask,
): Promise<GenerateResult> {
  const rows: string[] = [];
  let kept = 0;
  for (let index = first; index < first + count; index++) {
    const problem = make(index);
    rows.push(csvLine(answerRow(problem, setting.seed, index)));
    if (setting.resume && (await isThere(form.file(index)))) kept += 1;
    else await form.write(problem, index);
  }
  return { count, kept, rows };
}

function makeBatch(
  setting: WorkerSetting,
  make: (index: number) => Problem,
  { first, count }: GenerateTask,
): GenerateResult {
  const panel = new Uint8Array(count * MATRIX_PIXELS);
  const selection = new Uint8Array(count * SELECTION_PIXELS);
  const problems = Array.from({ length: count }, (_, i) => make(first + i));
  problems.forEach((problem, i) => problemIntoBatch(problem, { panel, selection }, i));
  return {
    count,
    kept: 0,
    rows: problems.map((problem, i) => csvLine(answerRow(problem, setting.seed, first + i))),
    batch: {
      count,
      panel,
      selection,
      answer: problems.map(({ target }) => target),
      label: problems.map(({ rules }) => rules),
    },
  };
}

const setting = workerData as WorkerSetting;
const make = problemMaker(setting);
const form = fileForm(setting);
serveTasks<GenerateTask, GenerateResult>(async (task) => {
  if (form) return { result: await makeFiles(setting, form, make, task) };
  const result = makeBatch(setting, make, task);
  const { panel, selection } = result.batch as SetBatch;
  return { result, transfer: [panel.buffer as ArrayBuffer, selection.buffer as ArrayBuffer] };
});
