/** `crab arrays`: problems of any set as arrays for other programs, at any size, and as other tasks. */
import type { Command } from 'commander';
import { stat } from 'node:fs/promises';
import { ArgumentError } from '../base/index.js';
import { writeOutput } from '../base/node.js';
import {
  formatLabel,
  IMAGE_SIZE,
  PARTS,
  resize,
  RESIZERS,
  SMALL_SIZE,
  taskArrays,
  TASKS,
  unicodeArray,
  writeNpz,
  type Part,
  type Resizer,
  type SetBatch,
  type Task,
} from '../matrix/index.js';
import { openProblems } from '../matrix/node.js';
import { oneOf, wholeNumber } from './arguments.js';
import { UsageError } from './errors.js';
import { requireInput, requireOutputFile } from './paths.js';

interface Options {
  task: Task;
  out: string;
  size: number;
  resize: Resizer;
  part: Part | 'all';
  count?: number;
  targets?: number;
  foreign?: number;
  seed: number;
  json?: boolean;
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
    .requiredOption('--out <file.npz>', 'file to write')
    .option('--task <name>', TASKS.join(', '), oneOf(TASKS), 'choose')
    .option('--size <n>', 'pixels of a side', wholeNumber(8, 1024), SMALL_SIZE)
    .option('--resize <name>', RESIZERS.join(', '), oneOf(RESIZERS), 'ours')
    .option(
      '--part <part>',
      `of a RAVEN folder: ${PARTS.join(', ')}`,
      oneOf([...PARTS, 'all']),
      'all',
    )
    .option('--count <n>', 'only so many problems', wholeNumber(1))
    .option('--targets <n>', 'positions: panels missing at a time (default: 1)', wholeNumber(1, 8))
    .option('--foreign <n>', 'positions: panels of other problems (default: 7)', wholeNumber(1))
    .option('--seed <n>', 'positions: of what is drawn', wholeNumber(0), 0)
    .option('--json', 'report as JSON on standard output')
    .addHelpText('after', HELP)
    .action((input: string, options: Options) => run(input, options, signal));
}

/** Everything is put together in memory. */
const MOST_BYTES = 1 << 30;
const PICTURES = 17;
const AT_ONCE = 64;

function resized(
  pictures: Uint8Array,
  from: number,
  { size, resize: resizer }: Options,
): Uint8Array {
  if (from === size) return pictures;
  const count = pictures.length / from ** 2;
  const out = new Uint8Array(count * size ** 2);
  for (let i = 0; i < count; i++) {
    const picture = pictures.subarray(i * from ** 2, (i + 1) * from ** 2);
    out.set(resize(picture, from, size, resizer), i * size ** 2);
  }
  return out;
}

async function readAll(input: string, options: Options, signal: AbortSignal): Promise<SetBatch> {
  const isFolder = (await stat(input)).isDirectory();
  if (!isFolder && (options.size !== SMALL_SIZE || options.resize !== 'ours')) {
    throw new UsageError(
      `--size and --resize need full pictures: ${input} holds them at ${SMALL_SIZE}; give a RAVEN folder`,
    );
  }
  const side = isFolder ? IMAGE_SIZE : SMALL_SIZE;
  const part = options.part === 'all' ? undefined : options.part;
  const source = await openProblems(input, { part, side });
  try {
    const count = Math.min(options.count ?? source.count, source.count);
    if (count === 0) throw new ArgumentError(`${input} has no problems`);
    const bytes = count * PICTURES * options.size ** 2;
    if (bytes > MOST_BYTES) {
      throw new UsageError(
        `${count} problems at ${options.size} pixels are too many for one file: take --count ${Math.floor((count * MOST_BYTES) / bytes)}`,
      );
    }
    const parts: SetBatch[] = [];
    for (let first = 0; first < count; first += AT_ONCE) {
      signal.throwIfAborted();
      const batch = await source.read(first, Math.min(AT_ONCE, count - first));
      parts.push({
        ...batch,
        panel: resized(batch.panel, side, options),
        selection: resized(batch.selection, side, options),
      });
    }
    return {
      count,
      panel: Buffer.concat(parts.map(({ panel }) => panel)),
      selection: Buffer.concat(parts.map(({ selection }) => selection)),
      answer: parts.flatMap(({ answer }) => answer),
      label: parts.flatMap(({ label }) => label),
    };
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
  const place = await requireOutputFile('--out', options.out, [named], 'npz');
  if (place === undefined) return;
  const batch = await readAll(input, options, signal);
  const arrays = taskArrays(batch, options.task, options);
  const label = unicodeArray(batch.label.map(formatLabel));
  await writeOutput(place, writeNpz([...arrays, ['label', label]]));
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ problems: batch.count, output: options.out })}\n`
      : `${batch.count} problems: ${options.out}\n`,
  );
}
