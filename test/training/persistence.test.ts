import { existsSync } from 'node:fs';
import { readFile, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { NoteEvent } from '../../src/training/observer.js';
import { diskFiles } from '../../src/training/run/files.js';
import {
  bestName,
  bestSteps,
  checkpointName,
  checkpointSteps,
  pruneCheckpoints,
} from '../../src/training/run/folder.js';
import { Persistence } from '../../src/training/run/persistence.js';
import { scratchFolder } from '../scratch-folder.js';

let base: string;
let folder: string;
const notes: NoteEvent[] = [];
beforeEach(async () => {
  base = scratchFolder();
  folder = path.join(base, 'run');
  await diskFiles.makeFolder(folder);
  notes.length = 0;
});

const persistence = (retrySeconds = 0): Persistence =>
  new Persistence(folder, diskFiles, (event) => notes.push(event), retrySeconds);
const full = (): Error => Object.assign(new Error('write'), { code: 'ENOSPC' });

describe('keeping a run safe', () => {
  test('a full disk: said once, tried again in order, said when it works', async () => {
    const done: string[] = [];
    let refusals = 3;
    const keeper = persistence();
    keeper.request('metrics', async () => {
      if (refusals-- > 0) throw full();
      done.push('metrics');
      return Promise.resolve();
    });
    keeper.request('checkpoint', () => {
      done.push('checkpoint');
      return Promise.resolve();
    });
    await keeper.flush();
    await keeper.flush();
    expect(done).toEqual([]);
    expect(keeper.pending).toBe(true);
    await keeper.finish();
    expect(done).toEqual(['metrics', 'checkpoint']);
    expect(notes.map(({ level }) => level)).toEqual(['warning', 'info']);
    expect(notes[0].text).toMatch(/metrics could not be written \(no space left on the device\)/);
  });

  test('a newer job takes the place of one that waits', async () => {
    let disk = false;
    const done: number[] = [];
    const keeper = persistence();
    for (const step of [1, 2, 3]) {
      keeper.request('checkpoint', () => {
        if (!disk) return Promise.reject(full());
        done.push(step);
        return Promise.resolve();
      });
      await keeper.flush();
    }
    disk = true;
    await keeper.finish();
    expect(done).toEqual([3]);
  });

  test('a vanished folder is made again, unless its parent is gone too', async () => {
    const keeper = persistence();
    const write = () => diskFiles.write(path.join(folder, 'config.json'), Buffer.from('{}'));
    await rename(base, `${base}-away`);
    keeper.request('config', write);
    await keeper.flush();
    expect(keeper.pending).toBe(true);
    expect(notes[0].text).toMatch(/the folder has vanished/);
    await rename(`${base}-away`, base);
    await rm(folder, { recursive: true });
    await keeper.finish();
    expect(await readFile(path.join(folder, 'config.json'), 'utf8')).toBe('{}');
  });

  test('giving up while the disk refuses is an error, not silence', async () => {
    const keeper = persistence(60);
    keeper.request('checkpoint', () => Promise.reject(full()));
    await expect(keeper.finish(AbortSignal.timeout(50))).rejects.toThrow(
      /^no space left on the device$/,
    );
    expect(keeper.pending).toBe(true);
  });

  test('the end is one more try, however recent a failure and whoever is waiting', async () => {
    let disk = false;
    const keeper = persistence(60);
    keeper.request('checkpoint', () => (disk ? Promise.resolve() : Promise.reject(full())));
    await keeper.flush();
    disk = true;
    await keeper.flush();
    expect(keeper.pending).toBe(true);
    await keeper.finish(AbortSignal.abort());
    expect(keeper.pending).toBe(false);
  });
});

describe('which checkpoints stay', () => {
  test('the newest two and the best ones they refer to', async () => {
    for (const step of [10, 20, 30, 1_000]) {
      await diskFiles.write(path.join(folder, checkpointName(step)), Buffer.from('x'));
    }
    for (const step of [5, 15, 25]) {
      await diskFiles.write(path.join(folder, bestName(step)), Buffer.from('x'));
    }
    await pruneCheckpoints(diskFiles, folder, new Set([15, 25]));
    expect(await checkpointSteps(diskFiles, folder)).toEqual([1_000, 30]);
    expect(await bestSteps(diskFiles, folder)).toEqual([25, 15]);
  });
});

test.skipIf(!existsSync('/dev/full'))('a full disk is told with the file it is about', async () => {
  const file = path.join(folder, 'config.json');
  await symlink('/dev/full', `${file}.partial`);
  const refusal = await diskFiles.write(file, Buffer.from('{}')).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: 'ENOSPC', path: file });
});
