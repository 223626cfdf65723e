/**
 * What calls the kernels for a GPU, with their gradients (native/*.cc), run on the processor: the addon is built
 * with kernels that run there (cuda-on-cpu), takes tensors there for tensors on a GPU, and must then pass what it
 * passes with libtorch's operators. It takes minutes: CRAB_TEST_LONG.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { isTorchAvailable } from '../../src/torch/index.js';
import { scratchFolder } from '../scratch-folder.js';
import { withoutCudaSyntax } from './cuda-on-cpu/cuda-sources.js';
import { ROOT } from '../project.js';

const HERE = path.join(import.meta.dirname, 'cuda-on-cpu');
const folder = scratchFolder();
const addon = path.join(folder, 'build/torch/crab_torch.node');
const LIMIT = 3_600_000;

/** A project with nothing but the addon's sources, in which kernels are plain C++. */
function build(): void {
  const compiler = path.join(folder, 'compiler');
  for (const name of ['native', 'scripts']) mkdirSync(path.join(folder, name));
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  for (const name of ['setup-torch.mjs', 'arguments.mjs', 'node-headers.mjs']) {
    copyFileSync(path.join(ROOT, 'scripts', name), path.join(folder, 'scripts', name));
  }
  for (const name of readdirSync(path.join(ROOT, 'native'))) {
    const text = readFileSync(path.join(ROOT, 'native', name), 'utf8');
    const [to, source] = name.endsWith('.cu')
      ? [`${name}.cc`, withoutCudaSyntax(text)]
      : [name, text];
    writeFileSync(path.join(folder, 'native', to), source);
  }
  const flags = `-DCRAB_CUDA_KERNELS -U_FORTIFY_SOURCE -I"${HERE}/libtorch" -I"${HERE}"`;
  const command = `#!/bin/sh\nexec ${process.env.CXX ?? 'g++'} ${flags} "$@"\n`;
  writeFileSync(compiler, command, { mode: 0o755 });
  execFileSync(process.execPath, [path.join(folder, 'scripts/setup-torch.mjs')], {
    env: { ...process.env, CXX: compiler },
  });
}

function run(file: string, args: readonly string[]): { code: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(ROOT, file), ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, CRAB_TORCH_ADDON: addon },
  });
  return { code: status, text: stdout + stderr };
}

const isLong = Boolean(process.env.CRAB_TEST_LONG);

describe.skipIf(!isLong || !isTorchAvailable())('callers of kernels for a GPU', () => {
  beforeAll(build, LIMIT);

  test('give what libtorch gives in f64', { timeout: LIMIT }, () => {
    const { code, text } = run('scripts/check-gpu.mjs', ['--device', 'cpu']);
    expect(text).toContain('All kernels are right.');
    expect(code).toBe(0);
  });

  test('pass the tests of the operators', { timeout: LIMIT }, () => {
    const names = ['batch-norm-act', 'max-pool', 'convolution-forms'];
    const files = names.map((name) => `test/torch/${name}.test.ts`);
    const { code, text } = run('node_modules/vitest/vitest.mjs', ['run', ...files]);
    expect(text).toContain('3 passed');
    expect(code).toBe(0);
  });
});
