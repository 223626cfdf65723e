import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { problemToBatch, renderProblem, sampleProblem } from '../../src/matrix/index.js';
import { pythonHas, runPython } from '../matrix/file-helpers.js';
import { scratchFolder } from '../scratch-folder.js';
import { crab } from './run-crab.js';
import { words } from './words.js';

const examples = fileURLToPath(new URL('../../examples/python', import.meta.url));
const root = scratchFolder();
const request = { configuration: 'center', variant: 'i-raven', seed: 6 } as const;
const problemAt = (index: number) => sampleProblem({ ...request, index });
const generate = (...args: string[]) =>
  crab([...words`generate --quiet --config center --variant i-raven --seed 6`, ...args]);

/** Prints the length of a data set, and of one problem its shapes, sums and answer. */
const program = (create: string): string => `
import json, sys
sys.path.insert(0, sys.argv[1])
data = ${create}
context, candidates, answer = data[3]
print(json.dumps([len(data), list(context.shape), list(candidates.shape), answer,
  float(context.sum()), float(candidates.sum())]))`;

const sumOf = (bytes: Uint8Array): number => bytes.reduce((sum, value) => sum + value, 0) / 255;

describe('examples in Python', () => {
  test.skipIf(!pythonHas('numpy', 'torch'))('a data set on npz', async () => {
    const file = path.join(root, 'set.npz');
    expect((await generate('--count', '5', '--format', 'npz', '--out', file)).code).toBe(0);
    const create = '__import__("crab_npz").CrabSet(sys.argv[2])';
    const [length, context, candidates, answer, first, second] = runPython(
      program(create),
      examples,
      file,
    ) as [number, number[], number[], number, number, number];
    const { panel, selection } = problemToBatch(problemAt(3));
    expect([length, context, candidates]).toEqual([5, [8, 64, 64], [8, 64, 64]]);
    expect(answer).toBe(problemAt(3).target);
    expect(first).toBeCloseTo(sumOf(panel.subarray(0, 8 * 64 * 64)), -1);
    expect(second).toBeCloseTo(sumOf(selection), -1);
  });

  test.skipIf(!pythonHas('numpy', 'torch', 'pandas', 'pyarrow', 'PIL'))(
    'a data set on Parquet',
    async () => {
      const out = path.join(root, 'data');
      expect((await generate('--count', '5', '--format', 'parquet', '--out', out)).code).toBe(0);
      const file = path.join(out, 'center_single', 'train-00000-of-00001.parquet');
      const create = '__import__("crab_parquet").CrabParquet(sys.argv[2])';
      const [length, context, candidates, answer, first, second] = runPython(
        program(create),
        examples,
        file,
      ) as [number, number[], number[], number, number, number];
      const { images } = renderProblem(problemAt(3));
      expect([length, context, candidates]).toEqual([5, [8, 160, 160], [8, 160, 160]]);
      expect(answer).toBe(problemAt(3).target);
      expect(first).toBeCloseTo(sumOf(images.subarray(0, 8 * 160 * 160)), -1);
      expect(second).toBeCloseTo(sumOf(images.subarray(8 * 160 * 160)), -1);
    },
  );
});
