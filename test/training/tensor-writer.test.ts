import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { SafetensorsFile } from '../../src/torch/index.js';
import type { HostTensor } from '../../src/training/run/checkpoint.js';
import { requireIntact } from '../../src/training/run/checksum.js';
import { PendingTensors } from '../../src/training/run/tensor-writer.js';
import { scratchFolder } from '../scratch-folder.js';

let folder: string;
beforeEach(() => {
  folder = scratchFolder();
});

const tensor = (name: string, bytes: number, value: number): HostTensor => ({
  name,
  dtype: 'u8',
  shape: [bytes],
  bytes: new Uint8Array(bytes).fill(value),
});

describe.each([
  ['small, at once', 1000],
  ['large, in a thread', 33 << 20],
])('a checkpoint, %s', (_, bytes) => {
  test('a failed write can be tried again with the same tensors', async () => {
    const pending = new PendingTensors([tensor('a', bytes, 7), tensor('b', bytes, 9)]);
    const nowhere = path.join(folder, 'missing', 'x.safetensors');
    const failure = await pending.write(nowhere, {}).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    expect((failure as Error).message).toMatch(/ENOENT/);
    const file = path.join(folder, 'x.safetensors');
    await pending.write(file, { step: '3' });
    expect(await readdir(folder)).toEqual(['x.safetensors']);
    const opened = SafetensorsFile.open(file);
    expect(opened.metadata.step).toBe('3');
    expect(opened.describe('b').shape).toEqual([bytes]);
    expect(new Set(opened.readBytes('a'))).toEqual(new Set([7]));
    expect(new Set(opened.readBytes('b'))).toEqual(new Set([9]));
    opened.close();
    expect(() => requireIntact(file)).not.toThrow();
    const content = await readFile(file);
    content[content.length - 1] ^= 1;
    await writeFile(file, content);
    expect(() => requireIntact(file)).toThrow(/its weights are not those that were written/);
  });
});
