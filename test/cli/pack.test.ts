/**
 * The package as others get it: what `npm pack` puts into it, and that it works in an empty project.
 * Its dependencies are linked from this repository instead of installed, so that no registry is
 * needed; development dependencies are not, so that a forgotten dependency shows.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { renderProblem, sampleProblem } from '../../src/matrix/index.js';
import { scratchFolder } from '../scratch-folder.js';

const root = path.resolve(import.meta.dirname, '../..');

interface Manifest {
  readonly name: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  /** A file, or one for each condition. */
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest;

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

/** Models, and ONNX Runtime, once for the solver and once for the page. */
const LARGE = ['zoo/', 'dist/runtime/', 'dist/studio/runtime/'];
/** Megabytes of everything else. */
const MOST_MEGABYTES = 10;
const TOP_LEVEL = ['CITATION.cff', 'LICENSE', 'README.md', 'dist', 'docs', 'native', 'zoo'];

const folder = scratchFolder();
const project = path.join(folder, 'project');
const modules = path.join(project, 'node_modules');
const installed = path.join(modules, manifest.name);

let packed: Packed;

function pack(): Packed {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const printed = execFileSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [found] = JSON.parse(printed) as Packed[];
  return found;
}

/** What `npm install` does with the package: unpacked, dependencies beside it, its programs linked. */
function install(): void {
  mkdirSync(installed, { recursive: true });
  mkdirSync(path.join(modules, '.bin'));
  const tarball = path.join(folder, packed.filename);
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed]);
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(path.dirname(path.join(modules, name)), { recursive: true });
    symlinkSync(path.join(root, 'node_modules', name), path.join(modules, name), 'dir');
  }
  for (const [name, file] of Object.entries(manifest.bin)) {
    chmodSync(path.join(installed, file), 0o755);
    symlinkSync(path.join(installed, file), path.join(modules, '.bin', name));
  }
  const description = { name: 'empty', version: '1.0.0', private: true, type: 'module' };
  writeFileSync(path.join(project, 'package.json'), JSON.stringify(description));
}

/** Runs a program in the project; what it prints. */
function run(program: string, ...args: string[]): string {
  return execFileSync(program, args, {
    cwd: project,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

beforeAll(() => {
  packed = pack();
  install();
});

describe('the packed files', () => {
  test('hold every entry point and program, and what builds the torch addon', () => {
    const paths = new Set(packed.files.map((file) => file.path));
    const entries = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === 'string' ? [entry] : Object.values(entry),
    );
    const wanted = [...entries, ...Object.values(manifest.bin)].map((file) =>
      path.posix.normalize(file),
    );
    const types = entries.map((file) => path.posix.normalize(file.replace(/\.js$/, '.d.ts')));
    const others = ['scripts/setup-torch.mjs', 'package.json', 'LICENSE', 'CITATION.cff'];
    for (const file of [...wanted, ...types, ...others]) expect(paths, file).toContain(file);
    const native = readdirSync(path.join(root, 'native')).filter((name) =>
      /\.(cc|cu|h)$/.test(name),
    );
    expect(native.length).toBeGreaterThan(0);
    for (const name of native) expect(paths).toContain(`native/${name}`);
  });

  test('are nothing else, and small', () => {
    const strange = packed.files
      .map((file) => file.path)
      .filter((file) => !TOP_LEVEL.includes(file.split('/')[0]))
      .filter((file) => !['package.json', 'scripts/setup-torch.mjs'].includes(file));
    expect(strange).toEqual([]);
    const bytes = packed.files
      .filter((file) => !LARGE.some((folder) => file.path.startsWith(folder)))
      .reduce((sum, file) => sum + file.size, 0);
    expect(bytes).toBeLessThan(MOST_MEGABYTES * 2 ** 20);
  });
});

describe('in an empty project', () => {
  test('the matrix layer makes and draws problems', () => {
    const program = `
      import { renderProblem, sampleProblem } from 'crab-raven/matrix';
      const problem = sampleProblem({ configuration: 'grid-3x3', seed: 5, index: 2 });
      const sum = renderProblem(problem).small.reduce((total, pixel) => total + pixel, 0);
      console.log(JSON.stringify([problem.target, sum]));`;
    writeFileSync(path.join(project, 'draw.js'), program);
    const problem = sampleProblem({ configuration: 'grid-3x3', seed: 5, index: 2 });
    const sum = renderProblem(problem).small.reduce((total, pixel) => total + pixel, 0);
    expect(JSON.parse(run(process.execPath, 'draw.js'))).toEqual([problem.target, sum]);
  });

  test('crab generate writes a set, which the matrix layer of Node reads', () => {
    const args = ['--config', 'center', '--count', '3', '--seed', '1', '--out', 'set.npz'];
    run('npx', '--no-install', 'crab', 'generate', ...args, '--format', 'npz');
    const program = `
      import { openProblems } from 'crab-raven/matrix/node';
      const source = await openProblems('set.npz');
      const { panel, answer } = await source.read(0, source.count);
      await source.close();
      console.log(JSON.stringify([source.count, panel.length, answer.length]));`;
    writeFileSync(path.join(project, 'read.js'), program);
    expect(JSON.parse(run(process.execPath, 'read.js'))).toEqual([3, 3 * 9 * 64 * 64, 3]);
  });

  test('a strict TypeScript program finds the types', () => {
    const program = `
      import { answerOf, sampleProblem, type Problem } from 'crab-raven/matrix';
      const problem: Problem = sampleProblem({ configuration: 'center', seed: 1, index: 0 });
      export const entities: number = answerOf(problem).components[0].entities.length;
      // @ts-expect-error there is no such configuration
      sampleProblem({ configuration: 'middle', seed: 1, index: 0 });`;
    writeFileSync(path.join(project, 'typed.ts'), program);
    const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
    expect(existsSync(compiler)).toBe(true);
    const flags = '--noEmit --strict --target es2022 --module nodenext --types --lib es2023';
    expect(run(process.execPath, compiler, ...flags.split(' '), 'typed.ts')).toBe('');
  });
});
