/**
 * The kernels for a GPU give what their formulas say: compiled for the processor, where the threads of a block
 * take turns, and compared with plain loops in f64. So every machine with a C++ compiler tests them.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { scratchFolder } from '../scratch-folder.js';
import { withoutCudaSyntax } from './cuda-on-cpu/cuda-sources.js';

const HERE = path.join(import.meta.dirname, 'cuda-on-cpu');
const NATIVE = path.resolve(import.meta.dirname, '..', '..', 'native');
const COMPILER = process.env.CXX ?? 'g++';
const hasCompiler = spawnSync(COMPILER, ['--version']).status === 0;

/** The most that a result may be away, as a share of the largest: what rounding to its type makes. */
const MOST: Readonly<Record<string, number>> = { f32: 2e-5, f16: 1e-3, bf16: 8e-3 };

const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => path.join(folder, name));

function compiled(): string {
  const folder = scratchFolder();
  const kernels = filesIn(NATIVE, '.cu').map((file) => {
    const source = path.join(folder, `${path.basename(file)}.cc`);
    writeFileSync(source, withoutCudaSyntax(readFileSync(file, 'utf8')));
    return source;
  });
  const program = path.join(folder, 'kernels');
  const folders = [HERE, NATIVE].map((each) => `-I${each}`);
  const sources = [...kernels, ...filesIn(HERE, '.cc')];
  execFileSync(COMPILER, [
    '-std=c++17',
    '-O1',
    '-U_FORTIFY_SOURCE',
    ...folders,
    ...sources,
    '-o',
    program,
  ]);
  return program;
}

describe.skipIf(!hasCompiler)('kernels for a GPU, run on the processor', () => {
  let printed: string[] = [];
  let differences: (readonly [name: string, difference: number])[] = [];
  beforeAll(() => {
    const program = compiled();
    printed = [[], ['backwards']].map((args) => execFileSync(program, args, { encoding: 'utf8' }));
    differences = printed[0]
      .trim()
      .split('\n')
      .map((line) => line.split('\t'))
      .map(([name, difference]) => [name, Number(difference)] as const);
    // On a busy machine compiling takes many minutes.
  }, 1_200_000);

  test('which thread comes first makes no difference', () => {
    expect(printed[0]).toContain('max pool');
    expect(printed[1]).toBe(printed[0]);
  });

  test.each(['batch norm', 'max pool', 'first stage'])(
    '%s gives what its formula says',
    (kernel) => {
      const own = differences.filter(([name]) => name.startsWith(kernel));
      expect(own.length).toBeGreaterThanOrEqual(11);
      const wrong = own.filter(([name, difference]) => {
        const type = Object.keys(MOST).find((each) => name.includes(` ${each} `)) ?? '';
        return !(difference <= MOST[type]);
      });
      expect(wrong).toEqual([]);
    },
  );

  test('every file of kernels has its check', () => {
    const names = (folder: string, ending: string): string[] =>
      filesIn(folder, ending).map((file) => path.basename(file, ending).replaceAll('_', '-'));
    const checks = names(HERE, '.cc');
    for (const name of names(NATIVE, '.cu')) {
      expect(checks).toContain(name.replace(/-act$/, ''));
    }
  });
});
