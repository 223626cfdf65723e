/** Several processes and one output: nobody's result is lost, and what killed ones left is removed. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  outputPlace,
  OutputTakenError,
  PendingFile,
  removeAbandonedFiles,
  temporaryName,
  writeOutput,
} from '../../src/base/node.js';
import { generate } from '../../src/matrix/node.js';
import { layoutOf } from '../../src/matrix/index.js';
import { scratchFolder } from '../scratch-folder.js';

const linux = process.platform === 'linux';

/** A temporary name of another process of this host. */
const nameOf = (file: string, pid: number): string =>
  temporaryName(file).replace(/\.\d+_(\d+|-)_/, `.${pid}_-_`);

describe('two writers of one file', () => {
  test('the first to end has it; the second says so and leaves nothing', async () => {
    const folder = scratchFolder();
    const file = path.join(folder, 'set.npz');
    const [first, second] = [outputPlace(file), outputPlace(file)];
    const pending = await PendingFile.create(second);
    await pending.write(Buffer.from('second'), 0);
    await writeOutput(first, 'first');
    await expect(pending.commit()).rejects.toThrow(OutputTakenError);
    await pending.abandon();
    expect(readFileSync(file, 'utf8')).toBe('first');
    expect(readdirSync(folder)).toEqual(['set.npz']);
  });

  test('of many at the same moment exactly one has it', async () => {
    const folder = scratchFolder();
    const file = path.join(folder, 'page.html');
    const places = Array.from({ length: 8 }, () => outputPlace(file));
    const ends = await Promise.allSettled(places.map((place, i) => writeOutput(place, `${i}`)));
    const winners = ends.flatMap(({ status }, i) => (status === 'fulfilled' ? [`${i}`] : []));
    expect(winners).toHaveLength(1);
    expect(readFileSync(file, 'utf8')).toBe(winners[0]);
    expect(readdirSync(folder)).toEqual(['page.html']);
  });

  test('a file that may be replaced is not if it has changed meanwhile', async () => {
    const file = path.join(scratchFolder(), 'page.html');
    writeFileSync(file, 'old');
    const place = outputPlace(file);
    await writeOutput(outputPlace(file), 'from another process');
    await expect(writeOutput(place, 'late')).rejects.toThrow(/written by another process at/);
    expect(readFileSync(file, 'utf8')).toBe('from another process');
    await writeOutput(outputPlace(file), 'new');
    expect(readFileSync(file, 'utf8')).toBe('new');
  });

  test('two runs of generate into one folder do not mix', async () => {
    const out = path.join(scratchFolder(), 'data');
    const make = (seed: number) =>
      generate({
        layouts: [layoutOf('center')],
        variant: 'raven',
        count: 3,
        seed,
        format: 'svg',
        out,
        workers: 1,
      });
    const ends = await Promise.allSettled([make(1), make(2)]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const failure = ends.find((end) => end.status === 'rejected');
    expect(String(failure?.reason)).toMatch(/another process has begun|is being written/);
  });
});

describe.skipIf(!linux)('temporary files', () => {
  const gone = (): number => spawnSync('true').pid;

  test('of killed processes are removed when the same output is written again', async () => {
    const folder = scratchFolder();
    const file = path.join(folder, 'set.npz');
    const pid = gone();
    const [own, other] = [nameOf(file, pid), nameOf(path.join(folder, 'other.npz'), pid)];
    for (const name of [own, other]) writeFileSync(name, 'half');
    await writeOutput(outputPlace(file), 'whole');
    expect(readdirSync(folder).sort()).toEqual([path.basename(other), 'set.npz'].sort());
    await removeAbandonedFiles(folder);
    expect(readdirSync(folder)).toEqual(['set.npz']);
  });

  test('of live processes, other hosts and people stay', async () => {
    const folder = scratchFolder();
    const file = path.join(folder, 'set.npz');
    const sleeper = spawn('sleep', ['60']);
    try {
      const live = nameOf(file, sleeper.pid as number);
      const foreign = nameOf(file, gone()).replace(/_[0-9a-f]{8}_/, '_00000000_');
      const names = [live, foreign, path.join(folder, '.set.npz.part')];
      for (const name of names) writeFileSync(name, 'half');
      await removeAbandonedFiles(folder);
      expect(readdirSync(folder).sort()).toEqual(names.map((name) => path.basename(name)).sort());
      await expect(PendingFile.create(outputPlace(file))).rejects.toThrow(
        `${file} is being written by process ${sleeper.pid}`,
      );
    } finally {
      sleeper.kill();
    }
  });

  test('of a killed generate are removed when it is resumed', async () => {
    const out = path.join(scratchFolder(), 'data');
    const options = {
      layouts: [layoutOf('center')],
      variant: 'raven',
      count: 2,
      seed: 1,
      format: 'svg',
      out,
      workers: 1,
    } as const;
    await generate(options);
    const folder = path.join(out, 'center');
    const left = nameOf(path.join(folder, 'center-00001.svg'), gone());
    writeFileSync(left, 'half');
    await generate({ ...options, resume: true });
    expect(readdirSync(folder).sort()).toEqual([
      'center-00000.svg',
      'center-00001.svg',
      'generate.json',
    ]);
  });

  test('a folder being written is removed as a whole', async () => {
    const folder = scratchFolder();
    const left = nameOf(path.join(folder, 'bundle'), gone());
    mkdirSync(left);
    writeFileSync(path.join(left, 'encoder.onnx'), 'half');
    await removeAbandonedFiles(folder, 'bundle');
    expect(readdirSync(folder)).toEqual([]);
  });
});
