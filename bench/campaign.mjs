/**
 * Trains, measures and exports many models on one GPU, several at a time.
 *
 *   node bench/campaign.mjs PLAN.json --out DIR [--at-once 6] [--seconds 1500] [--device cuda] [--only WORDS]
 *
 * A plan is a list of groups, each of which stands for several trainings, in the order in which they start:
 *
 *   { "systems": ["scl"], "presets": ["paper"], "configurations": ["center", …] or "all",
 *     "tag": "context-blind" (optional), "train": [flags of crab train],
 *     "evaluate": [flags of crab evaluate], "export": [flags of crab export] (optional),
 *     "pictures": [flags of crab report --pictures] (optional) }
 *
 * For each training DIR gets NAME.json (what crab evaluate --measured writes), NAME.tar (the bundle, if it is
 * exported), NAME.answers.json (what it paints, for crab report --pictures) and logs/NAME.log. The run itself
 * is deleted once its results are there. When the seconds are over, trainings stop as on Ctrl-C and are
 * measured as they are; those that have not begun are left out. Needs the built package (`npm run build`).
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { CONFIGURATIONS } from '../dist/matrix/index.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string' },
    'at-once': { type: 'string', default: '6' },
    seconds: { type: 'string', default: '1500' },
    device: { type: 'string', default: 'cuda' },
    only: { type: 'string' },
  },
});
if (positionals.length !== 1 || values.out === undefined) {
  console.error('usage: node bench/campaign.mjs PLAN.json --out DIR');
  process.exit(2);
}
const out = path.resolve(values.out);
const runs = path.join(out, 'runs');
const main = new URL('../dist/cli/main.js', import.meta.url).pathname;
const started = Date.now();
const seconds = () => (Date.now() - started) / 1000;
const deadline = Number(values.seconds);

/** The trainings that a group stands for. */
function trainingsOf({ systems, presets, configurations, tag, ...steps }) {
  const wanted = configurations === 'all' ? CONFIGURATIONS : configurations;
  return systems.flatMap((system) =>
    presets.flatMap((preset) =>
      wanted.map((config) => ({
        name: [system, preset, config, tag].filter(Boolean).join('-'),
        flags: ['--system', system, '--preset', preset, '--config', config],
        ...steps,
      })),
    ),
  );
}

const plan = JSON.parse(readFileSync(positionals[0], 'utf8')).flatMap(trainingsOf);
const words = values.only?.split(',') ?? [''];
const waiting = plan.filter(({ name }) => words.some((word) => name.includes(word)));
const planned = waiting.length;
const failed = [];
let done = 0;
/** Each process that trains, with the most others that trained beside it. */
const training = new Map();
const finishing = [];

/** Runs the command with its output in a log; resolves with its exit code. */
function crab(args, log, note) {
  return new Promise((resolve) => {
    // One thread for each operation: several trainings share the processor.
    const env = { ...process.env, OMP_NUM_THREADS: '1', MKL_NUM_THREADS: '1' };
    const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', log, log], env });
    note?.(child);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

/** Trains one; what follows does not keep the next training waiting. */
async function carryOut({ name, flags, train, evaluate = [], export: exported, pictures }) {
  const log = openSync(path.join(out, 'logs', `${name}.log`), 'w');
  const run = path.join(runs, name);
  const bundle = path.join(runs, `${name}-bundle`);
  const device = ['--device', values.device];
  const begun = seconds();
  let beside = 0;
  const times = [];
  const step = async (what, args, note) => {
    const from = seconds();
    const code = await crab([what, ...args, '--quiet'], log, note);
    times.push(`${what} ${(seconds() - from).toFixed(0)} s${code === 0 ? '' : ` (exit ${code})`}`);
    return code;
  };
  const measure = async () => {
    const measured = ['--measured', path.join(out, `${name}.json`), '--beside', `${beside}`];
    return (await step('evaluate', ['--model', run, ...device, ...evaluate, ...measured])) === 0;
  };
  const bundled = async () => {
    if (exported === undefined) return true;
    if ((await step('export', [run, '--out', bundle, ...exported])) !== 0) return false;
    execFileSync('tar', ['-cf', path.join(out, `${name}.tar`), '-C', bundle, '.']);
    return true;
  };
  const painted = async () => {
    if (pictures === undefined) return true;
    const saved = ['--save', path.join(out, `${name}.answers.json`)];
    return (await step('report', ['--pictures', run, ...saved, ...device, ...pictures])) === 0;
  };
  const finish = async (code) => {
    // 130: stopped at the deadline, with what it has learned saved.
    const trained = code === 0 || code === 130;
    const results = trained ? await Promise.all([measure(), bundled(), painted()]) : [false];
    for (const folder of [run, bundle]) rmSync(folder, { recursive: true, force: true });
    if (results.includes(false)) failed.push(name);
    done++;
    const from = `begun at ${begun.toFixed(0)} s beside ${beside}`;
    console.log(
      `${seconds().toFixed(0)} s: ${done} of ${planned}, ${name} (${from}): ${times.join(', ')}`,
    );
  };
  let child;
  const code = await step('train', [...flags, ...device, ...train, '--out', run], (process_) => {
    child = process_;
    training.set(child, 0);
    for (const [each, most] of training) training.set(each, Math.max(most, training.size - 1));
  });
  beside = training.get(child);
  training.delete(child);
  finishing.push(finish(code));
}

async function lane() {
  while (waiting.length > 0 && seconds() < deadline) await carryOut(waiting.shift());
}

mkdirSync(path.join(out, 'logs'), { recursive: true });
const stop = setTimeout(() => {
  for (const child of training.keys()) child.kill('SIGINT');
}, deadline * 1000);
await Promise.all(Array.from({ length: Number(values['at-once']) }, lane));
clearTimeout(stop);
await Promise.all(finishing);
const left = waiting.length > 0 ? `, ${waiting.length} left out` : '';
console.log(`${done} of ${planned} in ${seconds().toFixed(0)} s on ${os.hostname()}${left}`);
if (failed.length > 0) console.log(`failed: ${failed.join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
