/**
 * What scripts/setup-torch.mjs shows while it builds: progress, and what the compiler says only if it
 * fails. The compiler is a small program that pretends, and libtorch a folder with the right names.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { scratchFolder } from '../scratch-folder.js';
import { ROOT } from '../project.js';

const folder = scratchFolder();
const libtorch = path.join(folder, 'libtorch');
const compiler = path.join(folder, 'compiler');
const sources = readdirSync(path.join(ROOT, 'native')).filter((name) => name.endsWith('.cc'));

/** Warns of everything, and fails at the file that REFUSED names. */
const PRETENDING = `#!${process.execPath}
const { writeFileSync } = require('node:fs');
const args = process.argv.slice(2);
if (!args.includes('-o')) process.exit(0);
console.error('warning: something is unused');
if (process.env.REFUSED && args.some((arg) => arg.endsWith('/' + process.env.REFUSED))) {
  console.error('error: this is no C++');
  process.exit(1);
}
writeFileSync(args[args.indexOf('-o') + 1], '');
`;

function put(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o755 });
}

beforeAll(() => {
  put(compiler, PRETENDING);
  put(
    path.join(libtorch, 'include/torch/headeronly/version.h'),
    ['MAJOR 2', 'MINOR 9', 'PATCH 0'].map((part) => `#define TORCH_VERSION_${part}\n`).join(''),
  );
  put(path.join(libtorch, 'lib/libtorch_cpu.so'), '');
  put(path.join(folder, 'node/include/node/node_api.h'), '');
});

function setup(out: string, refused: string): { code: number | null; text: string } {
  const script = path.join(ROOT, 'scripts/setup-torch.mjs');
  // With the sanitisers the result is not loaded, which would fail here.
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [script, '--sanitize', '--out', out],
    {
      encoding: 'utf8',
      env: {
        ...process.env,
        LIBTORCH: libtorch,
        CXX: compiler,
        REFUSED: refused,
        npm_config_nodedir: path.join(folder, 'node'),
      },
    },
  );
  return { code: status, text: stdout + stderr };
}

describe('setup:torch', () => {
  test('shows how far it is, and keeps warnings in a log', () => {
    const out = path.join(folder, 'good');
    const { code, text } = setup(out, '');
    expect(code).toBe(0);
    const steps = sources.length + 3;
    expect(text).toContain(`  1 of ${steps}: handles.h\n`);
    expect(text).toContain(` ${steps} of ${steps}: crab_torch.node\n`);
    for (const name of sources) expect(text).toContain(`: ${name}\n`);
    expect(text).not.toContain('warning');
    const log = readFileSync(path.join(out, 'setup.log'), 'utf8');
    expect(log.match(/warning: something is unused/g)).toHaveLength(steps);
    expect(existsSync(path.join(out, 'crab_torch.node'))).toBe(true);
  });

  test('shows what the compiler says if it fails, and where all of it is', () => {
    const out = path.join(folder, 'bad');
    const { code, text } = setup(out, sources[3]);
    expect(code).toBe(1);
    expect(text).toContain(`${sources[3]} did not compile:\n`);
    expect(text).toContain('error: this is no C++');
    expect(text).toContain(`All of it is in ${path.join(out, 'setup.log')}`);
  });
});
