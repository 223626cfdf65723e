/** What scripts/pack-training.mjs packs runs by itself: no Node on the path, no folder of the project. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { scratchFolder } from '../scratch-folder.js';

const root = path.resolve(import.meta.dirname, '../..');
const folder = scratchFolder();
const unpacked = path.join(folder, 'crab-training');
const addon = path.join(root, 'build/torch/crab_torch.node');

interface Ended {
  readonly code: number | null;
  readonly text: string;
}

function run(program: string, args: readonly string[], env: Record<string, string>): Ended {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: folder,
    encoding: 'utf8',
    // Programs of the system are there; Node is not.
    env: { PATH: path.join(folder, 'programs'), HOME: folder, ...env },
  });
  return { code: status, text: stdout + stderr };
}

const packTo = (file: string): Ended =>
  run(process.execPath, [path.join(root, 'scripts/pack-training.mjs'), file], {
    PATH: process.env.PATH ?? '',
  });

beforeAll(() => {
  const file = path.join(folder, 'all.tar');
  const { code, text } = packTo(file);
  if (code !== 0) throw new Error(text);
  execFileSync('tar', ['-xf', file, '-C', folder]);
  mkdirSync(path.join(folder, 'programs'));
});

describe('the packed training', () => {
  test.skipIf(!existsSync(addon))('trains with the Node that came along', () => {
    const { code, text } = run(
      path.join(unpacked, 'bin/node'),
      [
        path.join(unpacked, 'app/dist/cli/main.js'),
        ...['train', '--config', 'center', '--preset', 'small', '--steps', '1', '--quiet'],
        ...['--overrides', '{"optimizer":{"batchSize":4}}', '--pool', '16', '--out', 'run'],
      ],
      { CRAB_TORCH_ADDON: addon },
    );
    expect(text).toMatch(/1 step/);
    expect(code).toBe(0);
    expect(readdirSync(path.join(folder, 'run'))).toContain('metrics.jsonl');
  });

  test.skipIf(!existsSync(addon))('checks its kernels, here on the processor', () => {
    const check = path.join(unpacked, 'app/scripts/check-gpu.mjs');
    const env = { CRAB_TORCH_ADDON: addon };
    const { code, text } = run(path.join(unpacked, 'bin/node'), [check, '--device', 'cpu'], env);
    expect(text).toMatch(/^right {2}bf16 first stage 2x1x160x160 to 16 \(SCL\)/m);
    expect(text).toContain('All kernels are right.');
    expect(code).toBe(0);
  });

  test('says what is missing if the addon cannot be built', () => {
    const { code, text } = run('/bin/sh', [path.join(unpacked, 'crab'), '--version'], {
      PATH: '/usr/bin:/bin',
      LIBTORCH: folder,
    });
    expect(text).toContain('no include/torch and lib/libtorch_cpu.so there');
    expect(code).toBe(1);
  });

  test('brings headers, native sources and benches, but neither page nor models', () => {
    const files = new Set(readdirSync(unpacked, { recursive: true }).map(String));
    for (const file of [
      'include/node/node_api.h',
      'app/native/addon.cc',
      'app/bench/campaign.mjs',
      'app/bench/convolution-forms.mjs',
    ])
      expect(files, file).toContain(file);
    const unwanted = [...files].filter((file) =>
      /^app\/(dist\/studio|zoo|docs|test)|\.map$|darwin|win32/.test(file),
    );
    expect(unwanted.filter((file) => !file.includes('node_modules'))).toEqual([]);
  });

  test('is refused with one sentence under a name without a known ending', () => {
    const { code, text } = packTo('all.zip');
    expect(text).toBe('all.zip: must end in .tar.xz, .tar.gz or .tar.\n');
    expect(code).toBe(1);
  });
});
