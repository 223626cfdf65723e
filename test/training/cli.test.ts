import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { crabConfig } from '../../src/models/index.js';
import { isTorchAvailable } from '../../src/torch/index.js';
import { openRun } from '../../src/training/index.js';
import { runConfigOf, type StoredData } from '../../src/training/options.js';
import { scratchFolder } from '../scratch-folder.js';
import { failureOf } from '../cli/crab-in-process.js';
import { crab, type Outcome } from '../cli/run-crab.js';
import { tinyModel, tinyRun } from './tiny.js';

const folder = scratchFolder();
let overrides: string;

/** Why training with these arguments does not begin. */
const refusal = (...args: string[]) => failureOf('train', ...args);

/** Trains in a process; `onStart` may end it once it is under way. */
const crabTrain = (args: string[], onStart?: (child: ChildProcess) => void): Promise<Outcome> =>
  crab(['train', ...args], {
    onStart: (child) => {
      let said = '';
      child.stderr?.on('data', (data: Buffer) => {
        const isFirst = !said.includes('weights on');
        said += data.toString();
        if (isFirst && said.includes('weights on')) onStart?.(child);
      });
    },
  });

beforeAll(async () => {
  overrides = path.join(folder, 'overrides.json');
  const { network, rulePrior, optimizer } = tinyModel();
  await writeFile(overrides, JSON.stringify({ network, rulePrior, optimizer }));
});

