import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import h5wasm from 'h5wasm/node';
import { beforeAll, describe, expect, test } from 'vitest';
import { ArgumentError, FormatError } from '../../src/base/index.js';
import { sampleProblem, problemToBatch } from '../../src/matrix/index.js';
import { openHdf5Cache, openProblems, openSet, SetWriter } from '../../src/matrix/node.js';
import { scratchFolder } from '../scratch-folder.js';
import { writeCache } from './hdf5-cache.js';

const root = scratchFolder();
const folder = path.join(root, 'distribute_four_uniform');
mkdirSync(folder);
const file = path.join(folder, 'test_64.hdf5');

const batch = (index: number) =>
  problemToBatch(sampleProblem({ configuration: 'grid-2x2', variant: 'i-raven', seed: 4, index }));
const COUNT = 40;

describe('the authors’ HDF5 caches', () => {
  beforeAll(async () => {
    await writeCache(file, COUNT, batch, [1, 0, 3, 2]);
  });

  test('are read in batches, the answer added as the ninth panel', async () => {
    const cache = await openProblems(file);
    expect(cache.count).toBe(COUNT);
    const read = await cache.read(3, 36);
    for (let i = 0; i < 36; i++) {
      const expected = batch(3 + i);
      const [panels, candidates] = [9 * 4096, 8 * 4096];
      expect(
        Buffer.compare(read.panel.subarray(i * panels, (i + 1) * panels), expected.panel),
      ).toBe(0);
      expect(
        Buffer.compare(
          read.selection.subarray(i * candidates, (i + 1) * candidates),
          expected.selection,
        ),
      ).toBe(0);
      expect(read.answer[i]).toBe(expected.answer[0]);
      expect(read.label[i]).toEqual([
        [
          { attribute: 'Number', name: 'Progression', value: null },
          { attribute: 'Type', name: 'Constant', value: 0 },
          { attribute: 'Size', name: 'Distribute_Three', value: 0 },
          { attribute: 'Color', name: 'Arithmetic', value: null },
        ],
      ]);
    }
    await expect(cache.read(39, 2)).rejects.toThrow(RangeError);
    await cache.close();
  });

  test('convert to sets', async () => {
    const cache = await openHdf5Cache(file);
    const writer = await SetWriter.create(path.join(root, 'set.npz'), 2);
    await writer.add(await cache.read(0, 2));
    await writer.finish();
    const set = await openSet(path.join(root, 'set.npz'));
    const [written, read] = [await set.read(1, 1), await cache.read(1, 1)];
    expect(Buffer.compare(written.panel, read.panel)).toBe(0);
    expect(Buffer.compare(written.selection, read.selection)).toBe(0);
    expect([written.answer, written.label]).toEqual([read.answer, read.label]);
    await set.close();
    await cache.close();
  });

  test('need a configuration that fits', async () => {
    await expect(openHdf5Cache(file, { configuration: 'left-right' })).rejects.toThrow(/concepts/);
    const elsewhere = path.join(root, 'cache.hdf5');
    writeFileSync(elsewhere, readFileSync(file));
    await expect(openHdf5Cache(elsewhere)).rejects.toThrow(ArgumentError);
    const named = await openHdf5Cache(elsewhere, { configuration: 'grid-2x2' });
    expect(named.count).toBe(COUNT);
    await named.close();
  });

  test('that are damaged are refused, silently on the screen', async () => {
    const bytes = readFileSync(file);
    const broken = path.join(folder, 'broken.hdf5');
    for (const damaged of [
      bytes.subarray(0, 3000),
      bytes.subarray(1),
      Buffer.alloc(0),
      Buffer.from('x'),
    ]) {
      writeFileSync(broken, damaged);
      await expect(openHdf5Cache(broken)).rejects.toThrow(FormatError);
      await expect(openHdf5Cache(broken)).rejects.toThrow(broken);
    }
    writeFileSync(broken, bytes.subarray(0, 3000));
    await expect(openHdf5Cache(broken)).rejects.toThrow(/finds an error/);
  });

  test('with values that are no grey, or arrays missing or of another shape, are refused', async () => {
    await h5wasm.ready;
    const odd = path.join(folder, 'odd.hdf5');
    const write = (panel: Float32Array, shape: number[], names: readonly string[]): void => {
      const cache = new h5wasm.File(odd, 'w');
      if (names.includes('panel')) cache.create_dataset({ name: 'panel', data: panel, shape });
      cache.create_dataset({
        name: 'selection',
        data: new Float32Array(32768),
        shape: [1, 8, 1, 64, 64],
      });
      cache.create_dataset({ name: 'answer', data: Int32Array.of(1), shape: [1] });
      cache.create_dataset({ name: 'label', data: Int32Array.of(0, 0, 0, 0), shape: [1, 4] });
      cache.close();
    };
    write(new Float32Array(32768).fill(NaN), [1, 8, 1, 64, 64], ['panel']);
    const cache = await openHdf5Cache(odd);
    await expect(cache.read(0, 1)).rejects.toThrow(/not a grey value/);
    await cache.close();
    write(new Float32Array(32768), [1, 8, 64, 64], ['panel']);
    await expect(openHdf5Cache(odd)).rejects.toThrow(/shape/);
    write(new Float32Array(32768), [1, 8, 1, 64, 64], []);
    await expect(openHdf5Cache(odd)).rejects.toThrow(/no dataset "panel"/);
  });

  test('that point to other files are refused', async () => {
    await h5wasm.ready;
    const linked = path.join(folder, 'linked.hdf5');
    const cache = new h5wasm.File(linked, 'w');
    for (const name of ['panel', 'selection', 'answer', 'label']) {
      cache.create_external_link(file, name, name);
    }
    cache.close();
    await expect(openHdf5Cache(linked)).rejects.toThrow(FormatError);
    await expect(openHdf5Cache(linked)).rejects.toThrow(/no dataset "panel"|other files/);
  });

  test('that take too long are given up', async () => {
    // The thread that may be waiting serves the first; starting another takes far longer than 1 ms.
    const first = await openHdf5Cache(file);
    await expect(openHdf5Cache(file, { timeLimit: 1 })).rejects.toThrow(/longer than 1 ms/);
    expect((await first.read(0, 1)).count).toBe(1);
    await first.close();
  });

  test('leave nothing behind in a thread that serves the next one', async () => {
    const bytes = readFileSync(file);
    const other = path.join(folder, 'other.hdf5');
    const cache = await openHdf5Cache(file);
    const expected = await cache.read(5, 3);
    await cache.close();
    for (const length of [600, 2500, 4000, bytes.length - 100_000, bytes.length - 1]) {
      writeFileSync(other, bytes.subarray(0, length));
      const damaged = openHdf5Cache(other).then(async (opened) => {
        await opened.read(COUNT - 1, 1).finally(() => opened.close());
      });
      await expect(damaged).rejects.toThrow(FormatError);
      const again = await openHdf5Cache(file);
      const { panel, selection, ...rest } = await again.read(5, 3);
      expect(Buffer.compare(panel, expected.panel)).toBe(0);
      expect(Buffer.compare(selection, expected.selection)).toBe(0);
      expect(rest).toEqual({ count: 3, answer: expected.answer, label: expected.label });
      await again.close();
      await expect(again.read(0, 1)).rejects.toThrow(/closed/);
    }
  });

  test('once closed keep no process alive', () => {
    const program = `import('./dist/matrix/node.js').then(async ({ openHdf5Cache }) => {
      const cache = await openHdf5Cache(process.argv[1]);
      await cache.read(0, 1);
      await cache.close();
      console.log(JSON.stringify(process.getActiveResourcesInfo()));
    })`;
    const flags = ['--eval', program, file];
    const root = path.resolve(import.meta.dirname, '../..');
    const printed = execFileSync(process.execPath, flags, { encoding: 'utf8', cwd: root });
    expect((JSON.parse(printed) as string[]).filter((name) => !/Pipe|TTY/.test(name))).toEqual([]);
  });

  test('may be open at the same time', async () => {
    const caches = await Promise.all([file, file, file].map((name) => openHdf5Cache(name)));
    const rows = await Promise.all(caches.map((cache, index) => cache.read(index, 1)));
    rows.forEach(({ answer }, index) => expect(answer).toEqual(batch(index).answer));
    await Promise.all(caches.map((cache) => cache.close()));
  });
});
