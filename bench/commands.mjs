/**
 * How long the command line takes: `crab --help`, and `crab solve` of a picture, each in fresh processes
 * after one that is not counted. Wall time as a person waits, and processor time of all threads, which
 * other work on the machine hardly changes.
 *
 *     node bench/commands.mjs [--runs 15] [--json FILE]
 *
 * Needs `npm run build`. Bars, medians of wall time on 2 cores with nothing else running: 0.25 s for the
 * help, 1.2 s to solve a picture.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const root = path.resolve(import.meta.dirname, '..');
const { values: options } = parseArgs({
  options: { runs: { type: 'string', default: '15' }, json: { type: 'string' } },
});

const COMMANDS = [
  { name: 'crab --help', bar: 0.25, args: ['--help'] },
  {
    name: 'crab solve',
    bar: 1.2,
    args: ['solve', 'docs/images/matrix.png', '--model', 'grid-3x3'],
  },
];

/** Has the process write the microseconds it computed to its fourth stream when it ends. */
const METER = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from 'node:fs';
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    writeSync(3, String(user + system));
  });`)}`;

function once(args) {
  const start = performance.now();
  const { status, output } = spawnSync(
    process.execPath,
    ['--import', METER, 'dist/cli/main.js', ...args],
    { cwd: root, stdio: ['ignore', 'ignore', 'inherit', 'pipe'], encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`crab ${args.join(' ')} ended with ${status}`);
  return { wall: (performance.now() - start) / 1e3, processor: Number(output[3]) / 1e6 };
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

function measure({ name, bar, args }) {
  once(args);
  const runs = Array.from({ length: Number(options.runs) }, () => once(args));
  const wall = runs.map((run) => run.wall);
  const processor = runs.map((run) => run.processor);
  return { name, bar, wall: median(wall), best: Math.min(...wall), processor: median(processor) };
}

const results = COMMANDS.map(measure);
const seconds = (value) => `${value.toFixed(2)} s`;
console.log(`${options.runs} runs, load ${loadavg()[0].toFixed(1)}\n`);
console.log('| | bar | wall, median (best) | processor, median |\n|---|---|---|---|');
for (const { name, bar, wall, best, processor } of results) {
  console.log(
    `| \`${name}\` | ${seconds(bar)} | ${seconds(wall)} (${seconds(best)}) | ${seconds(processor)} |`,
  );
}
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(results)}\n`);
process.exitCode = results.every(({ wall, bar }) => wall <= bar) ? 0 : 1;
