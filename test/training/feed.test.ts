import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  encodeSet,
  joinBatches,
  problemToBatch,
  sampleProblem,
  type SetBatch,
} from '../../src/matrix/index.js';
import { writeRavenProblem } from '../../src/matrix/node.js';
import { isTorchAvailable } from '../../src/torch/index.js';
import { train, type NoteEvent } from '../../src/training/index.js';
import { makeRecord, PANELS_ONLY } from '../../src/training/feed/record.js';
import { requireRoom } from '../../src/training/feed/room.js';
import { readStored, requireSameData, StoredFeed } from '../../src/training/feed/stored-feed.js';
import { StreamFeed, type StreamFeedOptions } from '../../src/training/feed/stream-feed.js';
import { scratchFolder } from '../scratch-folder.js';
import { tinyRun } from './tiny.js';

const source = { configuration: 'center', noisy: false, seed: 5 } as const;

const options: StreamFeedOptions = {
  source,
  record: PANELS_ONLY,
  pool: 10,
  refresh: 2.5,
  mostPerStep: 8,
  device: 'cpu',
  workers: 1,
  chunkProblems: 4,
};

/** The pool that holds problems first .. first + 9, problem i in slot i mod 10. */
function poolOf(first: number): Uint8Array {
  const bytes = new Uint8Array(10 * PANELS_ONLY.bytes);
  for (let index = first; index < first + 10; index++) {
    makeRecord(PANELS_ONLY, source, index, bytes, (index % 10) * PANELS_ONLY.bytes);
  }
  return bytes;
}

const contentOf = (feed: StreamFeed): Uint8Array => feed.records.data() as Uint8Array;

const GIB = 2 ** 30;

test('more problems than memory can hold are refused with how many it can', () => {
  const record = { bytes: GIB / 1000, pictures: 16, imageSize: 160 } as const;
  expect(() => requireRoom(6000, record, 'x', 8 * GIB)).not.toThrow();
  expect(() => requireRoom(7000, record, '--pool FEWER', 8 * GIB)).toThrow(
    '7000 problems of 16 pictures of 160x160 take 7.0 GiB of the 8.0 GiB of memory here, which the network needs too: --pool 6000',
  );
});

