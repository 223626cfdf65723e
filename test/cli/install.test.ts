/**
 * `npm install` of the packed package, without any flag, in an empty project of a user without settings.
 * Whether the native ONNX Runtime gets installed depends on whether its vendor's server can be reached;
 * the install and the commands must work either way. Long, and skipped if npm's registry is out of reach.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Installation } from '../../src/server/index.js';
import { pack } from '../packed-package.js';
import { scratchFolder } from '../scratch-folder.js';

const root = path.resolve(import.meta.dirname, '../..');
const TWENTY_MINUTES = 20 * 60_000;

function isRegistryReachable(): boolean {
  if (!process.env.CRAB_TEST_LONG) return false;
  const { status } = spawnSync('npm', ['view', 'commander', 'version'], { timeout: 30_000 });
  return status === 0;
}

describe.skipIf(!isRegistryReachable())('npm install of the tarball', () => {
  const folder = scratchFolder();
  const project = path.join(folder, 'project');
  const cache = spawnSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).stdout.trim();
  // What npm tells the scripts it runs must not reach the one that is tested.
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  const env = { ...Object.fromEntries(inherited), HOME: folder, npm_config_cache: cache };

  const run = (program: string, ...args: string[]): string =>
    execFileSync(program, args, {
      cwd: project,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  beforeAll(() => {
    mkdirSync(project);
    writeFileSync(path.join(project, 'package.json'), '{ "private": true, "type": "module" }');
    cpSync(path.join(root, 'docs/images/matrix.png'), path.join(project, 'matrix.png'));
    run('npm', 'install', path.join(folder, pack(folder).filename));
  }, TWENTY_MINUTES);

  const crab = (...args: string[]): string => run('npx', '--no-install', 'crab', ...args);

  test('crab solves a matrix', () => {
    expect(crab('solve', 'matrix.png', '--model', 'grid-3x3')).toMatch(/^candidate [1-8] /m);
  });

  test('crab info tells which ONNX Runtime serves, and how to get what is missing', () => {
    const { onnxRuntime, libtorch } = JSON.parse(crab('info', '--json')) as Installation;
    const isNative = existsSync(path.join(project, 'node_modules/onnxruntime-node'));
    expect(onnxRuntime).toMatchObject({
      available: true,
      kind: isNative ? 'native' : 'wasm',
      nativeFault: isNative ? null : 'it is not installed',
      nativeCommand: isNative ? null : 'npm install onnxruntime-node --ignore-scripts',
    });
    expect(libtorch).toMatchObject({
      available: false,
      command: 'npm explore crab-raven -- npm run setup:torch',
    });
  });

  test('what needs libtorch names the command that gets it here', () => {
    const program = "import { zeros } from 'crab-raven/torch'; zeros([1]);";
    const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: project,
      env,
      encoding: 'utf8',
    });
    expect(stderr).toContain('run `npm explore crab-raven -- npm run setup:torch` to get it');
  });

  test('takes at most 450 MB, and 200 MB without the native runtime', () => {
    const [kilobytes] = run('du', '-sk', '.').split('\t');
    const isNative = existsSync(path.join(project, 'node_modules/onnxruntime-node'));
    expect(Number(kilobytes) / 1024).toBeLessThan(isNative ? 450 : 200);
  });
});
