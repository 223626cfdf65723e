/**
 * Solving with bundles: time of one matrix with its eight candidates, problems a second in batches, and
 * time from cold to the first answer, beside the same model on libtorch in the same process.
 *
 *     npx tsx bench/solver.ts [--configs center,left-right,grid-3x3] [--problems 200] [--threads 2]
 *                             [--chromium] [--json FILE]
 *
 * Bundles of the zoo are taken where there are any; without, a model of the `crab` preset with random
 * weights is exported, full and compact, whose times are the same but for the ranks of its layers.
 * Bars, for compact bundles on 2 cores: 25 ms a matrix, 70 problems a second, cold below 1 s in Node;
 * 250 ms a matrix in Chromium (wasm, one thread).
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { findLayout, type Configuration } from '../src/matrix/index.js';
import { chooseBatch, generatedSource } from '../src/lab/index.js';
import {
  compactNetworks,
  crabConfig,
  CrabModel,
  networkFiles,
  readNetworks,
  select,
  type CrabConfig,
  type WeightState,
} from '../src/models/index.js';
import { Solver, writeBundle, zooFolder } from '../src/solver/node.js';
import { Generator, isTorchAvailable, scope, setNumThreads, tensor } from '../src/torch/index.js';
import { randomBundle, randomState, TINY_NETWORK } from '../test/solver/random-model.js';
import { chromiumLatency } from './solver-chromium.js';

const { values: options } = parseArgs({
  options: {
    configs: { type: 'string', default: 'center,left-right,grid-3x3' },
    problems: { type: 'string', default: '200' },
    threads: { type: 'string', default: '2' },
    chromium: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});
const problems = Number(options.problems);
const threads = Number(options.threads);
const ROUNDS = 15;
const BARS = { latency: 25, rate: 70, cold: 1000, chromium: 250 };

interface Row {
  readonly model: string;
  readonly concepts: number;
  readonly bytes: number;
  readonly cold: number | null;
  readonly latency: number;
  readonly rate: number;
  readonly chromium: number | null;
}

const median = (times: number[]): number => times.sort((a, b) => a - b)[times.length >> 1];

async function timed(action: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await action();
  return performance.now() - start;
}

async function solverRow(model: string, folder: string): Promise<Row> {
  const started = performance.now();
  const solver = await Solver.load(folder, { threads });
  const { configuration, noisy, sizes, files } = solver.manifest;
  const source = generatedSource({ configuration, noisy, variant: 'raven', seed: 1 }, problems);
  const batch = await source.read(0, problems);
  const one = { ...batch, count: 1 };
  await chooseBatch(solver, one);
  const cold = performance.now() - started;
  const latencies: number[] = [];
  for (let i = 0; i < ROUNDS; i++) latencies.push(await timed(() => chooseBatch(solver, one)));
  const seconds = (await timed(() => chooseBatch(solver, batch))) / 1000;
  await solver.dispose();
  return {
    model,
    concepts: sizes.concepts,
    bytes: Object.values(files).reduce((sum, file) => sum + file.bytes, 0),
    cold,
    latency: median(latencies),
    rate: problems / seconds,
    chromium: options.chromium ? await chromiumLatency(folder) : null,
  };
}

/** The same choices by the model on libtorch, 32 problems at a time. */
async function torchRow(config: CrabConfig, state: WeightState): Promise<Row> {
  setNumThreads(threads);
  const model = new CrabModel(config.network, { generator: new Generator('cpu', 0) });
  const tensors = new Map(model.stateDict());
  scope(() => {
    for (const [name, { data, shape }] of state) {
      tensors.set(name, tensor(data, { dtype: 'f32' }).reshape([...shape]));
    }
    model.loadStateDict(tensors);
  });
  model.eval();
  const { configuration, noisy } = config;
  const source = generatedSource({ configuration, noisy, variant: 'raven', seed: 1 }, problems);
  const solve = async (first: number, count: number): Promise<void> => {
    const { panel, selection } = await source.read(first, count);
    scope(() => {
      const pixels = (bytes: Uint8Array, panels: number) =>
        tensor(bytes, { dtype: 'u8' })
          .reshape([count, panels, 64, 64])
          .to({ dtype: 'f32' })
          .div(255);
      select(model, pixels(panel, 9), pixels(selection, 8));
    });
  };
  await solve(0, 1);
  const latencies: number[] = [];
  for (let i = 0; i < ROUNDS; i++) latencies.push(await timed(() => solve(0, 1)));
  const seconds = await timed(async () => {
    for (let first = 0; first < problems; first += 32)
      await solve(first, Math.min(32, problems - first));
  });
  model.dispose();
  const rate = (1000 * problems) / seconds;
  return {
    model: 'libtorch',
    concepts: config.network.concepts,
    bytes: 0,
    cold: null,
    latency: median(latencies),
    rate,
    chromium: null,
  };
}

