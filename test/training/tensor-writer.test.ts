import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { SafetensorsFile } from '../../src/torch/index.js';
import {
  metadataOf,
  readExtra,
  writeTensors,
  type HostTensor,
} from '../../src/training/run/checkpoint.js';
import { scratchFolder } from '../scratch-folder.js';

let folder: string;
beforeEach(() => {
  folder = scratchFolder();
});

const tensor = (name: string, bytes: number, value: number): HostTensor => ({
  name,
  dtype: 'u8',
  shape: [bytes],
  bytes: new Uint8Array(new SharedArrayBuffer(bytes)).fill(value),
});

describe.each([
  ['small, at once', 1000],
  ['large, in a thread', 33 << 20],
])('a checkpoint, %s', (_, bytes) => {
  test('a failed write can be tried again with the same tensors', async () => {
    const tensors = [tensor('a', bytes, 7), tensor('b', bytes, 9)];
    const metadata = metadataOf({ extra: { step: 3 } });
    const nowhere = path.join(folder, 'missing', 'x.safetensors');
    const failure = await writeTensors({ file: nowhere, tensors, metadata }).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(Error);
    expect(failure).toMatchObject({ code: 'ENOENT', path: nowhere });
    expect((failure as Error).message).toMatch(/ENOENT/);
    const file = path.join(folder, 'x.safetensors');
    await writeTensors({ file, tensors, metadata });
    expect(await readdir(folder)).toEqual(['x.safetensors']);
    const opened = SafetensorsFile.open(file);
    expect(opened.metadata.extra).toBe('{"step":3}');
    expect(opened.describe('b').shape).toEqual([bytes]);
    expect(new Set(opened.readBytes('a'))).toEqual(new Set([7]));
    expect(new Set(opened.readBytes('b'))).toEqual(new Set([9]));
    opened.close();
    expect(readExtra(file)).toEqual({ step: 3 });
    const content = await readFile(file);
    content[content.length - 1] ^= 1;
    await writeFile(file, content);
    expect(() => readExtra(file)).toThrow(/its content is not what was written/);
  });
});

test('the checksum covers what the system keeps beside its weights', async () => {
  const file = path.join(folder, 'x.safetensors');
  await writeTensors({ file, tensors: [], metadata: metadataOf({ extra: [1, 2.5] }) });
  expect(readExtra(file)).toEqual([1, 2.5]);
  const text = (await readFile(file)).toString('latin1');
  await writeFile(file, text.replace('2.5', '2.6'), 'latin1');
  expect(() => readExtra(file)).toThrow(/its content is not what was written/);
});

test('a checkpoint of an earlier version is refused in so many words', async () => {
  const file = path.join(folder, 'x.safetensors');
  const metadata = { format: 'crab-checkpoint-1', prior: 'null' };
  await writeTensors({ file, tensors: [], metadata });
  expect(() => readExtra(file)).toThrow(/not a checkpoint of this version of crab/);
});
