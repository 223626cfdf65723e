/**
 * How fast problems are made: sampled and drawn, sixteen images at 160x160 and at 64x64; and, as
 * training needs them, nine 64x64 panels alone. On one core, and with worker threads.
 *
 *     npx tsx bench/generate.ts [--json FILE] [--problems N] [--rounds N] [--only NAME] [--workers 1,2] [--cold 3]
 *
 * Each round makes problems that no round made before. On one core, time is processor time of the
 * whole process, the compiler's and the collector's threads included, so that a busy machine counts
 * less; with threads it is time on the clock. The figure is the median of the rounds after one of
 * warming up. "From cold" is the first 2,000 problems of a process of their own, in which nothing is
 * compiled and no sprite is drawn yet: the median of three such. Prints Markdown tables; exits with 1
 * where a configuration misses the bar once warm.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  ALL_LAYOUTS,
  findLayout,
  IMAGE_PIXELS,
  MATRIX_PANELS,
  PROBLEM_IMAGES,
  render64Into,
  renderProblemInto,
  sampleProblem,
  samplePanels,
  SMALL_PIXELS,
  type ConfigurationLayout,
} from '../src/matrix/index.js';
import { runPool } from '../src/base/node.js';
import type { DrawTask } from './generate-worker.js';

/** Least number of problems a second on one core. */
const BAR = 2000;

/** Problems of a process that starts cold. */
const COLD_PROBLEMS = 2000;

/** Problems a second of the authors' generators on one core of a 2.8 GHz Xeon, by folder name. */
const AUTHORS: Readonly<Record<string, number>> = {
  center_single: 69,
  left_center_single_right_center_single: 33,
  up_center_single_down_center_single: 32,
  in_center_single_out_center_single: 16,
  in_distribute_four_out_center_single: 25,
  in_distribute_four_out_center_single_uniform: 33,
  distribute_four: 50,
  distribute_four_uniform: 73,
  distribute_nine: 30,
  distribute_nine_uniform: 48,
};

/** Configurations whose scaling with threads is measured: the fewest entities and the most. */
const SCALED = ['center', 'grid-3x3'];

const { values: options } = parseArgs({
  options: {
    json: { type: 'string' },
    problems: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string' },
    workers: { type: 'string', default: '1,2' },
    cold: { type: 'string', default: '3' },
  },
});
const problemsOfRound = Number(options.problems);
const rounds = Number(options.rounds);
const coldProcesses = Number(options.cold);

interface Rate {
  /** Problems a second of each round. */
  readonly rounds: readonly number[];
  readonly median: number;
  /** Median on the clock. */
  readonly clock: number;
}

interface Row {
  readonly configuration: string;
  readonly noisy: boolean;
  readonly authors: number;
  readonly sixteen: Rate;
  readonly nine: Rate;
  /** Problems a second from cold, one figure for each process. */
  readonly cold: readonly number[];
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** Times rounds of `make`, each on indices of its own. */
function rateOf(make: (index: number) => void): Rate {
  const rates: number[] = [];
  const clockRates: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const start = performance.now();
    const before = process.cpuUsage();
    for (let i = 0; i < problemsOfRound; i++) make(round * problemsOfRound + i);
    const { user, system } = process.cpuUsage(before);
    rates.push((problemsOfRound / (user + system)) * 1e6);
    clockRates.push((problemsOfRound / (performance.now() - start)) * 1e3);
  }
  const warm = rates.slice(1);
  return { rounds: warm, median: median(warm), clock: median(clockRates.slice(1)) };
}

const images = new Uint8Array(PROBLEM_IMAGES * IMAGE_PIXELS);
const small = new Uint8Array(PROBLEM_IMAGES * SMALL_PIXELS);
const nine = new Uint8Array(MATRIX_PANELS * SMALL_PIXELS);

