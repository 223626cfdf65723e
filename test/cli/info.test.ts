import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Installation } from '../../src/server/index.js';
import { writeBundle } from '../../src/solver/node.js';
import { isTorchAvailable } from '../../src/torch/index.js';
import { randomBundle } from '../solver/random-model.js';
import { scratchFolder } from './run-crab.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = scratchFolder();
const zoo = path.join(folder, 'zoo');

beforeAll(async () => {
  const { manifest, files } = randomBundle();
  const accuracy = { sa: { raven: 0.987, 'i-raven': 0.976 }, saL2: { raven: 0.9 }, problems: 500 };
  await writeBundle(path.join(zoo, 'center'), { ...manifest, accuracy }, files);
  mkdirSync(path.join(zoo, 'hurt'));
  writeFileSync(path.join(zoo, 'hurt', 'bundle.json'), '{"format": "crab-bundle"');
});

/** Runs `crab info`; standard output. */
function info(args: readonly string[], addon?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = addon === undefined ? process.env : { ...process.env, CRAB_TORCH_ADDON: addon };
    const command = ['--import', 'tsx', 'src/cli/main.ts', 'info', ...args];
    const child = spawn(process.execPath, command, { cwd: root, env });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    child.on('close', (code) =>
      code === 0 ? resolve(stdout) : reject(new Error(`code ${code}: ${stderr}`)),
    );
  });
}

describe('crab info', () => {
  test('tells what is there', async () => {
    const found = JSON.parse(await info(['--json', '--zoo', zoo])) as Installation;
    expect(found.node).toEqual({ version: process.version, supported: true });
    expect(found.onnxRuntime).toMatchObject({ available: true });
    expect(found.libtorch.available).toBe(isTorchAvailable());
    expect(found.machine.cores).toBeGreaterThan(0);
    expect(found.zoo.bundles).toEqual([
      {
        name: 'center',
        folder: path.join(zoo, 'center'),
        bytes: expect.any(Number) as number,
        accuracy: { raven: 0.987, 'i-raven': 0.976 },
      },
    ]);
    expect(found.zoo.damaged).toEqual(['hurt']);
  });

  test('is readable, and says how to get what is missing', async () => {
    const text = await info(['--zoo', zoo], path.join(folder, 'absent.node'));
    expect(text).toMatch(/^crab-raven {4}\d+\.\d+\.\d+$/m);
    expect(text).toMatch(/^ONNX Runtime {2}\d+\.\d+/m);
    expect(text).toMatch(/^libtorch {6}missing: .*addon is not built/m);
    expect(text).toMatch(/^ {14}get it: npm run setup:torch$/m);
    expect(text).toMatch(/center, \d+\.\d MB, accuracy raven 98\.7%, i-raven 97\.6%/);
    expect(text).toMatch(/hurt: damaged/);
    expect(await info(['--zoo', path.join(folder, 'none')])).toMatch(/^models {8}none in /m);
  });

  test.each([
    ['is no library', 'text.node', 'text', /does not load/],
    ['crashes', 'crash.cjs', 'process.abort();', /ended the process with SIGABRT/],
    ['ends its process', 'exit.cjs', 'process.exit(3);', /ended the process with code 3/],
    ['throws', 'throw.cjs', 'throw new Error("no such symbol");', /no such symbol/],
    ['is something else', 'other.cjs', 'module.exports = {};', /does not load/],
  ])('lives with an addon that %s', async (_, name, content, reason) => {
    const addon = path.join(folder, name);
    writeFileSync(addon, content);
    const found = JSON.parse(await info(['--json', '--zoo', zoo], addon)) as Installation;
    expect(found.libtorch).toEqual({
      available: false,
      reason: expect.stringMatching(reason) as string,
      command: 'npm run setup:torch',
    });
    expect(found.onnxRuntime).toMatchObject({ available: true });
  });
});
