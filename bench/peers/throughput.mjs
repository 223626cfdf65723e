/**
 * Training steps per second of SCL, CoPINet and ResNet here and in Python's PyTorch, on the same device in the
 * same precision, without CUDA graphs and with them.
 *
 *     node bench/peers/throughput.mjs [--device cuda] [--precision bf16] [--python PROGRAM] [--rounds N]
 *         [--steps N] [--only SYSTEM] [--batch N]
 *
 * Reads the built package (dist) and needs nothing but Node and a Python with torch. Ours is the trainer's own
 * step: choosing problems from a pool on the device, loss, gradients, optimiser. throughput_twin.py does the
 * same with the modules of networks.py. Both take turns, in changing order, after a warm-up. Steps per second
 * are medians over the rounds, the ratio (ours to Python's, so more is better) the median of the rounds'
 * ratios. Prints one line of JSON; progress goes to the other stream. Exits with 1 if a ratio is below 0.99,
 * which leaves a hundredth for noise. A CPU has no graphs and is there to try the script.
 */
import { parseArgs } from 'node:util';
import { torchInfo } from '../../dist/torch/index.js';
import { openTraining } from '../model/open-training.mjs';
import { median, startTwin } from '../python-twin.mjs';

const { values: options } = parseArgs({
  options: {
    device: { type: 'string', default: 'cuda' },
    precision: { type: 'string' },
    python: { type: 'string', default: process.env.PYTHON ?? 'python3' },
    rounds: { type: 'string', default: '7' },
    steps: { type: 'string', default: '200' },
    only: { type: 'string' },
    batch: { type: 'string' },
  },
});
const { device } = options;
const isCpu = device === 'cpu';
const precision = options.precision ?? (isCpu ? 'f32' : 'bf16');
const steps = Number(options.steps);
const BAR = 0.99;

/** Each system with the batch of its paper, and SCL, whose batch is larger, with the others' too. */
const SYSTEMS = { scl: [32, 128], copinet: [32], resnet: [32] };

function cases() {
  const modes = isCpu ? ['eager'] : ['eager', 'graph'];
  return Object.entries(SYSTEMS)
    .filter(([system]) => options.only === undefined || system === options.only)
    .flatMap(([system, batches]) =>
      (options.batch === undefined ? batches : [Number(options.batch)]).flatMap((batch) =>
        modes.map((mode) => ({ system, batch, mode })),
      ),
    );
}

const openOurs = ({ system, batch, mode }) =>
  openTraining({
    ...{ system, preset: 'paper', configuration: 'center', batch },
    ...{ device, precision, cudaGraph: mode === 'graph' },
  });

async function measure(one, twin) {
  const ours = await openOurs(one);
  const python = async (count) =>
    (await twin.ask({ ...one, device, precision, steps: count })).seconds;
  const turns = [
    { name: 'ours', run: (count) => ours.seconds(count), rates: [] },
    { name: 'python', run: python, rates: [] },
  ];
  // Ten steps more than a graph needs before it is captured.
  for (const { run } of turns) await run(Math.min(steps, 13));
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const { run, rates } of round % 2 === 0 ? turns : turns.toReversed()) {
      rates.push(steps / (await run(steps)));
    }
  }
  await ours.close();
  const [a, b] = turns.map(({ rates }) => rates);
  const ratio = median(a.map((rate, n) => rate / b[n]));
  const result = { ...one, ours: median(a), python: median(b), ratio };
  console.error(
    `${one.system}, batch ${one.batch}, ${one.mode}: ${result.ours.toFixed(1)} and ${result.python.toFixed(1)} steps/s, ratio ${ratio.toFixed(3)}`,
  );
  return result;
}

const { info, missing } = torchInfo();
if (info === null) throw new Error(missing.message);
const script = new URL('throughput_twin.py', import.meta.url).pathname;
const twin = startTwin({ python: options.python, script, blasLibraries: info.blasLibraries });
const { version } = await twin.ask({ describe: true });
const results = [];
for (const one of cases()) results.push(await measure(one, twin));
twin.end();
console.log(
  JSON.stringify({
    ...{ device: isCpu ? 'cpu' : info.devices[0]?.name, precision },
    ...{ libtorch: info.version, python: version, node: process.version },
    ...{ rounds: Number(options.rounds), steps, results },
  }),
);
process.exitCode = results.every(({ ratio }) => ratio >= BAR) ? 0 : 1;