describe('crab train, wrong use', () => {
  test.each<[RegExp, ...string[]]>([
    [/--config is needed, or --resume/],
    [/unknown configuration "moon"/, '--config', 'moon'],
    [/--steps and --time do not go together/, '--config', 'center', '--steps', '5', '--time', '1m'],
    [
      /'--time <duration>' .* expected a duration .* a plain number is minutes/,
      '--config',
      'center',
      '--time',
      'soon',
    ],
    [/--overrides: .*unknown key "depth"/, '--config', 'center', '--overrides', '{"depth": 3}'],
    [/--overrides: the text is not JSON/, '--config', 'center', '--overrides', '{"depth": '],
    [/the text must be a JSON object/, '--config', 'center', '--overrides', '[]'],
    [/the text must be a JSON object/, '--config', 'center', '--overrides', 'null'],
    [/"preset" is chosen with --preset/, '--config', 'center', '--overrides', '{"preset":"paper"}'],
    [/with --config$/, '--config', 'center', '--overrides', '{"configuration":"grid-2x2"}'],
    [/with --noisy$/, '--config', 'grid-2x2', '--overrides', '{"noisy":true}'],
    [/'--epochs <n>' .* expected a number above 0/, '--config', 'center', '--epochs', '0'],
    [/'--epochs <n>' .* expected a number above 0/, '--config', 'center', '--epochs=-1'],
    [/'--refresh <n>' .* expected a number from 0/, '--config', 'center', '--refresh', 'few'],
    [/'--rank-timeout .* expected at most a week/, '--config', 'center', '--rank-timeout', '200h'],
    [/'--retry <duration>' .* a plain number is minutes/, '--config', 'center', '--retry', 'x'],
    [/--pool, .* are for generated/, '--config', 'center', '--data', 'x', '--pool', '9'],
    [/--workers are for generated/, '--config', 'center', '--data', 'x', '--workers', '2'],
    [/are for generated/, '--config', 'center', '--data', 'x', '--regime', 'a-color'],
    [/'--regime <name>' .* a-color-size/, '--config', 'center', '--regime', 'a-colour'],
    [/is not a run/, '--resume', tmpdir()],
    [/'--device <name>' .* expected cpu, cuda or cuda:n/, '--config', 'center', '--device', 'gpu'],
    [/--out is empty: name a folder/, '--config', 'center', '--out', ''],
    [/has no noisy form/, '--config', 'center', '--noisy'],
  ])('%s', async (message, ...args) => {
    const failure = await refusal(...args);
    expect(failure.message).toMatch(message);
    expect(failure.code).toBe(2);
  });

  test.skipIf(!isTorchAvailable()).each<[RegExp, ...string[]]>([
    [
      /^network: a width of 7 cannot be shared equally by 4 heads/,
      ...['--system', 'transformer', '--steps', '1', '--overrides', '{"network":{"width":7}}'],
    ],
    [/epochs: 1e\+308 .* too many/, '--epochs', '1e308'],
    [/refresh: expected at most the pool's 8, got 9/, '--pool', '8', '--refresh', '9'],
  ])('%s', async (message, ...args) => {
    const out = path.join(folder, 'numbers');
    const failure = await refusal('--config', 'center', '--out', out, ...args);
    expect(failure.message).toMatch(message);
    expect(failure.code).toBe(2);
  });

  test('data that are not there', async () => {
    const failure = await refusal('--config', 'center', '--data', 'no-such.npz');
    expect(failure).toEqual({ message: '--data no-such.npz: no such file or folder', code: 1 });
  });

  test.skipIf(!isTorchAvailable())('a device that is not there', async () => {
    const out = path.join(folder, 'device');
    const failure = await refusal('--config', 'center', '--device', 'cuda:77', '--out', out);
    expect(failure).toEqual({
      message: expect.stringMatching(/^--device cuda:77: .*; cpu works everywhere$/) as string,
      code: 2,
    });
    expect((await refusal('--config', 'center', '--device', 'tpu', '--out', out)).code).toBe(2);
  });
});

describe('crab train --continue', () => {
  /** A run as it is stored, whose problems come from `data`. */
  async function storedRun(name: string, data: StoredData | null): Promise<string> {
    const run = path.join(folder, name);
    const config = runConfigOf(
      { ...tinyRun(run), model: crabConfig('small', 'center') },
      { software: {}, threads: 1 },
      data,
    );
    await mkdir(run);
    await writeFile(path.join(run, 'config.json'), JSON.stringify(config));
    return run;
  }
  const settings = ['--config', 'center', '--preset', 'small', '--continue', '--out'];

  test('refuses other problems than those the run was started with', async () => {
    const data = { kind: 'set', path: '/sets/a.npz', problems: 8, sha256: 'f' } as const;
    const ofSet = await storedRun('of-set', data);
    const ofStream = await storedRun('of-stream', null);
    for (const [run, ...given] of [[ofSet], [ofSet, '--data', '/sets/b.npz']]) {
      const failure = await refusal(...settings, run, ...given);
      expect(failure.message).toMatch(/of-set was started with --data \/sets\/a.npz$/);
      expect(failure.code).toBe(2);
    }
    const failure = await refusal(...settings, ofStream, '--data', '/sets/a.npz');
    expect(failure.message).toMatch(/of-stream was started without --data$/);
    expect(failure.code).toBe(2);
    // The same problems are no reason; another seed is.
    const same = await refusal(...settings, ofSet, '--data', '/sets/a.npz', '--seed', '9');
    expect(same.message).toMatch(/^--seed cannot be changed/);
  });
});

describe.skipIf(!isTorchAvailable())('crab train', () => {
  test('stops on Ctrl-C, continues, and refuses other settings', async () => {
    const run = path.join(folder, 'run');
    const settings = ['--config', 'center', '--preset', 'small', '--overrides', overrides];
    const sizes = ['--pool', '16', '--refresh', '2', '--threads', '1', '--workers', '1'];
    const length = ['--steps', '30000', '--validate-every', '1000', '--log-every', '1'];
    const begun = await crabTrain(
      [...settings, ...sizes, ...length, '--out', run, '--json'],
      (child) => {
        const log = path.join(run, 'metrics.jsonl');
        const timer = setInterval(() => {
          if (!existsSync(log) || statSync(log).size === 0) return;
          clearInterval(timer);
          child.kill('SIGINT');
        }, 50);
      },
    );
    expect(begun.stderr).toMatch(/weights on cpu/);
    expect(begun.code).toBe(130);
    const { step, finished } = JSON.parse(begun.stdout) as { step: number; finished: boolean };
    expect(finished).toBe(false);
    expect((await (await openRun(run)).steps()).latest).toBe(step);

    const conflict = await refusal('--resume', run, '--steps', '12', '--seed', '0', '--pool', '99');
    expect(conflict.message).toMatch(/^--steps, --pool cannot be changed with --resume/);
    expect(conflict.code).toBe(2);

    const again = await crabTrain(['--resume', run, '--workers', '1'], (child) =>
      setTimeout(() => child.kill('SIGTERM'), 300),
    );
    expect(again.stderr).toMatch(new RegExp(`from step ${step}`));
    expect(again.stderr).toMatch(/continue with: crab train --resume/);
    expect(again.code).toBe(130);
    expect((await (await openRun(run)).steps()).latest).toBeGreaterThanOrEqual(step);
  });

  test('nobody reads what it says: it is done all the same', async () => {
    const run = path.join(folder, 'unread');
    const ended = await crabTrain(
      [
        ...['--config', 'center', '--preset', 'small', '--overrides', overrides, '--steps', '20'],
        ...['--pool', '16', '--threads', '1', '--workers', '1', '--out', run],
      ],
      (child) => child.stderr?.destroy(),
    );
    expect(ended.code).toBe(0);
    expect((await (await openRun(run)).steps()).latest).toBe(20);
  });

  test('gives up what cannot be written, and says from where to go on', async () => {
    const run = path.join(folder, 'unwritable');
    const ended = await crabTrain(
      [
        ...['--config', 'center', '--preset', 'small', '--overrides', overrides, '--steps', '200'],
        ...['--pool', '16', '--threads', '1', '--workers', '1', '--out', run, '--retry', '1s'],
        ...['--checkpoint-every', '190'],
      ],
      // A folder stands where the last checkpoint belongs.
      () => mkdirSync(path.join(run, 'checkpoint-00000200.safetensors', 'x'), { recursive: true }),
    );
    expect(ended.stderr).toMatch(
      /steps 191 to 200 could not be saved \(.*\) and are lost; make room and go on from step 190 with: crab train --resume/,
    );
    expect(ended.code).toBe(1);
  });

  test('a time budget becomes a number of steps that is stored', async () => {
    const run = path.join(folder, 'timed');
    const ended = await crabTrain([
      ...['--config', 'center', '--preset', 'small', '--overrides', overrides, '--time', '6s'],
      ...['--pool', '16', '--threads', '1', '--workers', '1', '--out', run, '--json'],
    ]);
    expect(ended.code).toBe(0);
    const outcome = JSON.parse(ended.stdout) as { step: number; totalSteps: number };
    expect(outcome.step).toBe(outcome.totalSteps);
    expect(outcome.step).toBeGreaterThanOrEqual(30);
    expect((await openRun(run)).config.totalSteps).toBe(outcome.totalSteps);
    expect(ended.stderr).toMatch(/the time allows \d+ steps/);
  });
});