function measure(layout: ConfigurationLayout): Row {
  const { configuration, noisy } = layout;
  const sixteenRate = rateOf((index) => {
    const problem = sampleProblem({ configuration, noisy, variant: 'i-raven', seed: 1, index });
    renderProblemInto(problem, images, 0, small, 0);
  });
  const nineRate = rateOf((index) => {
    const { panels } = samplePanels({ configuration, noisy, seed: 2, index });
    for (let i = 0; i < panels.length; i++) render64Into(layout, panels[i], nine, i * SMALL_PIXELS);
  });
  const authors = AUTHORS[layout.folder];
  const cold = Array.from({ length: coldProcesses }, () => coldRate(layout));
  return { configuration, noisy, authors, sixteen: sixteenRate, nine: nineRate, cold };
}

/** Problems a second of a fresh process. */
function coldRate({ folder }: ConfigurationLayout): number {
  const program = fileURLToPath(new URL('./generate-cold.ts', import.meta.url));
  const args = ['--import', 'tsx', program, folder, String(COLD_PROBLEMS), '1'];
  const printed = execFileSync(process.execPath, args, { encoding: 'utf8' });
  const [microseconds] = JSON.parse(printed) as number[];
  return (COLD_PROBLEMS / microseconds) * 1e6;
}

interface Scaling {
  readonly configuration: string;
  readonly workers: number;
  readonly rate: number;
}

/** Problems a second of some threads together, once each has warmed up. */
async function measureWorkers(layout: ConfigurationLayout, workers: number): Promise<Scaling> {
  const { configuration, noisy } = layout;
  const count = 250;
  const warmUp = 4 * workers;
  const measured = Math.max(8, Math.ceil((problemsOfRound * rounds) / count)) * workers;
  const tasks = Array.from({ length: warmUp + measured }, (_, i): DrawTask => {
    return { configuration, noisy, first: i * count, count };
  });
  let done = 0;
  let start = 0;
  let end = 0;
  await runPool<DrawTask, number>({
    module: new URL('./generate-worker.js', import.meta.url),
    workerData: undefined,
    workers,
    tasks,
    onResult: () => {
      done += 1;
      end = performance.now();
      if (done === warmUp) start = end;
    },
  });
  return { configuration, workers, rate: ((measured * count) / (end - start)) * 1000 };
}

const whole = (value: number): string => Math.round(value).toLocaleString('en');

function printRates(rows: readonly Row[]): void {
  console.log(
    '| configuration | authors /s | 16 images at 160 and 64 /s | times | from cold /s | nine at 64 /s |',
  );
  console.log('|---|---:|---:|---:|---:|---:|');
  for (const { configuration, noisy, authors, sixteen, nine: panels, cold } of rows) {
    const cells = [
      noisy ? `${configuration} (noisy)` : configuration,
      whole(authors),
      whole(sixteen.median),
      `${whole(sixteen.median / authors)}x`,
      cold.length > 0 ? whole(median(cold)) : '',
      whole(panels.median),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

function printScaling(scalings: readonly Scaling[]): void {
  console.log('\n| configuration | threads | problems /s |');
  console.log('|---|---:|---:|');
  for (const { configuration, workers, rate } of scalings) {
    console.log(`| ${configuration} | ${workers} | ${whole(rate)} |`);
  }
}

const layouts = options.only === undefined ? ALL_LAYOUTS : [findLayout(options.only)];
const rows = layouts.map(measure);
printRates(rows);

const threadCounts = options.workers
  .split(',')
  .filter((part) => part !== '')
  .map(Number);
const scalings: Scaling[] = [];
for (const layout of layouts.filter(({ configuration, noisy }) => {
  return !noisy && SCALED.includes(configuration);
})) {
  for (const workers of threadCounts) scalings.push(await measureWorkers(layout, workers));
}
if (scalings.length > 0) printScaling(scalings);

if (options.json !== undefined) {
  const report = { node: process.version, problemsOfRound, rounds, bar: BAR, rows, scalings };
  writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
}
const missed = rows.filter(({ sixteen }) => sixteen.median < BAR);
for (const { configuration, sixteen } of missed) {
  console.log(`\n${configuration}: ${whole(sixteen.median)} a second, below ${BAR}`);
}
process.exitCode = missed.length > 0 ? 1 : 0;
