import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { NoteEvent } from '../../src/training/observer.js';
import {
  BEST,
  CHECKPOINTS,
  diskFiles,
  pruneCheckpoints,
  remakeFolder,
} from '../../src/training/run/folder.js';
import { WriteQueue } from '../../src/training/run/queue.js';
import { scratchFolder } from '../scratch-folder.js';

let base: string;
let folder: string;
const notes: NoteEvent[] = [];
beforeEach(async () => {
  base = scratchFolder();
  folder = path.join(base, 'run');
  await mkdir(folder);
  notes.length = 0;
});

const queue = (retrySeconds = 0): WriteQueue =>
  new WriteQueue(
    folder,
    (event) => notes.push(event),
    retrySeconds,
    () => remakeFolder(folder),
  );
const full = (): Error => Object.assign(new Error('write'), { code: 'ENOSPC' });

describe('keeping a run safe', () => {
  test('a full disk: said once, tried again in order, said when it works', async () => {
    const done: string[] = [];
    let refusals = 3;
    const keeper = queue();
    keeper.add('metrics', async () => {
      if (refusals-- > 0) throw full();
      done.push('metrics');
      return Promise.resolve();
    });
    keeper.add('checkpoint', () => {
      done.push('checkpoint');
      return Promise.resolve();
    });
    await keeper.flush();
    await keeper.flush();
    expect(done).toEqual([]);
    expect(keeper.pending).toBe(true);
    await keeper.finish(60);
    expect(done).toEqual(['metrics', 'checkpoint']);
    expect(notes.map(({ level }) => level)).toEqual(['warning', 'info']);
    expect(notes[0].text).toMatch(/metrics could not be written \(no space left on the device\)/);
  });

  test('a newer job takes the place of one that waits', async () => {
    let disk = false;
    const done: number[] = [];
    const keeper = queue();
    for (const step of [1, 2, 3]) {
      keeper.add('checkpoint', () => {
        if (!disk) return Promise.reject(full());
        done.push(step);
        return Promise.resolve();
      });
      await keeper.flush();
    }
    disk = true;
    await keeper.finish(60);
    expect(done).toEqual([3]);
  });

  test('a vanished folder is made again, unless its parent is gone too', async () => {
    const keeper = queue();
    const write = () => diskFiles.write(path.join(folder, 'config.json'), Buffer.from('{}'));
    await rename(base, `${base}-away`);
    keeper.add('config', write);
    await keeper.flush();
    expect(keeper.pending).toBe(true);
    expect(notes[0].text).toMatch(/the folder has vanished/);
    await rename(`${base}-away`, base);
    await rm(folder, { recursive: true });
    await keeper.finish(60);
    expect(await readFile(path.join(folder, 'config.json'), 'utf8')).toBe('{}');
  });

  test('giving up while the disk refuses is an error, not silence', async () => {
    const keeper = queue(60);
    keeper.add('checkpoint', () => Promise.reject(full()));
    await expect(keeper.finish(60, AbortSignal.timeout(50))).rejects.toThrow(
      /^no space left on the device$/,
    );
    expect(keeper.pending).toBe(true);
  });

  test.each([0, 0.05])(
    'it is given up after %d seconds, however long until the next try',
    async (seconds) => {
      let tries = 0;
      const keeper = queue(3600);
      keeper.add('checkpoint', () => {
        tries++;
        return Promise.reject(full());
      });
      await expect(keeper.finish(seconds)).rejects.toThrow(/^no space left on the device$/);
      if (seconds === 0) expect(tries).toBe(1);
      else expect(tries).toBeGreaterThanOrEqual(2);
      expect(keeper.pending).toBe(true);
    },
  );

  test('the end is one more try, however recent a failure and whoever is waiting', async () => {
    let disk = false;
    const keeper = queue(60);
    keeper.add('checkpoint', () => (disk ? Promise.resolve() : Promise.reject(full())));
    await keeper.flush();
    disk = true;
    await keeper.flush();
    expect(keeper.pending).toBe(true);
    await keeper.finish(60, AbortSignal.abort());
    expect(keeper.pending).toBe(false);
  });
});

describe('which checkpoints stay', () => {
  test('the newest two and the best ones they refer to', async () => {
    for (const step of [10, 20, 30, 1_000]) {
      await diskFiles.write(path.join(folder, CHECKPOINTS.name(step)), Buffer.from('x'));
    }
    for (const step of [5, 15, 25, 27, 900]) {
      await diskFiles.write(path.join(folder, BEST.name(step)), Buffer.from('x'));
    }
    await pruneCheckpoints(folder);
    expect(await CHECKPOINTS.steps(folder)).toEqual([1_000, 30]);
    expect(await BEST.steps(folder)).toEqual([900, 27]);
  });
});

test.skipIf(!existsSync('/dev/full'))('a full disk is told with the file it is about', async () => {
  const file = path.join(folder, 'config.json');
  await symlink('/dev/full', file);
  const refusal = await diskFiles.write(file, Buffer.from('{}')).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: 'ENOSPC', path: file });
});
