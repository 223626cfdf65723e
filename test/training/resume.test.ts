import { spawn } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { storedPrior } from '../../src/models/index.js';
import { compiledProgram } from '../compiled-program.js';
import { isTorchAvailable, scope, tensor } from '../../src/torch/index.js';
import { makeRecord, PANELS_ONLY } from '../../src/training/feed/record.js';
import {
  imagineLast,
  openRun,
  train,
  type NewRunOptions,
  type NoteEvent,
  type TrainOptions,
} from '../../src/training/index.js';
import { RunLock } from '../../src/training/run/lock.js';
import { scratchFolder } from '../scratch-folder.js';
import { decodeEventFile } from './event-decoder.js';
import { contentOf } from './run-files.js';
import { tinyModel, tinyRun } from './tiny.js';

const STEPS = 40;
const KILLS = process.env.CRAB_TEST_LONG ? 10 : 2;

const folder = scratchFolder();
let whole: string;
let expected: Record<string, unknown>;

const runtime = { workers: 1 };

/** Trains until `stopAt` steps are done, then stops it as Ctrl-C does. */
async function trainUntil(options: TrainOptions, stopAt: number): Promise<boolean> {
  const controller = new AbortController();
  const { finished } = await train(
    { ...options, ...runtime },
    { step: ({ step }) => step >= stopAt && controller.abort() },
    controller.signal,
  );
  return finished;
}

/** Starts the run in a process of its own and kills it with -9 after `milliseconds`, if still there. */
function killedAfter(run: string, milliseconds: number): Promise<string> {
  const child = spawn(process.execPath, [compiledProgram('training/train-child'), run], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  let timer: NodeJS.Timeout | undefined;
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
    timer ??= setTimeout(() => child.kill('SIGKILL'), milliseconds);
  });
  return new Promise((resolve) => {
    child.on('close', () => {
      clearTimeout(timer);
      resolve(output);
    });
  });
}

