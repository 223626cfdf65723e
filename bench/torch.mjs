/**
 * Times `crab-raven/torch` beside Python's PyTorch of the same version: a tiny operation, an MLP, and
 * CRAB's encoder and decoder (the paper's Appendix C), forward and backward, and RMSprop on the encoder.
 *
 *     node bench/torch.mjs [--json FILE] [--python PROGRAM] [--rounds N] [--only NAME] [--no-cuda]
 *
 * Reads the built package (dist) and needs nothing but Node and a Python with torch. Both sides run
 * the same step; they take turns, in changing order, so that a slow moment of the machine hits both.
 * Each figure is the median over the rounds; the ratio is the median of the rounds' ratios, by the clock
 * and by the processes' own time, which says more on a busy machine. Prints a Markdown table; exits with
 * 1 if a bar is missed (by the clock).
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { median, startTwin } from './python-twin.mjs';
import { stepOf, runtime } from './torch-steps.mjs';

const { values: options } = parseArgs({
  options: {
    json: { type: 'string' },
    python: { type: 'string', default: process.env.PYTHON ?? 'python3' },
    rounds: { type: 'string', default: '15' },
    only: { type: 'string' },
    'no-cuda': { type: 'boolean', default: false },
  },
});

/**
 * Largest allowed ratio of our time to Python's. On CUDA the bar is 1; a hundredth is left for noise, since
 * a captured graph of the same kernels takes the same time on both sides.
 */
const bars = { cpu: 1.05, eager: 1.01, graph: 1.01 };

/** About this much work per measurement, so that timer and scheduler do not matter. */
const targetSeconds = 0.15;

function cases(hasCuda) {
  const list = [];
  for (const threads of [1, 2]) {
    const cpu = { device: 'cpu', mode: 'eager', threads };
    if (threads === 1) list.push({ name: 'tiny', batch: 1, ...cpu });
    list.push({ name: 'mlp', batch: 64, ...cpu });
    list.push({ name: 'encoder', batch: 36, ...cpu });
    list.push({ name: 'decoder', batch: 36, ...cpu });
    list.push({ name: 'rmsprop', batch: 1, ...cpu });
  }
  if (hasCuda && !options['no-cuda']) {
    for (const mode of ['eager', 'graph']) {
      const cuda = { device: 'cuda', mode, threads: 1 };
      if (mode === 'eager') list.push({ name: 'tiny', batch: 1, ...cuda });
      list.push({ name: 'mlp', batch: 64, ...cuda });
      list.push({ name: 'encoder', batch: 576, ...cuda });
      list.push({ name: 'decoder', batch: 576, ...cuda });
      list.push({ name: 'rmsprop', batch: 1, ...cuda });
    }
  }
  return list.filter(({ name }) => options.only === undefined || name === options.only);
}

function measureOurs(bench, iterations) {
  runtime.setThreads(bench.threads);
  const step = stepOf(bench);
  runtime.synchronize(bench.device);
  const start = process.hrtime.bigint();
  const before = process.cpuUsage();
  for (let i = 0; i < iterations; i += 1) step();
  runtime.synchronize(bench.device);
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  const { user, system } = process.cpuUsage(before);
  return { seconds, cpu: (user + system) / 1e6 };
}

async function run(bench, twin) {
  const request = {
    case: bench.name,
    batch: bench.batch,
    device: bench.device,
    mode: bench.mode,
    threads: bench.threads,
  };
  const python = (iterations) => twin.ask({ ...request, iterations });
  await python(2);
  measureOurs(bench, 2);
  const once = Math.min((await python(3)).seconds, measureOurs(bench, 3).seconds) / 3;
  const iterations = Math.max(1, Math.min(5000, Math.round(targetSeconds / once)));
  const rounds = Number(options.rounds);
  const ours = [];
  const theirs = [];
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) {
      theirs.push(await python(iterations));
      ours.push(measureOurs(bench, iterations));
    } else {
      ours.push(measureOurs(bench, iterations));
      theirs.push(await python(iterations));
    }
  }
  const bar = bench.device === 'cpu' ? bars.cpu : bars[bench.mode];
  const perStep = (times) => median(times.map(({ seconds }) => seconds / iterations));
  return {
    ...bench,
    ours: perStep(ours),
    python: perStep(theirs),
    ratio: median(ours.map(({ seconds }, i) => seconds / theirs[i].seconds)),
    cpuRatio: median(ours.map(({ cpu }, i) => cpu / theirs[i].cpu)),
    bar,
    rounds,
    iterations,
  };
}

function duration(seconds) {
  if (seconds < 1e-3) return `${(seconds * 1e6).toFixed(1)} µs`;
  return `${(seconds * 1e3).toFixed(2)} ms`;
}

function row({ name, batch, device, mode, threads, ours, python, ratio, cpuRatio, bar }) {
  const where =
    device === 'cpu' ? `CPU, ${threads} thread${threads > 1 ? 's' : ''}` : `CUDA, ${mode}`;
  // The tiny step is 100 additions; the overhead is told per addition.
  const scale = name === 'tiny' ? 100 : 1;
  const verdict = name === 'tiny' ? '' : ratio <= bar ? 'met' : 'missed';
  return `| ${name} (${batch}) | ${where} | ${duration(ours / scale)} | ${duration(python / scale)} | ${ratio.toFixed(3)} | ${cpuRatio.toFixed(3)} | ${verdict} |`;
}

async function main() {
  const info = runtime.describe();
  const script = new URL('./torch_twin.py', import.meta.url).pathname;
  const twin = startTwin({ ...info, python: options.python, script });
  const { version, cuda } = await twin.ask({ describe: true });
  console.log(`libtorch ${info.version}, Node ${process.version}; Python's PyTorch ${version}`);
  console.log(`BLAS: ${info.blas}`);
  if (info.cuda !== null) console.log(`GPU: ${info.cuda}`);
  console.log(
    '\n| step (batch) | on | ours | Python | ratio | of processor time | bar |\n|---|---|---|---|---|---|---|',
  );
  const results = [];
  for (const bench of cases(cuda !== null && info.cuda !== null)) {
    const result = await run(bench, twin);
    results.push(result);
    console.log(row(result));
  }
  twin.end();
  const missed = results.filter(({ name, ratio, bar }) => name !== 'tiny' && ratio > bar);
  console.log(missed.length === 0 ? '\nAll bars met.' : `\n${missed.length} bars missed.`);
  if (options.json !== undefined) {
    const report = { libtorch: info, python: version, node: process.version, results };
    writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
  }
  process.exitCode = missed.length === 0 ? 0 : 1;
}

await main();
