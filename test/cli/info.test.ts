import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Installation } from '../../src/server/index.js';
import { writeBundle } from '../../src/solver/node.js';
import { randomBundle } from '../solver/random-model.js';
import { scratchFolder } from '../scratch-folder.js';
import { crab } from './run-crab.js';

const folder = scratchFolder();
const zoo = path.join(folder, 'zoo');

beforeAll(async () => {
  const { manifest, files } = randomBundle();
  const accuracy = { sa: { raven: 0.987, 'i-raven': 0.976 }, saL2: { raven: 0.9 }, problems: 500 };
  await writeBundle(path.join(zoo, 'center'), { ...manifest, accuracy }, files);
  const other = { ...manifest, system: 'transformer' };
  await writeBundle(path.join(zoo, 'transformer', 'center'), other, files);
});

/** Runs `crab info` with another addon than this machine's. */
async function infoWith(addon: string, ...args: string[]): Promise<string> {
  const before = process.env.CRAB_TORCH_ADDON;
  process.env.CRAB_TORCH_ADDON = addon;
  try {
    const { code, stdout, stderr } = await crab(['info', ...args]);
    expect([code, stderr]).toEqual([0, '']);
    return stdout;
  } finally {
    if (before === undefined) delete process.env.CRAB_TORCH_ADDON;
    else process.env.CRAB_TORCH_ADDON = before;
  }
}

describe('crab info', () => {
  test('is readable, and says how to get what is missing', async () => {
    const text = await infoWith(path.join(folder, 'absent.node'), '--zoo', zoo);
    expect(text).toMatch(/^crab-raven {4}\d+\.\d+\.\d+$/m);
    expect(text).toMatch(/^ONNX Runtime {2}\d+\.\d+/m);
    expect(text).toMatch(/^libtorch {6}missing: .*addon is not built/m);
    expect(text).toMatch(/^ {14}get it: npm run setup:torch$/m);
    expect(text.match(/setup:torch/g)).toHaveLength(1);
    expect(text).toMatch(
      /^models {8}center, \d+\.\d MB, accuracy by the calibrated distance raven 98\.7%, i-raven 97\.6%$/m,
    );
    expect(text).toMatch(/^ {14}transformer\/center, \d+\.\d MB, accuracy not measured$/m);
  });

  test('what is damaged is called so', async () => {
    const hurt = path.join(folder, 'hurt');
    const { manifest, files } = randomBundle();
    const accuracy = { sa: { raven: 1.2 }, saL2: {}, problems: 500 };
    await writeBundle(path.join(hurt, 'boasting'), { ...manifest, accuracy }, files);
    await writeBundle(path.join(hurt, 'flipped'), manifest, files);
    const file = path.join(hurt, 'flipped', 'encoder.onnx');
    const bytes = readFileSync(file);
    bytes[bytes.length >> 1] ^= 1;
    writeFileSync(file, bytes);
    const text = await infoWith(path.join(folder, 'absent.node'), '--zoo', hurt);
    expect(text).toMatch(/ boasting: damaged, its bundle\.json has an accuracy/);
    expect(text).toMatch(/ flipped: damaged, .*encoder\.onnx is damaged: its SHA-256 differs/);
  });

  test.each([
    ['nope', /--zoo .*nope: no such folder/],
    ['file.txt', /--zoo .*file\.txt: this is a file/],
  ])('--zoo %s is wrong use', async (name, message) => {
    writeFileSync(path.join(folder, 'file.txt'), 'text');
    const { code, stdout, stderr } = await crab(['info', '--zoo', path.join(folder, name)]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
  });

  test('--json is the same for programs, and a crashing addon crashes nothing', async () => {
    const addon = path.join(folder, 'crash.cjs');
    writeFileSync(addon, 'process.abort();');
    mkdirSync(path.join(folder, 'none'));
    const text = await infoWith(addon, '--json', '--zoo', path.join(folder, 'none'));
    const found = JSON.parse(text) as Installation;
    expect(found.libtorch).toMatchObject({ available: false, command: 'npm run setup:torch' });
    expect(found.zoo.bundles).toEqual([]);
  });
});