describe.skipIf(!isTorchAvailable())('a run that is stopped and continued', () => {
  beforeAll(async () => {
    whole = path.join(folder, 'whole');
    const outcome = await train({ ...tinyRun(whole), ...runtime });
    expect(outcome).toMatchObject({ step: STEPS, finished: true });
    expected = await contentOf(whole);
  });

  test('the files of a run', async () => {
    const names = await readdir(whole);
    expect(names.filter((name) => /^checkpoint-\d/.test(name))).toHaveLength(2);
    expect(names.filter((name) => name.startsWith('checkpoint-best'))).not.toHaveLength(0);
    expect(names).toContain('rules-12.json');
    expect(names).toContain('rules-40.json');
    const run = await openRun(whole);
    expect(run.config).toMatchObject({ seed: 3, totalSteps: STEPS, device: 'cpu' });
    const lines = await run.metrics();
    expect(lines.map(({ kind, step }) => `${kind} ${step}`)).toEqual([
      'train 10',
      'validation 15',
      'train 20',
      'train 30',
      'validation 30',
      'train 40',
      'validation 40',
    ]);
    const [events] = names.filter((name) => name.includes('tfevents'));
    const scalars = decodeEventFile(await readFile(path.join(whole, events)));
    expect(
      scalars.filter(({ scalars }) => scalars.has('loss/loss')).map(({ step }) => step),
    ).toEqual([10, 20, 30, 40]);
    const snapshots = await run.rules();
    expect(snapshots.map(({ step, rules }) => [step, rules.length, rules[0].length])).toEqual([
      [0, 5, 2],
      [3, 5, 2],
      [12, 5, 2],
      [40, 5, 2],
    ]);
    const { model, extra, step } = await run.loadModel('latest');
    expect(step).toBe(STEPS);
    expect(storedPrior(extra)).toHaveLength(2);
    expect(model.training).toBe(false);
    // The panels of the last snapshot are those that the stored model paints.
    const { source, imagined } = snapshots[3];
    const painted = scope(() => {
      const pixels = new Uint8Array(4 * PANELS_ONLY.bytes);
      for (let n = 0; n < 4; n++) {
        makeRecord(PANELS_ONLY, source, n, pixels, n * PANELS_ONLY.bytes);
      }
      return imagineLast(model, tensor(pixels, { shape: [4, 9, 64, 64] }).div(255));
    }) as Uint8Array;
    expect(painted).toHaveLength(4 * 64 * 64);
    expect(imagined).toBe(Buffer.from(painted).toString('base64'));
    expect(new Set(snapshots.map((each) => each.imagined)).size).toBe(4);
  });

  test('the same again is the same, bit by bit', async () => {
    const again = path.join(folder, 'again');
    await train({ ...tinyRun(again), workers: 2 });
    expect(await contentOf(again)).toEqual(expected);
  });

  test('another seed is not', async () => {
    const other = path.join(folder, 'other');
    await train({ ...tinyRun(other, { seed: 4 }), ...runtime });
    expect(await contentOf(other)).not.toEqual(expected);
  });

  test('stopped in mid-interval, twice', async () => {
    const run = path.join(folder, 'stopped');
    expect(await trainUntil(tinyRun(run), 7)).toBe(false);
    expect(await trainUntil({ resume: run }, 23)).toBe(false);
    expect(await trainUntil({ resume: run }, Infinity)).toBe(true);
    expect(await contentOf(run)).toEqual(expected);
  });

  test(`killed with -9 at ${KILLS} random moments`, { timeout: 600_000 }, async () => {
    const run = path.join(folder, 'killed');
    let kills = 0;
    while (kills < KILLS) {
      const output = await killedAfter(run, Math.random() * 1_500);
      if (output.includes('finished')) {
        expect(await contentOf(run)).toEqual(expected);
        await rm(run, { recursive: true, force: true });
      } else {
        kills++;
      }
    }
    const names = await readdir(run).catch((): string[] => []);
    const options = names.includes('config.json') ? { resume: run } : tinyRun(run);
    expect(await train({ ...options, ...runtime })).toMatchObject({ finished: true });
    expect(await contentOf(run)).toEqual(expected);
  });

  describe('of a time budget', () => {
    /** A clock that moves by so many seconds whenever it is looked at. */
    const clock = (seconds: number): (() => number) => {
      let reading = 0;
      return () => (reading += seconds);
    };
    const timedRun = (name: string, checkpointSteps: number): NewRunOptions =>
      tinyRun(path.join(folder, name), {
        budget: { kind: 'time', seconds: 150 },
        checkpoints: { seconds: 1e6, steps: checkpointSteps },
      });
    const lost = new Error('lost');
    /** Trains until `step` and then loses all that is not on disk. */
    const loseAt = (options: NewRunOptions, step: number): Promise<unknown> =>
      train(
        { ...options, ...runtime, now: clock(1) },
        {
          step: (event) => {
            if (event.step === step) throw lost;
          },
        },
      ).catch((error: unknown) => error);

    test.each([20, 1000])(
      'lost after its total was fixed, with checkpoints every %i steps',
      async (every) => {
        const calm = timedRun(`calm-${every}`, every);
        // Who watches steps looks at the clock too.
        const watch = { step: () => {} };
        const { totalSteps } = await train({ ...calm, ...runtime, now: clock(1) }, watch);
        expect(totalSteps).toBeGreaterThan(33);
        const run = timedRun(`lost-${every}`, every);
        expect(await loseAt(run, 33)).toBe(lost);
        expect((await openRun(run.out)).config.totalSteps).toBe(totalSteps);
        // A slow machine, which must not matter any more.
        const resumed = await train({ resume: run.out, ...runtime, now: clock(5) });
        expect(resumed).toMatchObject({ finished: true, totalSteps });
        expect(await contentOf(run.out)).toEqual(await contentOf(calm.out));
      },
    );

    test('making ready counts', async () => {
      let seconds = 0;
      const slow = {
        start: () => {
          seconds += 1000;
        },
      };
      const now = (): number => (seconds += 1);
      const outcome = await train({ ...timedRun('slow', 1000), ...runtime, now }, slow);
      expect(outcome).toMatchObject({ finished: true, totalSteps: 30 });
    });

    test('lost before, it measures anew', async () => {
      const run = timedRun('early', 1000);
      expect(await loseAt(run, 12)).toBe(lost);
      expect((await openRun(run.out)).config.totalSteps).toBeNull();
      const resumed = await train({ resume: run.out, ...runtime, now: clock(5) });
      expect(resumed).toMatchObject({ finished: true, totalSteps: 30 });
    });
  });

  test('a damaged newest checkpoint is passed over, and said', async () => {
    const run = path.join(folder, 'damaged');
    await trainUntil(tinyRun(run), 25);
    const checkpoints = (await readdir(run)).filter((name) => /^checkpoint-\d/.test(name)).sort();
    expect(checkpoints).toHaveLength(2);
    await writeFile(path.join(run, checkpoints[1]), 'not a checkpoint');
    const notes: NoteEvent[] = [];
    await train({ resume: run, ...runtime }, { note: (event) => notes.push(event) });
    expect(notes[0].text).toMatch(/damaged and passed over/);
    expect(await contentOf(run)).toEqual(expected);
  });

  /** Resumes a run stopped at step 25 after `harm` was done to its newest checkpoint. */
  async function resumeHarmed(name: string, harm: (file: string) => Promise<void>) {
    const run = path.join(folder, name);
    await trainUntil(tinyRun(run), 25);
    await harm(path.join(run, 'checkpoint-00000025.safetensors'));
    const notes: NoteEvent[] = [];
    const steps: number[] = [];
    await train(
      { resume: run, ...runtime },
      { note: (event) => notes.push(event), start: ({ step }) => steps.push(step) },
    );
    expect(steps).toEqual([20]);
    expect(await contentOf(run)).toEqual(expected);
    return notes[0].text;
  }

  test('a changed weight is noticed', async () => {
    const note = await resumeHarmed('changed', async (file) => {
      const bytes = await readFile(file);
      bytes[bytes.length - 100] ^= 1;
      await writeFile(file, bytes);
    });
    expect(note).toMatch(/damaged and passed over: .*its content is not what was written/);
  });

  test('also by who reads the weights of a run to use them', async () => {
    const run = path.join(folder, 'used');
    await trainUntil(tinyRun(run), 25);
    const file = path.join(run, 'checkpoint-00000025.safetensors');
    const opened = await openRun(run);
    expect(await opened.weights('latest')).toMatchObject({ file, step: 25 });
    const bytes = await readFile(file);
    bytes[bytes.length - 100] ^= 1;
    await writeFile(file, bytes);
    const refusal = /checkpoint-00000025.*: its content is not what was written/;
    await expect(opened.weights('latest')).rejects.toThrow(refusal);
    await expect(opened.loadModel('latest')).rejects.toThrow(refusal);
  });

  test('so is a checkpoint of another model', async () => {
    const note = await resumeHarmed('foreign', async (file) => {
      const other = path.join(folder, 'foreign-model');
      await trainUntil(
        tinyRun(other, {
          model: tinyModel({ network: { ...tinyModel().network, conceptSize: 6 } }),
        }),
        25,
      );
      await copyFile(path.join(other, path.basename(file)), file);
    });
    expect(note).toMatch(/passed over: .*it is of another model/);
  });

  test('what a killed process left half-written goes, unless another process is at work', async () => {
    const run = path.join(folder, 'leftovers');
    const leftovers = ['.config.json.12-0a1b2c3d.part', '.checkpoint-00000010.safetensors.0a.tmp'];
    const leave = async () => {
      for (const name of leftovers) await writeFile(path.join(run, name), 'half');
    };
    // Killed before there was a run; the same folder is then used for a new one.
    await mkdir(run);
    await leave();
    await trainUntil(tinyRun(run), 12);
    expect((await readdir(run)).filter((name) => leftovers.includes(name))).toEqual([]);
    await leave();
    const lock = new RunLock();
    await lock.take(run);
    await expect(train({ resume: run, ...runtime })).rejects.toThrow(/is being trained/);
    expect(await readdir(run)).toEqual(expect.arrayContaining(leftovers));
    lock.release();
    await trainUntil({ resume: run }, 14);
    expect((await readdir(run)).filter((name) => leftovers.includes(name))).toEqual([]);
  });

  test('a run of an earlier version is refused in so many words', async () => {
    const run = path.join(folder, 'earlier');
    await mkdir(run);
    const { config } = await openRun(whole);
    await writeFile(path.join(run, 'config.json'), JSON.stringify({ ...config, version: 1 }));
    const refusal = /config\.json: the run has format 1, this version of crab reads format 2/;
    await expect(openRun(run)).rejects.toThrow(refusal);
    await expect(train({ resume: run })).rejects.toThrow(refusal);
  });

  test('a folder that is a run already, or none, is refused', async () => {
    await expect(train({ ...tinyRun(whole), ...runtime })).rejects.toThrow(/exists already/);
    await expect(train({ resume: folder })).rejects.toThrow(/is not a run/);
  });

  test('continuing a finished run changes nothing', async () => {
    expect(await train({ resume: whole, ...runtime })).toMatchObject({ finished: true });
    expect(await contentOf(whole)).toEqual(expected);
  });
});
