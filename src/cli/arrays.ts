/** `crab arrays`: problems of any set as arrays for other programs, at any size, and as other tasks. */
import type { Command } from 'commander';
import { stat } from 'node:fs/promises';
import { ArgumentError, counted } from '../base/index.js';
import { makeFolderOf, type OutputPlace } from '../base/node.js';
import {
  IMAGE_SIZE,
  PARTS,
  resize,
  RESIZERS,
  SMALL_SIZE,
  taskArrays,
  taskParts,
  TASKS,
  type Part,
  type ProblemSource,
  type Resizer,
  type Task,
} from '../matrix/index.js';
import { openProblems, RowsWriter } from '../matrix/node.js';
import { oneOf, wholeNumber } from './arguments.js';
import { UsageError } from './errors.js';
import { tell } from './output.js';
import { notParted, requireInput, requireNewFile } from './paths.js';
import { pauseNowAndThen, type Pause } from './pause.js';
import { withProgress, type Progress } from './progress.js';

interface Options {
  task: Task;
  out: string;
  size: number;
  resize: Resizer;
  part?: Part | 'all';
  count?: number;
  targets?: number;
  foreign?: number;
  seed: number;
  json?: boolean;
  quiet?: boolean;
}

const HELP = `
The input is a RAVEN folder, a set file (.npz) or an HDF5 cache. The output is one .npz of \`panel\`,
\`selection\` and \`answer\`, and \`label\`, the rules; shapes are in docs/tasks.md.

Tasks: choose       the problem itself
       odd-one-out  the context and a wrong candidate in the last place: which does not belong?
       analogy      rows 2 and 3 alone
       two-sets     rows 1-2 and rows 2-3, each completed by panel 6 or by the answer
       positions    panels missing anywhere, offered beside those of other problems

Sizes other than 64 need the full pictures of a RAVEN folder. Resizers: ours (bilinear, as CRAB and RAISE),
area (OpenCV), antialias (scikit-image, as MRNet), nearest (OpenCV).

Examples:
  crab arrays data/center_single --size 80 --resize area --out center-80.npz
  crab arrays center.npz --task odd-one-out --out odd.npz
  crab arrays center.npz --task positions --targets 2 --foreign 15 --out positions.npz`;

export function define(command: Command, signal: AbortSignal): void {
  command
    .requiredOption('--out <file.npz>', 'file to write; - for standard output')
    .option('--task <name>', TASKS.join(', '), oneOf(TASKS), 'choose')
    .option('--size <n>', 'pixels of a side', wholeNumber(8, 1024), SMALL_SIZE)
    .option('--resize <name>', RESIZERS.join(', '), oneOf(RESIZERS), 'ours')
    .option(
      '--part <part>',
      `of a RAVEN folder: ${PARTS.join(', ')}, all (default: all)`,
      oneOf([...PARTS, 'all']),
    )
    .option('--count <n>', 'only so many problems', wholeNumber(1))
    .option('--targets <n>', 'positions: panels missing at a time (default: 1)', wholeNumber(1, 8))
    .option('--foreign <n>', 'positions: panels of other problems (default: 7)', wholeNumber(1))
    .option('--seed <n>', 'positions: of what is drawn', wholeNumber(0), 0)
    .option('--json', 'report as JSON on standard output')
    .option('--quiet', 'no progress')
    .addHelpText('after', HELP)
    .action((input: string, options: Options) => run(input, options, signal));
}

/** Most bytes of pictures that are in memory at a time. */
const MOST_BYTES = 1 << 30;
const PICTURES = 17;

async function resized(
  pictures: Uint8Array,
  from: number,
  { size, resize: resizer }: Options,
  pause: Pause,
): Promise<Uint8Array> {
  if (from === size) return pictures;
  const count = pictures.length / from ** 2;
  const out = new Uint8Array(count * size ** 2);
  for (let i = 0; i < count; i++) {
    await pause();
    const picture = pictures.subarray(i * from ** 2, (i + 1) * from ** 2);
    out.set(resize(picture, from, size, resizer), i * size ** 2);
  }
  return out;
}

async function open(input: string, options: Options): Promise<[ProblemSource, number]> {
  const isFolder = (await stat(input)).isDirectory();
  if (!isFolder && (options.size !== SMALL_SIZE || options.resize !== 'ours')) {
    throw new UsageError(
      `--size and --resize need full pictures: ${input} holds them at ${SMALL_SIZE}; give a RAVEN folder`,
    );
  }
  if (!isFolder && options.part !== undefined) throw notParted(input);
  const side = isFolder ? IMAGE_SIZE : SMALL_SIZE;
  const part = options.part === 'all' ? undefined : options.part;
  return [await openProblems(input, { part, side }), side];
}

/** The parts of a set that are looked at together, if they fit into memory. */
function partsOf(count: number, options: Options): [number, number][] {
  const { task, size, foreign = 7, targets = 1 } = options;
  const parts = taskParts(count, task, options);
  const most = Math.max(...parts.map(([first, end]) => end - first));
  const offered = task === 'positions' ? (foreign + 1) * targets : 0;
  const pictures = most * (PICTURES + offered);
  if (pictures * size ** 2 > MOST_BYTES) {
    const fitting = Math.floor(Math.sqrt(MOST_BYTES / pictures));
    throw new UsageError(
      `--task ${task} needs ${pictures} pictures together, too many at --size ${size}: take --size ${fitting} or less${offered > 0 ? ', or fewer --foreign' : ''}`,
    );
  }
  return parts;
}

/** Writes the arrays of a task, a part of the set at a time; gives the number of problems. */
async function write(
  input: string,
  place: OutputPlace,
  options: Options,
  signal: AbortSignal,
  progress: Progress,
): Promise<number> {
  const pause = pauseNowAndThen(signal);
  const [source, side] = await open(input, options);
  try {
    const count = Math.min(options.count ?? source.count, source.count);
    if (count === 0) throw new ArgumentError(`${input} has no problems`);
    const parts = partsOf(count, options);
    progress.total = count;
    await makeFolderOf(place.path);
    const writer = await RowsWriter.create(place, count);
    try {
      for (const [first, end] of parts) {
        signal.throwIfAborted();
        const read = await source.read(first, end - first);
        const panel = await resized(read.panel, side, options, pause);
        const selection = await resized(read.selection, side, options, pause);
        const batch = { ...read, panel, selection };
        const arrays = taskArrays(batch, options.task, { ...options, first });
        writer.add(arrays, batch);
        progress.update(end);
      }
      await writer.finish();
    } catch (error) {
      await writer.abandon();
      throw error;
    }
    return count;
  } finally {
    await source.close();
  }
}

async function run(input: string, options: Options, signal: AbortSignal): Promise<void> {
  if (options.task !== 'positions' && (options.targets ?? options.foreign) !== undefined) {
    throw new UsageError('--targets and --foreign are for --task positions');
  }
  await requireInput('the input', input);
  const named = { argument: 'the input', location: input };
  const place = await requireNewFile('--out', options.out, [named], 'npz');
  const problems = await withProgress(null, 'problems', options, (progress) =>
    write(input, place, options, signal, progress),
  );
  tell(
    options,
    { problems, output: options.out },
    () => `${counted(problems, 'problem')}: ${options.out}\n`,
  );
}
