import { mkdir, readdir, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { RunFormatError } from '../../src/training/errors.js';
import { diskFiles, type RunFiles } from '../../src/training/run/folder.js';
import {
  eventRecord,
  GrowingFile,
  maskedCrc32c,
  parseMetrics,
  RunLogs,
  type TrainMetrics,
} from '../../src/training/run/logs.js';
import { scratchFolder } from '../scratch-folder.js';
import { decodeEventFile } from './event-decoder.js';

let folder: string;
beforeEach(() => {
  folder = scratchFolder();
});

const trainLine = (step: number): TrainMetrics => ({
  kind: 'train',
  step,
  epoch: step / 10,
  learningRate: 3e-4,
  terms: { loss: 1 / (step + 1), target: -0.25 },
  wall: { seconds: step },
});

describe('TensorBoard event files', () => {
  test('CRC-32C of the published check value', () => {
    const masked = (crc: number): number => (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
    expect(maskedCrc32c(Buffer.from('123456789'))).toBe(masked(0xe3069283));
    expect(maskedCrc32c(new Uint8Array(32))).toBe(masked(0x8a9136aa));
  });

  test('records decode to what was written', () => {
    const scalars = new Map([
      ['loss/total', 1.5],
      ['validation/größe', -0.25],
      ['bad', NaN],
    ]);
    const bytes = Buffer.concat([
      eventRecord({ wallTime: 1_700_000_000.5, fileVersion: 'brain.Event:2' }),
      eventRecord({
        wallTime: 1_700_000_001.25,
        step: 5_000_000_000,
        summary: { value: [...scalars].map(([tag, simpleValue]) => ({ tag, simpleValue })) },
      }),
    ]);
    const [version, values] = decodeEventFile(bytes);
    expect(version.fileVersion).toBe('brain.Event:2');
    expect(version.wallTime).toBe(1_700_000_000.5);
    expect(values.step).toBe(5_000_000_000);
    expect(values.wallTime).toBe(1_700_000_001.25);
    expect([...values.scalars]).toEqual([...scalars]);
  });

  test('a flipped bit anywhere is noticed by the decoder', () => {
    const summary = { value: [{ tag: 'a', simpleValue: 1 }] };
    const bytes = eventRecord({ wallTime: 1, step: 2, summary });
    for (let at = 8; at < bytes.length; at++) {
      const damaged = bytes.slice();
      damaged[at] ^= 4;
      expect(() => decodeEventFile(damaged)).toThrow();
    }
  });

  test.each([40, 0])('a run resumed at step %i voids what comes after it', async (step) => {
    const log = await RunLogs.open(folder, diskFiles, step, () => 1_800_000_000);
    log.add(trainLine(60));
    await log.flush();
    const name = (await readdir(folder)).find((each) => each.includes('tfevents')) ?? '';
    const events = decodeEventFile(await readFile(path.join(folder, name)));
    expect(events.map((event) => event.step)).toEqual([0, step + 1, 60]);
    expect(events[1].sessionStatus).toBe(1);
    expect(events[2].scalars.get('loss/target')).toBe(-0.25);
    expect(events[2].scalars.get('train/learning-rate')).toBeCloseTo(3e-4, 9);
  });
});

describe('metrics.jsonl', () => {
  const file = (): string => path.join(folder, 'metrics.jsonl');

  test('drops a cut-off last line and the lines after the resumed step', async () => {
    const log = await RunLogs.open(folder, diskFiles, 0);
    for (const step of [10, 20, 30, 40]) log.add(trainLine(step));
    await log.flush();
    const whole = await readFile(file());
    await truncate(file(), whole.length - 7);
    expect(parseMetrics(await readFile(file())).map((line) => line.step)).toEqual([10, 20, 30]);
    const resumed = await RunLogs.open(folder, diskFiles, 20);
    for (const step of [30, 40]) resumed.add(trainLine(step));
    await resumed.flush();
    expect(await readFile(file())).toEqual(whole);
  });

  test('a cut at every byte leaves a log that opens', async () => {
    const log = await RunLogs.open(folder, diskFiles, 0);
    for (const step of [10, 20]) log.add(trainLine(step));
    await log.flush();
    const whole = await readFile(file());
    for (let length = 0; length <= whole.length; length++) {
      const lines = parseMetrics(whole.subarray(0, length));
      expect(lines.length).toBe(whole.subarray(0, length).filter((byte) => byte === 10).length);
    }
  });

  test('a damaged line in the middle is an error that names it', async () => {
    await writeFile(file(), '{"kind":"train","step":1}\nnonsense\n{"kind":"train","step":3}\n');
    await expect(RunLogs.open(folder, diskFiles, 9)).rejects.toThrow(RunFormatError);
    await expect(RunLogs.open(folder, diskFiles, 9)).rejects.toThrow(/line 2/);
  });
});

describe('a disk that fails', () => {
  /** Writes half of every tail, then reports a full disk, while `full`. */
  function fullDisk(): RunFiles & { full: boolean } {
    const files = {
      ...diskFiles,
      full: false,
      writeTail: async (name: string, offset: number, bytes: Uint8Array): Promise<void> => {
        if (!files.full) return diskFiles.writeTail(name, offset, bytes);
        await diskFiles.writeTail(name, offset, bytes.subarray(0, bytes.length / 2));
        throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
      },
    };
    return files;
  }

  test('a half-written tail is repaired by the next flush', async () => {
    const files = fullDisk();
    const file = new GrowingFile(path.join(folder, 'log'), files);
    file.add(Buffer.from('one\n'));
    await file.flush();
    files.full = true;
    file.add(Buffer.from('two and more\n'));
    await expect(file.flush()).rejects.toThrow(/no space/);
    file.add(Buffer.from('three\n'));
    await expect(file.flush()).rejects.toThrow(/no space/);
    files.full = false;
    await file.flush();
    expect(await readFile(file.path, 'utf8')).toBe('one\ntwo and more\nthree\n');
  });

  test('a vanished folder: all of the file comes back once the folder does', async () => {
    const run = path.join(folder, 'run');
    await mkdir(run);
    const file = new GrowingFile(path.join(run, 'log'), diskFiles);
    file.add(Buffer.from('one\n'));
    await file.flush();
    await rename(run, path.join(folder, 'away'));
    file.add(Buffer.from('two\n'));
    await expect(file.flush()).rejects.toThrow(/ENOENT/);
    await mkdir(run);
    await file.flush();
    expect(await readFile(file.path, 'utf8')).toBe('one\ntwo\n');
  });
});
