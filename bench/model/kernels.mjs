/**
 * Where the time of a training step goes on a GPU: which kernels run, how often and how long.
 *
 *     node bench/model/kernels.mjs SYSTEM [--preset paper] [--config center] [--batch N] [--precision bf16] [--most 20]
 *
 * Reads the built package and needs Nsight Compute (`ncu`). First the step is timed as it is trained, as a CUDA
 * graph. Then a few steps run under `ncu`, one kernel at a time, and the kernels of the last step are listed. Their
 * sum may differ from the graph's time: cuDNN takes its usual algorithms there instead of trying them all.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setCudnnBenchmark } from '../../dist/torch/index.js';
import { openTraining } from './open-training.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    preset: { type: 'string', default: 'paper' },
    config: { type: 'string', default: 'center' },
    batch: { type: 'string' },
    precision: { type: 'string', default: 'bf16' },
    most: { type: 'string', default: '20' },
    /** What the process under ncu is told. */
    eager: { type: 'boolean', default: false },
  },
});
const [system] = positionals;
if (system === undefined) {
  console.error('usage: node bench/model/kernels.mjs SYSTEM');
  process.exit(2);
}
const STEPS_EAGER = 5;
/** The last kernel of a step but copies: it puts the step's loss where the host finds it. */
const END_OF_STEP = 'index_copy';
const MICROSECONDS = { ns: 1e-3, nsecond: 1e-3, us: 1, usecond: 1, ms: 1e3, msecond: 1e3 };

const open = (cudaGraph, prepare) =>
  openTraining({
    ...{ system, preset: values.preset, configuration: values.config, cudaGraph, prepare },
    ...{ device: 'cuda', precision: values.precision },
    batch: values.batch === undefined ? undefined : Number(values.batch),
  });

/** The kernels of the last step in a table that ncu wrote, in their order. */
function lastStep(table) {
  const rows = table
    .split('\n')
    .filter((line) => line.startsWith('"'))
    .map((line) => [...line.matchAll(/"((?:[^"]|"")*)"/g)].map(([, cell]) => cell));
  const [head, ...cells] = rows;
  const column = (name) => head.indexOf(name);
  const [name, unit, value] = ['Kernel Name', 'Metric Unit', 'Metric Value'].map(column);
  const kernels = cells.map((row) => ({
    name: row[name].replaceAll(
      /\(anonymous namespace\)::|<unnamed>::|at::native::|at::|^void /g,
      '',
    ),
    time: Number(row[value].replaceAll(',', '')) * MICROSECONDS[row[unit]],
  }));
  const ends = kernels.flatMap((kernel, n) => (kernel.name.includes(END_OF_STEP) ? [n] : []));
  if (ends.length < 2) throw new Error('ncu has not seen two whole steps');
  return kernels.slice(ends.at(-2) + 1, ends.at(-1) + 1);
}

async function profile() {
  const training = await open(true);
  const times = [];
  await training.seconds(20);
  for (let round = 0; round < 3; round++) times.push((1e3 * (await training.seconds(100))) / 100);
  await training.close();
  const { preset, config, precision } = values;
  console.log(`${system} ${preset} ${config}, batch ${training.batchSize}, ${precision}`);
  console.log(`as a graph: ${times.map((time) => time.toFixed(2)).join(', ')} ms a step`);
  const folder = mkdtempSync(join(tmpdir(), 'crab-kernels-'));
  try {
    const table = join(folder, 'kernels.csv');
    const told = ['--metrics', 'gpu__time_duration.sum', '--csv', '--log-file', table];
    const free = ['--cache-control', 'none', '--clock-control', 'none'];
    const self = [process.execPath, ...process.argv.slice(1), '--eager'];
    const { status, error } = spawnSync('ncu', [...told, ...free, ...self], { stdio: 'inherit' });
    if (status !== 0) throw new Error(error?.message ?? `ncu ended with ${status}`);
    tell(lastStep(readFileSync(table, 'utf8')));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function tell(kernels) {
  const sum = (some) => some.reduce((total, { time }) => total + time, 0);
  console.log(`kernel by kernel: ${kernels.length} kernels, ${(sum(kernels) / 1e3).toFixed(2)} ms`);
  const byName = grouped(kernels);
  const rows = [...byName].map(([name, all]) => ({ name, count: all.length, time: sum(all) }));
  for (const { name, count, time } of rows
    .toSorted((a, b) => b.time - a.time)
    .slice(0, Number(values.most))) {
    console.log(
      `${time.toFixed(0).padStart(7)} us ${String(count).padStart(4)} x  ${name.slice(0, 110)}`,
    );
  }
}

function grouped(kernels) {
  const groups = new Map();
  for (const kernel of kernels)
    groups.set(kernel.name, [...(groups.get(kernel.name) ?? []), kernel]);
  return groups;
}

if (values.eager) {
  const training = await open(false, () => setCudnnBenchmark(false));
  await training.seconds(STEPS_EAGER);
  await training.close();
} else {
  await profile();
}
