/**
 * `crab generate` from the user's chair: problems a second, start-up included, for files of several formats.
 *
 *     npm run build && node bench/generate-files.mjs [--out FOLDER] [--against DIST] [--rounds 3] [--count 6000] [--only npz]
 *
 * Every round makes everything once, and with `--against` (the `dist` folder of another version) first with
 * that one, so that a busy machine disturbs both alike. Processor time of all threads stands beside the
 * clock. Prints a Markdown table of medians.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const CONFIGURATIONS =
  'center left-right up-down out-in-center out-in-grid grid-2x2 grid-3x3'.split(' ');
const { values: options } = parseArgs({
  options: {
    out: { type: 'string', default: tmpdir() },
    against: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    count: { type: 'string', default: '6000' },
    only: { type: 'string' },
  },
});
const count = Number(options.count);
const few = Math.max(1, Math.round(count / 30));

/** What is made: a name, how many problems, and the arguments. */
const works = [
  ...CONFIGURATIONS.map((name) => ['npz', name, count, ['--format', 'npz']]),
  ['raven', 'center', Math.round(count / 4), []],
  ['raven --compress', 'center', Math.round(count / 4), ['--compress']],
  ['png', 'grid-3x3', few, ['--format', 'png']],
  ['vlm', 'grid-3x3', few, ['--format', 'vlm']],
  ['parquet', 'center', Math.round(count / 4), ['--format', 'parquet']],
].filter(([format]) => options.only === undefined || format === options.only);

const current = fileURLToPath(new URL('../dist', import.meta.url));
const versions = [...(options.against ? [['before', options.against]] : []), ['now', current]];

/** Seconds on the clock and of the processor; undefined if that version cannot do it. */
function measure(dist, configuration, problems, args, folder) {
  const out = path.join(folder, args.includes('npz') ? 'set.npz' : 'files');
  const command = [process.execPath, path.join(dist, 'cli/main.js'), 'generate', '--quiet'];
  command.push('--config', configuration, '--variant', 'i-raven', '--count', String(problems));
  command.push('--out', out, ...args);
  const { status, stderr } = spawnSync(
    'bash',
    ['-c', 'TIMEFORMAT=\'%R %U %S\'; time "$@" > /dev/null', 'bash', ...command],
    { encoding: 'utf8' },
  );
  rmSync(out, { recursive: true, force: true });
  if (status !== 0) return undefined;
  const [clock, user, system] = stderr.trim().split('\n').at(-1).split(' ').map(Number);
  return { clock, processor: user + system };
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

const folder = mkdtempSync(path.join(options.out, 'crab-bench-'));
try {
  console.log('| format | configuration | problems | version | s | processor s | problems/s |');
  console.log('|---|---|---|---|---|---|---|');
  for (const [format, configuration, problems, args] of works) {
    const found = new Map(versions.map(([name]) => [name, []]));
    for (let round = 0; round < Number(options.rounds); round++) {
      for (const [name, dist] of versions) {
        const measured = measure(dist, configuration, problems, args, folder);
        if (measured) found.get(name).push(measured);
      }
    }
    for (const [name, rounds] of found) {
      if (rounds.length === 0) continue;
      const clock = median(rounds.map((round) => round.clock));
      const processor = median(rounds.map((round) => round.processor));
      const rate = Math.round(problems / clock);
      console.log(
        `| ${format} | ${configuration} | ${problems} | ${name} | ${clock.toFixed(2)} | ${processor.toFixed(2)} | ${rate} |`,
      );
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