/** Networks of no size: only the manifest is wanted of their bundle. */
const SMALLEST = {
  ...TINY_NETWORK,
  encoder: [1, 1, 1, 1, 1],
  pairFeatures: 1,
  relationHidden: [1],
} as const;

const sizesOf = ({ network }: CrabConfig) => ({
  concepts: network.concepts,
  conceptSize: network.conceptSize,
  ruleSize: network.ruleSize,
});

/** Full and compact bundles of a model with random weights. */
async function randomRows(configuration: Configuration, folder: string): Promise<Row[]> {
  const config = crabConfig('crab', configuration);
  const state = randomState(config.network);
  const rows = isTorchAvailable() ? [await torchRow(config, state)] : [];
  const networks = readNetworks(config.network, state);
  const { manifest } = randomBundle(
    crabConfig('crab', configuration, { overrides: { network: SMALLEST } }),
  );
  const sized = { ...manifest, sizes: sizesOf(config) };
  for (const compact of [true, false]) {
    const chosen = compact
      ? await compactNetworks(networks, { configuration, noisy: false, problems: 256 })
      : networks;
    const files = networkFiles(chosen, compact ? 'int8' : 'f32');
    const place = path.join(folder, `${configuration}${compact ? '-compact' : ''}`);
    await writeBundle(
      place,
      { ...sized, compact, weights: compact ? 'int8' : 'f32' },
      new Map([
        ['encoder.onnx', files.encoder],
        ['reasoner.onnx', files.reasoner],
        ['decoder.onnx', files.decoder],
      ]),
    );
    rows.push(await solverRow(`${configuration}, random, ${compact ? 'compact' : 'f32'}`, place));
    rmSync(place, { recursive: true, force: true });
  }
  return rows;
}

const whole = (value: number | null): string => (value === null ? '–' : value.toFixed(0));
const folder = mkdtempSync(path.join(tmpdir(), 'crab-bench-'));
const rows: Row[] = [];
let met = true;
try {
  console.log('| model | M | MB | cold ms | one matrix ms | problems/s | Chromium ms |');
  console.log('|---|---|---|---|---|---|---|');
  for (const name of options.configs.split(',')) {
    const { configuration } = findLayout(name);
    const published = path.join(zooFolder(), name);
    const found = existsSync(path.join(published, 'bundle.json'))
      ? [await solverRow(`${name}, zoo`, published)]
      : await randomRows(configuration, folder);
    for (const row of found) {
      const { model, concepts, bytes, cold, latency, rate, chromium } = row;
      const size = bytes === 0 ? '–' : (bytes / 1e6).toFixed(1);
      console.log(
        `| ${model} | ${concepts} | ${size} | ${whole(cold)} | ${latency.toFixed(1)} | ${whole(rate)} | ${whole(chromium)} |`,
      );
      const barred = /zoo|compact/.test(model);
      met &&=
        !barred ||
        (latency <= BARS.latency &&
          rate >= BARS.rate &&
          (cold ?? 0) <= BARS.cold &&
          (chromium ?? 0) <= BARS.chromium);
    }
    rows.push(...found);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(rows, null, 2));
process.exitCode = met ? 0 : 1;