describe.skipIf(!isTorchAvailable())('an endless stream', () => {
  test('a pool that no memory can hold is refused before anything is drawn', async () => {
    const start = StreamFeed.start({ ...options, pool: 1e12 });
    await expect(start).rejects.toThrow(/take .* GiB of memory.*--pool \d+ takes fewer/);
  });

  test('the oldest problems are replaced, as many as the step number says', async () => {
    const feed = await StreamFeed.start(options);
    try {
      expect(contentOf(feed)).toEqual(poolOf(0));
      for (const [step, first] of [
        [0, 0],
        [1, 2],
        [2, 5],
        [7, 17],
      ]) {
        await feed.prepare(step);
        expect(contentOf(feed)).toEqual(poolOf(first));
        expect(feed.problems).toBe(10 + first);
      }
      expect(feed.takeMilliseconds()).toBeGreaterThan(0);
      expect(feed.takeMilliseconds()).toBe(0);
    } finally {
      await feed.close();
    }
  });

  test('begun again from its state, it is where it was', async () => {
    const before = await StreamFeed.start(options);
    await before.prepare(6);
    const state = before.state();
    await before.close();
    expect(state).toEqual({ kind: 'stream', produced: 25 });
    const after = await StreamFeed.start({ ...options, produced: 25 });
    expect(contentOf(after)).toEqual(poolOf(15));
    await after.prepare(7);
    expect(contentOf(after)).toEqual(poolOf(17));
    await after.close();
  });

  test('without a refresh the first problems stay', async () => {
    const feed = await StreamFeed.start({ ...options, refresh: 0 });
    await feed.prepare(1000);
    expect(contentOf(feed)).toEqual(poolOf(0));
    await feed.close();
  });

  test('unbound, a step takes what is ready and at most a batch', async () => {
    const feed = await StreamFeed.start({ ...options, refresh: null });
    for (let step = 0; feed.problems < 40; step++) {
      const before = feed.problems;
      await feed.prepare(step);
      expect(feed.problems - before).toBeLessThanOrEqual(8);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(contentOf(feed)).toEqual(poolOf(feed.problems - 10));
    await feed.close();
  });
});

describe.skipIf(!isTorchAvailable())('a stored set', () => {
  let folder: string;
  beforeEach(() => {
    folder = scratchFolder();
  });

  const problem = (index: number) => sampleProblem({ ...source, index });

  const setOf = (indices: readonly number[]): SetBatch =>
    joinBatches(indices.map((index) => problemToBatch(problem(index))));

  test('a set file, kept as bytes', async () => {
    const file = path.join(folder, 'set.npz');
    const set = setOf([0, 1, 2]);
    await writeFile(file, encodeSet(set));
    const stored = await readStored(file, PANELS_ONLY, 'center', false);
    expect(stored.data).toMatchObject({ kind: 'set', path: file, problems: 3 });
    const feed = new StoredFeed(stored, 'cpu');
    expect(feed.records.shape).toEqual([3, 9 * 64 * 64]);
    expect(Buffer.from(feed.records.data() as Uint8Array)).toEqual(Buffer.from(set.panel));
    await feed.close();
  });

  test("the train split of a RAVEN folder: the panels are the set's", async () => {
    for (let index = 0; index < 10; index++) {
      await writeRavenProblem(folder, index, problem(index));
    }
    const stored = await readStored(folder, PANELS_ONLY, 'center', false);
    expect(stored.data.problems).toBe(6);
    expect(Buffer.from(stored.records)).toEqual(Buffer.from(setOf([0, 1, 2, 3, 4, 5]).panel));
  });

  test('other data under the same name is noticed', async () => {
    const file = path.join(folder, 'set.npz');
    await writeFile(file, encodeSet(setOf([0, 1])));
    const first = await readStored(file, PANELS_ONLY, 'center', false);
    await writeFile(file, encodeSet(setOf([0, 2])));
    const second = await readStored(file, PANELS_ONLY, 'center', false);
    expect(() => requireSameData(second.data, first.data)).toThrow(/has changed since/);
    expect(() => requireSameData(first.data, first.data)).not.toThrow();
  });

  test('a mixture is trained on, and called one once', async () => {
    const file = path.join(folder, 'set.npz');
    const others = [0, 1].map((index) => ({
      ...problemToBatch(sampleProblem({ ...source, configuration: 'left-right', index })),
      label: [[]],
    }));
    await writeFile(file, encodeSet(joinBatches([setOf([0, 1, 2, 3, 4, 5]), ...others])));
    const notes: NoteEvent[] = [];
    const observer = { note: (event: NoteEvent) => void notes.push(event) };
    const run = path.join(folder, 'run');
    const budget = { kind: 'steps', steps: 1 } as const;
    const changes = { data: file, pool: undefined, refresh: undefined, budget };
    await train(tinyRun(run, changes), observer);
    await train({ resume: run }, observer);
    expect(notes).toEqual([
      {
        level: 'warning',
        text: `--data ${file} (of 8 problems looked at 2 of left-right): the model is for center, and learns from them all`,
      },
    ]);
  });

  test('pictures that are no matrices are refused', async () => {
    const file = path.join(folder, 'set.npz');
    const { panel, ...rest } = setOf([0, 1, 2]);
    const strange = panel.map((_, i) => (i * 37) % 256);
    await writeFile(file, encodeSet({ ...rest, panel: strange, label: [[], [], []] }));
    await expect(readStored(file, PANELS_ONLY, 'center', false)).rejects.toThrow(
      `--data ${file}: the pictures are of no configuration that we know, and no rules are told`,
    );
  });

  test('a set of another configuration is refused', async () => {
    const file = path.join(folder, 'set.npz');
    const grids = [0, 1, 2, 3, 4, 5].map((index) =>
      problemToBatch(sampleProblem({ ...source, configuration: 'grid-2x2', index })),
    );
    await writeFile(file, encodeSet(joinBatches(grids)));
    await expect(readStored(file, PANELS_ONLY, 'center', false)).rejects.toThrow(
      /the data are of .*grid-2x2.*the model is for center/,
    );
  });
});
