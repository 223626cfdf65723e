import { existsSync, renameSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { isTorchAvailable, SafetensorsFile } from '../../src/torch/index.js';
import {
  diskFiles,
  DivergedError,
  openRun,
  train,
  UnsavedError,
  type NoteEvent,
  type RunFiles,
} from '../../src/training/index.js';
import { scratchFolder } from '../scratch-folder.js';
import { contentOf } from './run-files.js';
import { tinyModel, tinyRun } from './tiny.js';

let folder: string;
let notes: NoteEvent[];
beforeEach(() => {
  folder = scratchFolder();
  notes = [];
});

const note = (event: NoteEvent): number => notes.push(event);
const runtime = { workers: 1, retrySeconds: 0.05 };

/** A disk that is full from one step on until another; also half-writes what it is given. */
function fillingDisk(refused: () => void = () => undefined): RunFiles & { full: boolean } {
  const refuse = (): never => {
    refused();
    throw Object.assign(new Error('write'), { code: 'ENOSPC' });
  };
  const files: RunFiles & { full: boolean } = {
    ...diskFiles,
    full: false,
    write: (file, bytes) => (files.full ? refuse() : diskFiles.write(file, bytes)),
    writeTail: async (file, offset, bytes) => {
      await diskFiles.writeTail(file, offset, files.full ? bytes.subarray(0, 5) : bytes);
      if (files.full) refuse();
    },
    writeTensors: (request) => (files.full ? refuse() : diskFiles.writeTensors(request)),
  };
  return files;
}

describe.skipIf(!isTorchAvailable())('trouble while training', () => {
  test('a full disk loses nothing: it says so, goes on, and catches up', async () => {
    const run = path.join(folder, 'run');
    const calm = path.join(folder, 'calm');
    await train({ ...tinyRun(calm), workers: 1 });
    const files = fillingDisk();
    await train(
      { ...tinyRun(run), ...runtime, files },
      {
        note,
        step: ({ step }) => {
          files.full = step >= 8 && step < 37;
        },
      },
    );
    expect(notes.map(({ level }) => level)).toEqual(['warning', 'info']);
    expect(notes[0].text).toMatch(/no space left on the device/);
    // Best weights that wait are replaced by better ones: whether the older ones were written depends on the clock.
    const older = 'checkpoint-best-00000030.safetensors';
    const [found, expected] = [await contentOf(run), await contentOf(calm)];
    expect(Object.keys(expected)).toContain('checkpoint-best-00000040.safetensors');
    expect({ [older]: expected[older], ...found }).toEqual(expected);
  });

  test('a disk that stays full to the end: it keeps trying until there is room', async () => {
    let [isLast, refusals] = [false, 0];
    const files = fillingDisk(() => {
      if (isLast && ++refusals === 3) files.full = false;
    });
    const run = path.join(folder, 'run');
    await train(
      { ...tinyRun(run, { budget: { kind: 'steps', steps: 12 } }), ...runtime, files },
      {
        note,
        step: ({ step }) => {
          files.full = step >= 9;
          isLast = step === 12;
        },
      },
    );
    expect(refusals).toBe(3);
    expect(notes.map(({ level }) => level)).toEqual(['warning', 'info']);
    expect(await (await openRun(run)).steps()).toMatchObject({ latest: 12 });
  });

  test('told to stop while nothing can be written: it says what is lost', async () => {
    const files = fillingDisk();
    const run = path.join(folder, 'run');
    const controller = new AbortController();
    const training = train(
      { ...tinyRun(run), workers: 1, retrySeconds: 60, files },
      {
        step: ({ step }) => {
          files.full = step > 10;
          if (step === 30) controller.abort();
        },
      },
      controller.signal,
    );
    await expect(training).rejects.toThrow(UnsavedError);
    await expect(training).rejects.toThrow(
      `${run}: steps 11 to 30 could not be saved (no space left on the device) and are lost; make room and go on from step 10 with: crab train --resume ${run}`,
    );
  });

  test('a disk that stays full: after a while it gives up and says from where to go on', async () => {
    const files = fillingDisk();
    const run = path.join(folder, 'run');
    const training = train(
      { ...tinyRun(run), ...runtime, files, giveUpSeconds: 0.2 },
      {
        step: ({ step }) => {
          files.full = step > 20;
        },
      },
    );
    await expect(training).rejects.toThrow(UnsavedError);
    await expect(training).rejects.toThrow(
      `${run}: steps 21 to 40 could not be saved (no space left on the device) and are lost; make room and go on from step 20 with: crab train --resume ${run}`,
    );
    const starts: number[] = [];
    const resumed = await train(
      { resume: run, ...runtime },
      { start: ({ step }) => starts.push(step) },
    );
    expect(resumed).toMatchObject({ finished: true, step: 40 });
    expect(starts).toEqual([20]);
  });

  test('a vanished folder comes back whole', async () => {
    const run = path.join(folder, 'run');
    const away = path.join(folder, 'away');
    await train(
      { ...tinyRun(run), ...runtime },
      {
        note,
        // At once, and once: the checkpoint may be written again into the new folder.
        checkpoint: ({ step }) => {
          if (step === 20 && !existsSync(away)) renameSync(run, away);
        },
      },
    );
    expect(await readdir(away)).toContain('checkpoint-00000020.safetensors');
    const names = await readdir(run);
    expect(names).toContain('config.json');
    expect(names).toContain('checkpoint-00000040.safetensors');
    const steps = (await (await openRun(run)).metrics()).map(({ step }) => step);
    expect(steps).toEqual([10, 15, 20, 30, 30, 40, 40]);
    expect(names).toContain('rules-12.json');
    // A write that was under way when the folder went may fail first, and is told too.
    expect(notes.map(({ text }) => text)).toContainEqual(
      expect.stringMatching(/had vanished and is made again; earlier checkpoints/),
    );
    await expectBestThere(run);
  });

  test('so does that of a resumed run, with what an earlier process left', async () => {
    const run = path.join(folder, 'run');
    const stop = new AbortController();
    await train(
      { ...tinyRun(run), ...runtime },
      { step: ({ step }) => step === 20 && stop.abort() },
      stop.signal,
    );
    const again = new AbortController();
    await train(
      { resume: run, ...runtime },
      {
        start: () => rmSync(run, { recursive: true }),
        step: ({ step }) => step >= 25 && again.abort(),
      },
      again.signal,
    );
    expect(await readdir(run)).toContain('rules-12.json');
    expect(await (await openRun(run)).steps()).toEqual({ latest: 25, best: 15 });
    await expectBestThere(run);
    expect(await train({ resume: run, ...runtime })).toMatchObject({ finished: true });
  });

  /** The best weights that the newest checkpoint refers to can be read. */
  async function expectBestThere(run: string): Promise<void> {
    const opened = await openRun(run);
    const { file } = await opened.weights('latest');
    const checkpoint = SafetensorsFile.open(file);
    checkpoint.close();
    const { best } = JSON.parse(checkpoint.metadata.state) as { best: { step: number } };
    expect((await opened.steps()).best).toBe(best.step);
    (await opened.loadModel('best')).dispose();
  }

  test('a loss that is not finite stops it and keeps the last good checkpoint', async () => {
    const run = path.join(folder, 'run');
    // The rate leaps at step 26, so that the weights explode in the steps after it.
    const learningRate = {
      unit: 'steps',
      shape: 'linear',
      points: [
        [0, 5e-4],
        [25, 5e-4],
        [26, 1e30],
      ],
    };
    const model = tinyModel({ optimizer: { batchSize: 8, learningRate } });
    const training = train({ ...tinyRun(run, { model }), ...runtime });
    await expect(training).rejects.toThrow(DivergedError);
    const error = (await training.catch((caught: unknown) => caught)) as DivergedError;
    expect(error.step).toBeGreaterThanOrEqual(26);
    expect(error.step).toBeLessThan(30);
    expect(error.message).toMatch(/diverged at step 2\d: the term \w+ became (NaN|-?Infinity)/);
    expect(error.term).not.toBe('loss');
    expect(error.checkpointStep).toBe(20);
    const opened = await openRun(run);
    expect(await opened.steps()).toMatchObject({ latest: 20 });
    expect((await opened.metrics()).at(-1)?.step).toBe(20);
    const { model: kept } = await opened.loadModel('latest');
    expect(kept.parameters().every((weight) => Number.isFinite(weight.sum().item()))).toBe(true);
  });
});
