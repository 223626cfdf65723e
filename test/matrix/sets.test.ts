import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ArgumentError, blobSource, FormatError, memorySource } from '../../src/base/index.js';
import {
  batches,
  encodeSet,
  formatLabel,
  isComplete,
  joinBatches,
  NpzFile,
  openSetFrom,
  parseLabel,
  problemToBatch,
  readNpz,
  sampleProblem,
  writeNpz,
  type NpyArray,
  type SetBatch,
} from '../../src/matrix/index.js';
import { fileSource } from '../../src/base/node.js';
import { openProblems, openSet, SetWriter, writeRavenProblem } from '../../src/matrix/node.js';
import { scratchFolder } from '../scratch-folder.js';
import {
  hasReference,
  pythonWithNumpy,
  referenceFiles,
  referenceSets,
  runPython,
} from './file-helpers.js';

const folder = scratchFolder();

const problemAt = (index: number) =>
  sampleProblem({ configuration: 'left-right', variant: 'i-raven', seed: 2, index });

const batchOf = (count: number): SetBatch =>
  joinBatches(Array.from({ length: count }, (_, index) => problemToBatch(problemAt(index))));

const sameProblems = (a: SetBatch, b: SetBatch): void => {
  expect(Buffer.compare(a.panel, b.panel)).toBe(0);
  expect(Buffer.compare(a.selection, b.selection)).toBe(0);
  expect([a.count, a.answer, a.label]).toEqual([b.count, b.answer, b.label]);
};

describe('labels', () => {
  test.skipIf(!hasReference)('of all reference sets are written as they were', async () => {
    for (const name of readdirSync(referenceSets)) {
      const source = await fileSource(path.join(referenceSets, name));
      const { data } = await (await NpzFile.open(source)).read('label');
      for (const text of data as readonly string[]) {
        expect(formatLabel(parseLabel(text))).toBe(text);
        expect(isComplete(parseLabel(text))).toBe(true);
      }
      await source.close();
    }
  });

  test('may be incomplete, but not wrong', () => {
    const partial = '[[["Type", "Progression", null]]]';
    expect(formatLabel(parseLabel(partial))).toBe(partial);
    expect(isComplete(parseLabel(partial))).toBe(false);
    expect(parseLabel('')).toEqual([]);
    for (const text of [
      'x',
      '{}',
      '[[["Type", "Chaos", 0]]]',
      '[[["Type", "Constant", 9]]]',
      '[1]',
    ]) {
      expect(() => parseLabel(text)).toThrow(FormatError);
    }
  });
});

