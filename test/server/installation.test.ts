import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readInstallation } from '../../src/server/index.js';
import { writeBundle } from '../../src/solver/node.js';
import { isTorchAvailable } from '../../src/torch/index.js';
import { randomBundle } from '../solver/random-model.js';
import { scratchFolder } from '../scratch-folder.js';

const folder = scratchFolder();
const zoo = path.join(folder, 'zoo');
const addonBefore = process.env.CRAB_TORCH_ADDON;

beforeAll(async () => {
  const { manifest, files } = randomBundle();
  const accuracy = { sa: { raven: 0.987, 'i-raven': 0.976 }, saL2: { raven: 0.9 }, problems: 500 };
  await writeBundle(path.join(zoo, 'center'), { ...manifest, accuracy }, files);
  mkdirSync(path.join(zoo, 'hurt'));
  writeFileSync(path.join(zoo, 'hurt', 'bundle.json'), '{"format": "crab-bundle"');
});
afterAll(() => {
  if (addonBefore === undefined) delete process.env.CRAB_TORCH_ADDON;
  else process.env.CRAB_TORCH_ADDON = addonBefore;
});

describe('what is installed', () => {
  test('is told with its sizes and accuracy', async () => {
    const found = await readInstallation({ zoo });
    expect(found.node).toEqual({ version: process.version, supported: true });
    expect(found.onnxRuntime).toMatchObject({ available: true });
    expect(found.libtorch.available).toBe(isTorchAvailable());
    expect(found.machine.cores).toBeGreaterThan(0);
    expect(found.zoo).toEqual({
      folder: zoo,
      bundles: [
        {
          name: 'center',
          folder: path.join(zoo, 'center'),
          bytes: expect.any(Number) as number,
          accuracy: { raven: 0.987, 'i-raven': 0.976 },
          distance: 'calibrated',
        },
      ],
      damaged: [{ name: 'hurt', reason: 'its bundle.json cannot be read' }],
    });
  });

  test('a page that is not built is missing', async () => {
    const found = await readInstallation({ zoo: path.join(folder, 'none'), page: folder });
    const reason = 'the page is not built';
    expect(found.page).toEqual({ available: false, reason, command: 'npm run build' });
    expect(found.zoo.bundles).toEqual([]);
  });

  test.each([
    ['is absent', 'absent.node', null, /addon is not built/],
    ['is no library', 'text.node', 'text', /does not load/],
    ['crashes', 'crash.cjs', 'process.abort();', /ended the process with SIGABRT/],
    ['ends its process', 'exit.cjs', 'process.exit(3);', /ended the process with code 3/],
    ['throws', 'throw.cjs', 'throw new Error("no such symbol");', /no such symbol/],
    ['is something else', 'other.cjs', 'module.exports = {};', /does not load/],
  ])('an addon that %s is missing', async (_, name, content, reason) => {
    const addon = path.join(folder, name);
    if (content !== null) writeFileSync(addon, content);
    process.env.CRAB_TORCH_ADDON = addon;
    const { libtorch, onnxRuntime } = await readInstallation({ zoo });
    expect(libtorch).toEqual({
      available: false,
      reason: expect.stringMatching(reason) as string,
      command: 'npm run setup:torch',
    });
    expect(onnxRuntime).toMatchObject({ available: true });
  });
});
