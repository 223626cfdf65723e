/** What `npm pack` puts into the package, and that it works in an empty project. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { renderProblem, sampleProblem } from '../../src/matrix/index.js';
import { installTarball, linkModule, manifest, pack, type Packed } from '../packed-package.js';
import { scratchFolder } from '../scratch-folder.js';

const root = path.resolve(import.meta.dirname, '../..');

/** Models, and ONNX Runtime, once for the solver and once for the page. */
const LARGE = ['zoo/', 'dist/runtime/', 'dist/studio/runtime/'];
/** Megabytes of everything else. */
const MOST_MEGABYTES = 10;
const SCRIPTS = ['arguments', 'node-headers', 'setup-torch'].map((name) => `scripts/${name}.mjs`);
const TOP_LEVEL = ['CITATION.cff', 'LICENSE', 'README.md', 'dist', 'docs', 'native', 'zoo'];

const folder = scratchFolder();
const project = path.join(folder, 'project');
const modules = path.join(project, 'node_modules');

let packed: Packed;

/** Runs a program in the project; what it prints. */
function run(program: string, ...args: string[]): string {
  return execFileSync(program, args, {
    cwd: project,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** The same if it may fail. */
function outputOf(program: string, ...args: string[]): string {
  const { stdout, stderr } = spawnSync(program, args, { cwd: project, encoding: 'utf8' });
  return stdout + stderr;
}

beforeAll(() => {
  packed = pack(folder);
  installTarball(path.join(folder, packed.filename), project);
  const description = { name: 'empty', version: '1.0.0', private: true, type: 'module' };
  writeFileSync(path.join(project, 'package.json'), JSON.stringify(description));
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
    const others = [...SCRIPTS, 'package.json', 'LICENSE', 'CITATION.cff'];
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
      .filter((file) => !['package.json', ...SCRIPTS].includes(file));
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
});

describe('types', () => {
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
  /** Every example of README, each a module of its own. */
  const examples = [
    ...readFileSync(path.join(root, 'README.md'), 'utf8').matchAll(/```ts\n(.*?)```/gs),
  ].map(([, code], i) => ({ name: `example-${i + 1}.ts`, code }));
  const wrong = `
    import { sampleProblem } from 'crab-raven';
    // @ts-expect-error there is no such configuration
    sampleProblem({ configuration: 'middle', seed: 1, index: 0 });`;
  const inBrowser = `
    import { readProblem, Solver } from 'crab-raven/solver';
    export async function solve(file: File, drawing: ImageData): Promise<readonly number[]> {
      const solver: Solver = await Solver.load('center', { backend: 'wasm' });
      return [...(await readProblem(file)).missing, ...(await readProblem(drawing)).missing, solver.history.length];
    }`;

  beforeAll(() => {
    expect(existsSync(compiler)).toBe(true);
    linkModule(modules, '@types/node');
    const files = [
      ...examples,
      { name: 'wrong.ts', code: wrong },
      { name: 'in-browser.ts', code: inBrowser },
    ];
    for (const { name, code } of files) writeFileSync(path.join(project, name), code);
  });

  test('there are examples to compile', () => {
    expect(examples.length).toBeGreaterThanOrEqual(3);
  });

  test.each([
    ['node16', 'node16', ['node']],
    ['nodenext', 'nodenext', ['node']],
    ['esnext', 'bundler', ['node']],
    ['esnext', 'bundler', []],
  ])(
    "README's examples compile: module %s, resolution %s, types %j",
    (module, resolution, types) => {
      const options = {
        noEmit: true,
        strict: true,
        noUncheckedIndexedAccess: true,
        exactOptionalPropertyTypes: true,
        // Our declarations are checked, TypeScript's own are not.
        skipLibCheck: false,
        skipDefaultLibCheck: true,
        target: 'es2022',
        lib: ['es2023', 'esnext.disposable', 'dom', 'dom.iterable'],
        module,
        moduleResolution: resolution,
        types,
      };
      const names = [...examples.map(({ name }) => name), 'wrong.ts', 'in-browser.ts'];
      const config = { compilerOptions: options, files: names };
      writeFileSync(path.join(project, 'tsconfig.json'), JSON.stringify(config));
      expect(outputOf(process.execPath, compiler, '-p', '.')).toBe('');
    },
  );
});

describe('what npm installs along', () => {
  interface Locked {
    readonly hasInstallScript?: boolean;
    readonly dev?: boolean;
    readonly optional?: boolean;
    readonly devOptional?: boolean;
  }
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };

  test('has no install script, unless it may fail', () => {
    const withScript = Object.entries(packages).filter(
      ([, { hasInstallScript, dev }]) => hasInstallScript === true && dev !== true,
    );
    expect(withScript.map(([name]) => name)).toContain('node_modules/onnxruntime-node');
    for (const [name, { optional, devOptional }] of withScript) {
      expect(optional ?? devOptional, name).toBe(true);
    }
  });
});