describe('sets', () => {
  test('written in pieces, at once and by numpy’s layout are the same file', async () => {
    const all = batchOf(7);
    const file = path.join(folder, 'pieces.npz');
    const writer = await SetWriter.create(file, 7);
    for (let i = 0; i < 7; i++) await writer.add(problemToBatch(problemAt(i)));
    expect(existsSync(file)).toBe(false);
    await writer.finish();
    expect(Buffer.compare(readFileSync(file), encodeSet(all))).toBe(0);
    await readNpz(readFileSync(file)); // checksums
    const set = await openSet(file);
    expect([set.count, set.randomAccess, set.variant]).toEqual([7, true, 'i-raven']);
    sameProblems(await set.read(0, 7), all);
    sameProblems(await set.read(5, 1), problemToBatch(problemAt(5)));
    await set.close();
    const blob = await openSetFrom(blobSource(new Blob([readFileSync(file)])));
    sameProblems(await blob.read(2, 1), problemToBatch(problemAt(2)));
  });

  test('an empty set, and one abandoned', async () => {
    const file = path.join(folder, 'empty.npz');
    await (await SetWriter.create(file, 0)).finish();
    const set = await openSet(file);
    expect(set.count).toBe(0);
    await set.close();
    const before = readdirSync(folder);
    const writer = await SetWriter.create(path.join(folder, 'never.npz'), 2);
    await writer.add(batchOf(1));
    await expect(writer.add({ ...batchOf(1), count: 2 })).rejects.toThrow(ArgumentError);
    await writer.abandon();
    await expect(writer.add(batchOf(1))).rejects.toThrow(/complete/);
    const short = await SetWriter.create(path.join(folder, 'short.npz'), 3);
    await short.add(batchOf(2));
    await expect(short.add(batchOf(2))).rejects.toThrow(/set of 3 problems is already complete/);
    await expect(short.finish()).rejects.toThrow('2 of 3 problems of the set came');
    expect(readdirSync(folder)).toEqual(before);
  });

  test('a set that does not fit together is refused', async () => {
    const good = await readNpz(encodeSet(batchOf(2)));
    const change = (name: string, edit: Partial<NpyArray>): Promise<unknown> => {
      const arrays = new Map(good);
      const array = arrays.get(name);
      if (array) arrays.set(name, { ...array, ...edit });
      return openSetFrom(memorySource(writeNpz(arrays), 'set.npz'));
    };
    const answers = (...values: bigint[]) => ({
      shape: [values.length],
      data: BigInt64Array.from(values),
    });
    await expect(change('answer', answers(1n))).rejects.toThrow(/"panel" has 2 problems/);
    await expect(change('answer', answers(1n, 8n))).rejects.toThrow(/0 to 7/);
    await expect(change('panel', { shape: [2, 9, 32, 128] })).rejects.toThrow(/instead of/);
    await expect(change('label', { dtype: '|S300' })).rejects.toThrow(/"label"/);
    await expect(change('label', { dtype: '<U99999' })).rejects.toThrow(/99999 characters/);
    await expect(change('variant', { dtype: '<U1', data: ['x'] })).rejects.toThrow(
      '"variant" is "x" instead of one of raven, i-raven',
    );
    good.delete('variant');
    const set = await openSetFrom(
      memorySource(
        writeNpz(new Map(good).set('label', { dtype: '<U1', shape: [2], data: ['x', 'y'] })),
      ),
    );
    expect(set.variant).toBeUndefined();
    await expect(set.read(0, 1)).rejects.toThrow('label: expected a label in JSON, found "x"');
  });

  test.skipIf(!hasReference)('compressed ones are read in any order', async () => {
    const file = path.join(referenceSets, 'iraven_distribute_four_uniform.npz');
    const [packed, unpacked] = [
      await openSet(file),
      await openProblems(file, { randomAccess: true }),
    ];
    expect([packed.count, packed.randomAccess, unpacked.randomAccess]).toEqual([400, false, true]);
    sameProblems(await unpacked.read(399, 1), await packed.read(399, 1));
    sameProblems(await unpacked.read(20, 5), await packed.read(20, 5));
    let count = 0;
    for await (const batch of batches(unpacked, 150)) count += batch.count;
    expect(count).toBe(400);
    await packed.close();
    await unpacked.close();
  });

  test.skipIf(!pythonWithNumpy)('numpy reads ours', () => {
    const file = path.join(folder, 'numpy.npz');
    const batch = batchOf(3);
    writeFileSync(file, encodeSet(batch));
    const program = `
import json, sys, numpy
set = numpy.load(sys.argv[1])
print(json.dumps([[name, set[name].dtype.kind, list(set[name].shape)] for name in set.files] +
  [int(set['panel'].sum()), set['answer'].tolist(), [json.loads(text) for text in set['label']]]))`;
    expect(runPython(program, file)).toEqual([
      ['panel', 'u', [3, 9, 64, 64]],
      ['selection', 'u', [3, 8, 64, 64]],
      ['answer', 'i', [3]],
      ['label', 'U', [3]],
      ['rule_value', 'i', [3, 3, 4]],
      ['rule_direction', 'i', [3, 3, 4]],
      ['rule_index', 'i', [3, 3, 4]],
      ['variant', 'U', []],
      batch.panel.reduce((sum, pixel) => sum + pixel, 0),
      batch.answer,
      batch.label.map((rules) =>
        rules.map((component) =>
          component.map(({ attribute, name, value }) => [attribute, name, value]),
        ),
      ),
    ]);
  });
});

describe('openProblems', () => {
  test('finds the one folder of a root, and asks where there are more', async () => {
    const root = scratchFolder();
    await expect(openProblems(root)).rejects.toThrow(/no RAVEN problems/);
    await writeRavenProblem(root, 0, problemAt(0));
    const one = await openProblems(root);
    sameProblems(await one.read(0, 1), problemToBatch(problemAt(0)));
    await writeRavenProblem(root, 0, sampleProblem({ configuration: 'center', seed: 1, index: 0 }));
    await expect(openProblems(root)).rejects.toThrow(/give one of these folders/);
    expect((await openProblems(root, { configuration: 'center' })).count).toBe(1);
    expect((await openProblems(path.join(root, 'center_single'), { part: 'test' })).count).toBe(0);
    await expect(openProblems(root, { configuration: 'up-down' })).rejects.toThrow(ArgumentError);
  });

  test.skipIf(!hasReference)('chooses the noisy form when asked', async () => {
    const root = path.join(referenceFiles, 'raven');
    const noisy = await openProblems(root, { configuration: 'grid-3x3', noisy: true, part: 'val' });
    expect([path.basename(noisy.name), noisy.count]).toEqual(['distribute_nine', 2]);
  });
});
