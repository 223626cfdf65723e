/**
 * Solving with bundles: time of one matrix with its eight candidates, problems a second in batches, and
 * time from cold to the first answer, beside a model of the same sizes on libtorch in the same process.
 *
 *     npx tsx bench/solver.ts [--configs center,left-right,grid-3x3] [--problems 200] [--threads 2]
 *                             [--chromium] [--json FILE] [--without-vocabulary]
 *
 * Bundles of the zoo are taken where there are any; without, a model of the `crab` preset with random
 * weights is exported, full and compact, whose times are the same but for the ranks of its layers.
 * --without-vocabulary also times each bundle of the zoo without its vocabulary, which then paints means.
 * Bars, for compact bundles on 2 cores, medians: 25 ms a matrix, 70 problems a second, cold below 1 s in
 * Node; 250 ms a matrix in Chromium (wasm, one thread). The best of all rounds is shown too: where other
 * work shares the machine it is the better measure of the program.
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { findLayout, type Configuration } from '../src/matrix/index.js';
import { crabConfig } from '../src/models/index.js';
import { MANIFEST_FILE, parseManifest, Solver, zooFolder } from '../src/solver/node.js';
import { isTorchAvailable } from '../src/torch/index.js';
import { chromiumLatency } from './solver-chromium.js';
import {
  bySolver,
  byTorch,
  drawProblems,
  torchModel,
  writeRandomBundle,
  type Chooser,
  type DrawnProblem,
} from './solver-models.js';

const { values: options } = parseArgs({
  options: {
    configs: { type: 'string', default: 'center,left-right,grid-3x3' },
    problems: { type: 'string', default: '200' },
    threads: { type: 'string', default: '2' },
    chromium: { type: 'boolean', default: false },
    json: { type: 'string' },
    'without-vocabulary': { type: 'boolean', default: false },
  },
});
const problems = Number(options.problems);
const threads = Number(options.threads);
const ROUNDS = 31;
const VOCABULARY_FILE = 'vocabulary.safetensors';
const BATCH = 32;
const BARS = { latency: 25, rate: 70, cold: 1000, chromium: 250 };

/** Milliseconds, or problems a second. */
interface Measured {
  readonly median: number;
  readonly best: number;
}

interface Row {
  readonly model: string;
  readonly concepts: number;
  readonly bytes: number | null;
  readonly cold: number | null;
  readonly latency: Measured;
  readonly rate: Measured;
  readonly chromium: number | null;
  /** Processes that wanted to run meanwhile, by the system. */
  readonly load: number;
}

async function timed(action: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await action();
  return performance.now() - start;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1];

/** One problem again and again, then all of them in batches. */
async function measure(
  choose: Chooser,
  drawn: readonly DrawnProblem[],
): Promise<Pick<Row, 'latency' | 'rate' | 'load'>> {
  const latencies: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    latencies.push(await timed(() => choose([drawn[i % drawn.length]])));
  }
  const rates: number[] = [];
  for (let first = 0; first < drawn.length; first += BATCH) {
    const batch = drawn.slice(first, first + BATCH);
    rates.push((1000 * batch.length) / (await timed(() => choose(batch))));
  }
  return {
    latency: { median: median(latencies), best: Math.min(...latencies) },
    rate: { median: median(rates), best: Math.max(...rates) },
    load: loadavg()[0],
  };
}

async function solverRow(model: string, folder: string): Promise<Row> {
  const manifest = parseManifest(new Uint8Array(readFileSync(path.join(folder, MANIFEST_FILE))));
  const drawn = drawProblems(manifest, problems);
  const started = performance.now();
  const solver = await Solver.load(folder, { threads });
  const choose = bySolver(solver);
  await choose(drawn.slice(0, 1));
  const cold = performance.now() - started;
  const measured = await measure(choose, drawn);
  const { sizes, files } = solver.manifest;
  await solver.dispose();
  return {
    model,
    concepts: sizes.concepts,
    bytes: Object.values(files).reduce((sum, file) => sum + file.bytes, 0),
    cold,
    ...measured,
    chromium: options.chromium ? await chromiumLatency(folder) : null,
  };
}

async function torchRow(configuration: Configuration): Promise<Row> {
  const config = crabConfig('crab', configuration);
  const model = torchModel(config, threads);
  const choose = byTorch(model);
  const drawn = drawProblems(config, problems);
  await choose(drawn.slice(0, 1));
  const measured = await measure(choose, drawn);
  model.dispose();
  const { concepts } = config.network;
  return { model: 'libtorch', concepts, bytes: null, cold: null, ...measured, chromium: null };
}

/** A copy of a bundle without its vocabulary, in a new folder. */
function withoutVocabulary(bundle: string, folder: string): string {
  const copy = mkdtempSync(path.join(folder, 'means-'));
  cpSync(bundle, copy, { recursive: true });
  rmSync(path.join(copy, VOCABULARY_FILE));
  const place = path.join(copy, MANIFEST_FILE);
  const manifest = JSON.parse(readFileSync(place, 'utf8')) as { files: Record<string, unknown> };
  const { [VOCABULARY_FILE]: _, ...files } = manifest.files;
  writeFileSync(place, JSON.stringify({ ...manifest, files }));
  return copy;
}

async function rowsOf(name: string, folder: string): Promise<Row[]> {
  const { configuration } = findLayout(name);
  const rows = isTorchAvailable() ? [await torchRow(configuration)] : [];
  const published = path.join(zooFolder(), name);
  if (existsSync(path.join(published, MANIFEST_FILE))) {
    rows.push(await solverRow(`${name}, zoo`, published));
    if (options['without-vocabulary']) {
      rows.push(
        await solverRow(`${name} without its vocabulary`, withoutVocabulary(published, folder)),
      );
    }
    return rows;
  }
  for (const compact of [true, false]) {
    const place = await writeRandomBundle(configuration, compact, folder);
    rows.push(await solverRow(`${name}, random, ${compact ? 'compact' : 'f32'}`, place));
    rmSync(place, { recursive: true, force: true });
  }
  return rows;
}

const meetsBars = ({ model, latency, rate, cold, chromium }: Row): boolean =>
  !/zoo|compact/.test(model) ||
  (latency.median <= BARS.latency &&
    rate.median >= BARS.rate &&
    (cold ?? 0) <= BARS.cold &&
    (chromium ?? 0) <= BARS.chromium);

const number = (value: number | null, digits = 0): string => value?.toFixed(digits) ?? '–';

function line({ model, concepts, bytes, cold, latency, rate, chromium, load }: Row): string {
  const cells = [
    model,
    String(concepts),
    bytes === null ? '–' : number(bytes / 1e6, 1),
    number(cold),
    `${number(latency.median, 1)} (${number(latency.best, 1)})`,
    `${number(rate.median)} (${number(rate.best)})`,
    number(chromium),
    number(load, 1),
  ];
  return `| ${cells.join(' | ')} |`;
}

const folder = mkdtempSync(path.join(tmpdir(), 'crab-bench-'));
const rows: Row[] = [];
try {
  console.log(
    '| model | M | MB | cold ms | one matrix ms, median (best) | problems/s, median (best) | Chromium ms | load |',
  );
  console.log('|---|---|---|---|---|---|---|---|');
  for (const name of options.configs.split(',')) {
    const found = await rowsOf(name, folder);
    for (const row of found) console.log(line(row));
    rows.push(...found);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(rows, null, 2));
process.exitCode = rows.every(meetsBars) ? 0 : 1;
