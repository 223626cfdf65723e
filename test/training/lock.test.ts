import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { thisProcess } from '../../src/base/node.js';
import { isTorchAvailable } from '../../src/torch/index.js';
import { train, TrainingError } from '../../src/training/index.js';
import { LOCK_FILE } from '../../src/training/run/folder.js';
import { lockText, RunLock } from '../../src/training/run/lock.js';
import { scratchFolder } from '../scratch-folder.js';
import { tinyRun } from './tiny.js';

let run: string;
let file: string;
beforeEach(() => {
  run = path.join(scratchFolder(), 'run');
  file = path.join(run, LOCK_FILE);
});

async function heldBy(text: string, silentSeconds = 0): Promise<void> {
  await mkdir(run, { recursive: true });
  await writeFile(file, text);
  const then = new Date(Date.now() - silentSeconds * 1000);
  await utimes(file, then, then);
}

const take = (): Promise<void> => {
  const lock = new RunLock();
  return lock.take(run).finally(() => lock.release());
};

describe('the lock of a run', () => {
  test('a living process is named and respected', async () => {
    const lock = new RunLock();
    await lock.take(run);
    await expect(take()).rejects.toThrow(
      `${run} is being trained by process ${process.pid} on host ${hostname()}: wait for its end`,
    );
    expect(existsSync(file)).toBe(true);
    lock.release();
    await take();
  });

  test('an empty folder made for it goes with it, any other stays', async () => {
    await take();
    expect(existsSync(run)).toBe(false);
    await mkdir(run);
    await take();
    expect(existsSync(run)).toBe(true);
  });

  test('so do the folders made above it, unless something else came into them', async () => {
    const above = path.join(run, 'runs');
    const deep = path.join(above, 'one');
    for (const beside of [null, path.join(above, 'two')]) {
      const lock = new RunLock();
      await lock.take(deep);
      if (beside !== null) await mkdir(beside);
      lock.release();
      expect(existsSync(deep)).toBe(false);
      expect([existsSync(above), existsSync(run)]).toEqual(
        beside === null ? [false, false] : [true, true],
      );
    }
  });

  test('a process that is gone has no say', async () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    await heldBy(lockText({ ...thisProcess(), pid }));
    await take();
    expect(existsSync(file)).toBe(false);
  });

  test.skipIf(!existsSync('/proc/self/stat'))('nor has one whose pid is used again', async () => {
    const child = spawn('sleep', ['30']);
    try {
      await heldBy(lockText({ pid: child.pid ?? 0, host: hostname(), started: '1' }));
      await take();
    } finally {
      child.kill();
    }
  });

  test.each([
    [
      'of another host',
      lockText({ pid: 12, host: 'elsewhere', started: '1' }),
      /process 12 on host elsewhere 60 seconds/,
    ],
    ['that cannot be read', lockText({ ...thisProcess(), pid: -1 }), /another process 60 seconds/],
  ])('a lock %s holds for two minutes', async (_, text, message) => {
    await heldBy(text, 60);
    await expect(take()).rejects.toThrow(message);
    await expect(take()).rejects.toBeInstanceOf(TrainingError);
    await expect(take()).rejects.toThrow(`or delete ${file} if it is gone`);
    await heldBy(text, 130);
    await take();
  });

  test('of many that find it abandoned one gets it', async () => {
    await heldBy(lockText({ pid: 12, host: 'elsewhere', started: null }), 1000);
    const locks = Array.from({ length: 8 }, () => new RunLock());
    const results = await Promise.allSettled(locks.map((lock) => lock.take(run)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const lock of locks) lock.release();
    expect(await readdir(run)).toEqual([]);
  });

  test('giving it back leaves a lock of others alone, and bears a vanished folder', async () => {
    const lock = new RunLock();
    await lock.take(run);
    await heldBy(lockText({ pid: 12, host: 'elsewhere', started: null }));
    lock.release();
    expect(await readFile(file, 'utf8')).toMatch(/elsewhere/);
    await rm(run, { recursive: true });
    await lock.take(run);
    await rm(run, { recursive: true });
    lock.release();
  });
});

describe.skipIf(!isTorchAvailable())('two trainings of one run', () => {
  test('the second is refused, be it new or resumed, and harms nothing', async () => {
    const refusals: Promise<unknown>[] = [];
    const refusal = (training: Promise<unknown>): number =>
      refusals.push(training.catch((error: unknown) => error));
    const first = train(
      { ...tinyRun(run), workers: 1 },
      { start: () => refusal(train({ resume: run, workers: 1 })) },
    );
    // Long before the pool is filled and the configuration written.
    while (!existsSync(file)) await new Promise(setImmediate);
    refusal(train({ ...tinyRun(run, { seed: 9 }), workers: 1 }));
    expect(await first).toMatchObject({ finished: true });
    const errors = await Promise.all(refusals);
    expect(errors).toHaveLength(2);
    for (const error of errors) expect(String(error)).toMatch(/is being trained by process \d+ on/);
    expect(await readdir(run)).not.toContain(LOCK_FILE);
    expect(await train({ resume: run, workers: 1 })).toMatchObject({ finished: true });
  });

  test('what fails before it begins leaves no folder behind', async () => {
    const missing = path.join(path.dirname(run), 'missing.npz');
    await expect(train(tinyRun(run, { data: missing }))).rejects.toThrow();
    await expect(stat(run)).rejects.toThrow(/ENOENT/);
  });
});
