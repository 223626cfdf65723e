/**
 * Trains, measures and exports many models on one GPU, several at a time.
 *
 *   node bench/campaign.mjs PLAN.json... --out DIR [--at-once 6] [--seconds 1500] [--device cuda]
 *        [--only WORDS] [--all] [--finish 90] [--parts MEGABYTES]
 *
 * `campaign-plan.mjs` says what a plan is, CONTRIBUTING.md in which order ours are carried out. For each training
 * DIR gets, as soon as it is measured, NAME.json (what crab evaluate --measured writes), NAME.tar (the bundle, if
 * it is exported), NAME.answers.json (what it paints, for crab report --pictures) and logs/NAME.log. The run is
 * deleted then. If something failed or time was over, it stays in DIR/runs, and the same command goes on with
 * it; what is done is not done again.
 *
 * Seconds are those of the whole campaign. Trainings that they leave no time for are left out, by the seconds
 * that the plan expects (--all starts them too); the longest begin first. `--finish` seconds before the end
 * those that still train stop as on Ctrl-C and are measured as they are; their file tells that they were cut
 * short. With --parts all results are also in DIR/parts/1.tar, 2.tar and so on, of at most so many megabytes, at
 * any moment: for machines that give back only a few files. Needs the built package (`npm run build`).
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { argumentsOf } from '../scripts/arguments.mjs';
import { admitted, trainingsOf } from './campaign-plan.mjs';

const { values, positionals } = argumentsOf({
  allowPositionals: true,
  options: {
    out: { type: 'string' },
    'at-once': { type: 'string', default: '6' },
    seconds: { type: 'string', default: '1500' },
    finish: { type: 'string', default: '90' },
    device: { type: 'string', default: 'cuda' },
    only: { type: 'string' },
    all: { type: 'boolean', default: false },
    parts: { type: 'string' },
  },
});
if (positionals.length === 0 || values.out === undefined) {
  console.error('usage: node bench/campaign.mjs PLAN.json... --out DIR');
  process.exit(2);
}
for (const name of ['at-once', 'seconds', 'finish']) {
  if (Number(values[name]) >= (name === 'at-once' ? 1 : 0)) continue;
  console.error(`--${name} ${values[name]}: expected a number`);
  process.exit(2);
}
const out = path.resolve(values.out);
const runs = path.join(out, 'runs');
const main = new URL('../dist/cli/main.js', import.meta.url).pathname;
const started = Date.now();
const seconds = () => (Date.now() - started) / 1000;
/** When trainings stop, so that the last are measured in time. */
const deadline = Math.max(0, Number(values.seconds) - Number(values.finish));

/** The trainings of all plans named; ends with one sentence if they are wrong. */
function readPlans() {
  try {
    return trainingsOf(positionals.flatMap((file) => JSON.parse(readFileSync(file, 'utf8'))));
  } catch (error) {
    console.error(`${positionals.join(', ')}: ${error.message}`);
    process.exit(2);
  }
}

const plan = readPlans();
const words = values.only?.split(',') ?? [''];
const wanted = plan.filter(({ name }) => words.some((word) => name.includes(word)));
if (wanted.length === 0) {
  console.error(`--only ${values.only}: no training of the plan has such a name`);
  process.exit(2);
}
/** Whether its results are there and nothing is left to do. */
const isDone = ({ name }) =>
  existsSync(path.join(out, `${name}.json`)) && !existsSync(path.join(runs, name));
const waiting = admitted(
  wanted.filter((each) => !isDone(each)),
  values.all ? Infinity : deadline,
);
const planned = waiting.length;
const late = wanted
  .filter((each) => !isDone(each) && !waiting.includes(each))
  .map(({ name }) => name);
const failed = [];
const cut = [];
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

let part = 1;
/** Adds files to the newest part, or to a new one if they would make that too large. */
function keepInPart(files) {
  if (values.parts === undefined) return;
  const file = () => path.join(out, 'parts', `${part}.tar`);
  const size = (name) => (existsSync(name) ? statSync(name).size : 0);
  const more = files.reduce((sum, name) => sum + size(path.join(out, name)), 0);
  if (size(file()) > 0 && size(file()) + more > Number(values.parts) * 1e6) part++;
  execFileSync('tar', ['-rf', file(), '-C', out, ...files]);
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
  /** Each gives the names of the files that it made; none if it failed. */
  const measure = async () => {
    const measured = ['--measured', path.join(out, `${name}.json`), '--beside', `${beside}`];
    const answers = pictures ? ['--answers', path.join(out, `${name}.answers.json`)] : [];
    const asked = ['--model', run, ...device, ...evaluate, ...measured, ...answers];
    if ((await step('evaluate', asked)) !== 0) return [];
    return [`${name}.json`, ...(pictures ? [`${name}.answers.json`] : [])];
  };
  const bundled = async () => {
    if ((await step('export', [run, '--out', bundle, ...exported])) !== 0) return [];
    execFileSync('tar', ['-cf', path.join(out, `${name}.tar`), '-C', bundle, '.']);
    return [`${name}.tar`];
  };
  const finish = async (code) => {
    // 130: stopped at the deadline, with what it has learned saved.
    const trained = code === 0 || code === 130;
    if (code === 130) cut.push(name);
    const work = exported ? [measure, bundled] : [measure];
    const made = trained ? await Promise.all(work.map((each) => each())) : [[]];
    keepInPart([...made.flat(), path.join('logs', `${name}.log`)]);
    rmSync(bundle, { recursive: true, force: true });
    if (made.some((files) => files.length === 0)) failed.push(name);
    else if (code === 0) rmSync(run, { recursive: true, force: true });
    done++;
    const from = `begun at ${begun.toFixed(0)} s beside ${beside}`;
    console.log(
      `${seconds().toFixed(0)} s: ${done} of ${planned}, ${name} (${from}): ${times.join(', ')}`,
    );
  };
  let child;
  const asked = [...flags, ...device, ...train, '--out', run, '--continue'];
  const code = await step('train', asked, (process_) => {
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

for (const folder of ['logs', 'parts']) mkdirSync(path.join(out, folder), { recursive: true });
const told = `${planned} trainings, ${deadline} s to train them`;
console.log(late.length > 0 ? `${told}; no time for ${late.join(', ')}` : told);
const stop = setTimeout(() => {
  for (const child of training.keys()) child.kill('SIGINT');
}, deadline * 1000);
await Promise.all(Array.from({ length: Number(values['at-once']) }, lane));
clearTimeout(stop);
await Promise.all(finishing);
console.log(`${done} of ${planned} in ${seconds().toFixed(0)} s on ${os.hostname()}`);
const lists = { 'cut short': cut, 'left out': waiting.map(({ name }) => name), failed };
for (const [what, names] of Object.entries(lists)) {
  if (names.length > 0) console.log(`${what}: ${names.join(', ')}`);
}
process.exitCode = failed.length > 0 ? 1 : 0;
