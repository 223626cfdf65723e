/**
 * Data-parallel training on the CPU against the number of ranks: time of a step, and the bytes that ranks
 * send, as the loopback device counts them. The batch stays the same; each rank has one thread.
 *
 *     npx tsx bench/parallel.ts [--ranks 1,2] [--steps 14] [--batch 32] [--preset small] [--json FILE]
 *
 * `alone` is a plain run without a group; `1` a group of one rank, whose collectives cost what they cost.
 * Prints Markdown. The bar: a group of one costs under 5% of a plain step's processor time, and two ranks
 * move no more than twice what a ring all-reduce of the gradients must.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { crabConfig, PRESETS, type PresetName } from '../src/models/index.js';
import { rendezvousOf } from '../src/torch/index.js';
import { joinTeam, train, type TrainOptions } from '../src/training/index.js';
import { freePort } from '../src/training/parallel/launch.js';

const { values } = parseArgs({
  options: {
    ranks: { type: 'string', default: '1,2' },
    steps: { type: 'string', default: '14' },
    batch: { type: 'string', default: '32' },
    preset: { type: 'string', default: 'small' },
    json: { type: 'string' },
    out: { type: 'string' },
  },
});
const WARM_UP = 4;
const steps = Number(values.steps);
const run = promisify(execFile);

/** What one rank measured. */
interface Measured {
  /** Milliseconds of each step after the warm-up. */
  readonly milliseconds: number[];
  /** Milliseconds of this process's processor time, of a step on average. */
  readonly processor: number;
  /** Bytes that went through the loopback device, of a step on average. */
  readonly bytes: number;
  readonly parameters: number;
}

interface Row {
  readonly name: string;
  readonly ranks: number;
  readonly step: number;
  readonly fastest: number;
  readonly processor: number;
  readonly bytes: number;
  readonly gradients: number;
}

const LOOPBACK = '/sys/class/net/lo/statistics/tx_bytes';

function loopbackBytes(): number {
  try {
    return Number(readFileSync(LOOPBACK, 'utf8'));
  } catch {
    return NaN;
  }
}

const processorTime = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const median = (list: readonly number[]): number =>
  [...list].sort((a, b) => a - b)[list.length >> 1];

/** The training that every rank takes part in; nothing happens between its steps. */
function settings(out: string): TrainOptions {
  const preset = values.preset as PresetName;
  if (!PRESETS.includes(preset)) throw new Error(`--preset: one of ${PRESETS.join(', ')}`);
  const overrides = { optimizer: { batchSize: Number(values.batch) } };
  return {
    out: join(out, 'run'),
    model: crabConfig(preset, 'center', { overrides }),
    budget: { kind: 'steps', steps },
    seed: 1,
    pool: 2 * Number(values.batch),
    threads: 1,
    logEvery: 1000,
    validation: { every: 1000, problems: 8 },
    checkpoints: { seconds: 1e6 },
    snapshots: { problems: 0 },
  };
}

/** One rank, or a run without a group: measures from the end of one step to the end of the next. */
async function measure(out: string): Promise<void> {
  const rendezvous = rendezvousOf();
  const joined = rendezvous && (await joinTeam(rendezvous));
  const follows = rendezvous !== null && rendezvous.rank > 0;
  const milliseconds: number[] = [];
  let [last, processor, bytes, parameters] = [0, 0, 0, 0];
  await train(
    { ...(follows ? { follow: true } : settings(out)), ...joined, workers: 1 },
    {
      start: (event) => (parameters = event.parameters),
      step: ({ step }) => {
        const now = performance.now();
        if (step === WARM_UP) [processor, bytes] = [processorTime(), loopbackBytes()];
        if (step > WARM_UP) milliseconds.push(now - last);
        if (step === steps) {
          const measured = steps - WARM_UP;
          processor = (processorTime() - processor) / measured;
          bytes = (loopbackBytes() - bytes) / measured;
        }
        last = performance.now();
      },
    },
  );
  const result: Measured = { milliseconds, processor, bytes, parameters };
  if (!follows) process.stdout.write(JSON.stringify(result));
  joined?.leave();
}

/** Starts the ranks of one measurement; `ranks` 0 is a run without a group. */
async function measured(ranks: number): Promise<Measured> {
  const out = mkdtempSync(join(tmpdir(), 'crab-bench-'));
  const port = (await freePort()).toString();
  const args = ['--import', 'tsx', import.meta.filename, '--out', out];
  args.push('--steps', values.steps, '--batch', values.batch, '--preset', values.preset);
  try {
    const outputs = await Promise.all(
      Array.from({ length: Math.max(1, ranks) }, async (_, rank) => {
        const env = {
          MASTER_ADDR: '127.0.0.1',
          MASTER_PORT: port,
          RANK: rank.toString(),
          LOCAL_RANK: rank.toString(),
          WORLD_SIZE: ranks.toString(),
          LOCAL_WORLD_SIZE: ranks.toString(),
        };
        const given = ranks === 0 ? process.env : { ...process.env, ...env };
        return (await run(process.execPath, args, { env: given })).stdout;
      }),
    );
    return JSON.parse(outputs[0]) as Measured;
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

function rowOf(name: string, ranks: number, found: Measured): Row {
  return {
    name,
    ranks,
    step: median(found.milliseconds),
    fastest: Math.min(...found.milliseconds),
    processor: found.processor,
    bytes: found.bytes,
    gradients: found.parameters * Float32Array.BYTES_PER_ELEMENT,
  };
}

const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(2);

/** What a ring all-reduce of the gradients moves, all ranks together. */
const ringBytes = ({ ranks, gradients }: Row): number => 2 * Math.max(0, ranks - 1) * gradients;

function print(rows: readonly Row[]): void {
  const [plain] = rows;
  console.log(
    `${values.preset} preset, batch ${values.batch}, gradients of ${mebibytes(plain.gradients)} MiB\n`,
  );
  console.log(
    '| ranks | step ms (median) | fastest | processor ms a rank | MiB sent a step | ring |',
  );
  console.log('|---|---|---|---|---|---|');
  for (const row of rows) {
    const times = [row.step, row.fastest, row.processor].map((value) => value.toFixed(0));
    const moved = [row.bytes, ringBytes(row)].map(mebibytes);
    console.log(`| ${[row.name, ...times, ...moved].join(' | ')} |`);
  }
}

/** The bars that were missed, in words. */
function missed(rows: readonly Row[]): string[] {
  const [plain] = rows;
  return rows.slice(1).flatMap((row) => {
    if (row.ranks === 1) {
      const cost = row.processor / plain.processor - 1;
      return cost < 0.05 ? [] : [`a group of one costs ${(100 * cost).toFixed(1)}%`];
    }
    // Statistics, posteriors and headers travel as well.
    return row.bytes < 2 * ringBytes(row) + 2 ** 20 ? [] : [`${row.name} ranks move too much`];
  });
}

async function main(): Promise<number> {
  const counts = values.ranks.split(',').map(Number);
  const rows = [rowOf('alone', 0, await measured(0))];
  for (const ranks of counts) rows.push(rowOf(ranks.toString(), ranks, await measured(ranks)));
  print(rows);
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(rows, null, 2));
  const misses = missed(rows);
  for (const miss of misses) console.log(`\nMissed: ${miss}.`);
  return misses.length === 0 ? 0 : 1;
}

if (values.out !== undefined) await measure(values.out);
else process.exitCode = await main();
