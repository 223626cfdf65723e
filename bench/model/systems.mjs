/**
 * Time of a training step of CRAB and of the other systems that answer anywhere, as `crab train` does it.
 *
 *     node bench/model/systems.mjs [--device cuda] [--config center] [--preset ours] [--batch 512]
 *                                  [--steps 1000] [--rounds 3] [--systems crab,transformer,anp,lgpp,clap-np]
 *
 * Reads the built package. Systems take turns: each round trains every one of them anew on the same stored
 * problems. What counts are the last four tenths of the steps, in which CRAB's rule prior is active. `ours`
 * compares with CRAB's preset `crab`, `paper` with its `paper`. Prints one line of JSON: milliseconds a step,
 * the median over all tenths with the least and the most, and the ratio to CRAB's median.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemNamed } from '../../dist/models/index.js';
import { openRun, train } from '../../dist/training/index.js';

const { values } = parseArgs({
  options: {
    device: { type: 'string', default: 'cpu' },
    config: { type: 'string', default: 'center' },
    preset: { type: 'string', default: 'ours' },
    batch: { type: 'string', default: '512' },
    steps: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
    problems: { type: 'string', default: '2048' },
    systems: { type: 'string', default: 'crab,transformer,anp,lgpp,clap-np' },
  },
});
const [batchSize, steps, rounds, pool] = [
  values.batch,
  values.steps,
  values.rounds,
  values.problems,
].map(Number);
const systems = values.systems.split(',');
const TENTHS = 10;
const COUNTED = 4;

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
const rounded = (milliseconds) => Number(milliseconds.toFixed(3));

/** Milliseconds a step in each of the last tenths of a short training. */
async function timesOf(name, out) {
  const preset = name === 'crab' && values.preset === 'ours' ? 'crab' : values.preset;
  const model = systemNamed(name).config(preset, values.config, {
    overrides: { optimizer: { batchSize } },
  });
  await train({
    out,
    system: name,
    model,
    budget: { kind: 'steps', steps },
    seed: 1,
    pool,
    refresh: 0,
    device: values.device,
    logEvery: Math.max(1, Math.floor(steps / TENTHS)),
    validation: { every: 10 * steps, problems: 8 },
    checkpoints: { seconds: 1e6, steps: null },
    snapshots: { problems: 0, moments: [] },
  });
  const lines = (await (await openRun(out)).metrics()).filter(({ kind }) => kind === 'train');
  return lines.slice(-COUNTED).map(({ wall }) => (1000 * batchSize) / wall.problemsPerSecond);
}

const folder = mkdtempSync(join(tmpdir(), 'crab-bench-'));
const times = new Map(systems.map((name) => [name, []]));
try {
  for (let round = 0; round < rounds; round++) {
    for (const name of systems) {
      times.get(name).push(...(await timesOf(name, join(folder, `${name}-${round}`))));
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const beside = times.has('crab') ? median(times.get('crab')) : null;
const { device, config, preset } = values;
console.log(
  JSON.stringify({
    device,
    config,
    preset,
    batchSize,
    steps,
    rounds,
    milliseconds: Object.fromEntries(
      [...times].map(([name, list]) => [
        name,
        {
          median: rounded(median(list)),
          least: rounded(Math.min(...list)),
          most: rounded(Math.max(...list)),
          toCrab: beside && rounded(median(list) / beside),
        },
      ]),
    ),
  }),
);
