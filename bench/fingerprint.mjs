/**
 * Is training unchanged? Trains short runs with one build and prints a hash of all weights and of all
 * logged losses of each: three presets; in one process, by two ranks, and killed and resumed. Two builds
 * that print the same train the same, bit for bit (CPU, one thread).
 *
 *   node bench/fingerprint.mjs [--dist dist] [--steps 200] [--config center] [--presets crab,small] [--jobs 1]
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    dist: { type: 'string', default: 'dist' },
    steps: { type: 'string', default: '200' },
    config: { type: 'string', default: 'center' },
    presets: { type: 'string', default: 'released,crab,small' },
    modes: { type: 'string', default: 'one,ranks,resumed' },
    jobs: { type: 'string', default: '1' },
  },
});
const steps = Number(values.steps);
const main = path.resolve(values.dist, 'cli/main.js');
const scratch = mkdtempSync(path.join(tmpdir(), 'fingerprint-'));

/** Runs the command; resolves with its exit code, or null if it was killed. */
function crab(args, whenRunning) {
  const child = spawn(process.execPath, [main, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1', MKL_NUM_THREADS: '1' },
  });
  const timer = whenRunning && setInterval(() => whenRunning(child), 5);
  return new Promise((resolve) =>
    child.on('exit', (code) => {
      clearInterval(timer);
      resolve(code);
    }),
  );
}

const newest = (run) =>
  readdirSync(run)
    .filter((name) => /^checkpoint-\d+\.safetensors$/.test(name))
    .sort()
    .at(-1);

/** SHA-256 over name, kind and bytes of every tensor of a safetensors file, in the order of names. */
function hashOfTensors(file) {
  const bytes = readFileSync(file);
  const length = Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.subarray(8, 8 + length).toString());
  const hash = createHash('sha256');
  for (const name of Object.keys(header).sort()) {
    if (name === '__metadata__') continue;
    const {
      dtype,
      shape,
      data_offsets: [from, to],
    } = header[name];
    hash
      .update(JSON.stringify([name, dtype, shape]))
      .update(bytes.subarray(8 + length + from, 8 + length + to));
  }
  return hash.digest('hex').slice(0, 16);
}

/** The logged losses and accuracies, without what a clock decides. */
function hashOfLog(run) {
  const lines = readFileSync(path.join(run, 'metrics.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const losses = lines
    .filter(({ kind }) => kind === 'train')
    .map(({ step, learningRate, terms }) => ({ step, learningRate, terms }));
  return {
    losses: createHash('sha256').update(JSON.stringify(losses)).digest('hex').slice(0, 16),
    last: losses.at(-1)?.terms.loss,
  };
}

async function fingerprint(preset, mode) {
  const run = path.join(scratch, `${preset}-${mode}`);
  const half = Math.floor(steps / 2);
  const overrides = JSON.stringify({ optimizer: { batchSize: 32 } });
  const args = [
    'train',
    '--config',
    values.config,
    '--preset',
    preset,
    '--overrides',
    overrides,
    '--steps',
    `${steps}`,
    '--seed',
    '3',
    '--threads',
    '1',
    '--workers',
    '1',
    '--pool',
    '200',
    '--validate-every',
    '100',
    '--log-every',
    '5',
    '--checkpoint-every',
    `${half}`,
    '--out',
    run,
    '--quiet',
  ];
  if (mode === 'ranks') args.push('--nproc', '2');
  const kill = (child) => existsSync(run) && newest(run) !== undefined && child.kill('SIGKILL');
  const code = await crab(args, mode === 'resumed' ? kill : undefined);
  if (mode === 'resumed') await crab(['train', '--resume', run, '--quiet']);
  else if (code !== 0) throw new Error(`${preset} ${mode}: exit ${code}`);
  const result = {
    preset,
    mode,
    weights: hashOfTensors(path.join(run, newest(run))),
    ...hashOfLog(run),
  };
  rmSync(run, { recursive: true });
  return result;
}

const tasks = values.presets
  .split(',')
  .flatMap((preset) => values.modes.split(',').map((mode) => [preset, mode]));
const results = [];
await Promise.all(
  Array.from({ length: Number(values.jobs) }, async () => {
    for (let task = tasks.shift(); task; task = tasks.shift())
      results.push(await fingerprint(...task));
  }),
);
results.sort((a, b) => `${a.preset}${a.mode}`.localeCompare(`${b.preset}${b.mode}`));
for (const each of results) console.log(JSON.stringify(each));
rmSync(scratch, { recursive: true });
