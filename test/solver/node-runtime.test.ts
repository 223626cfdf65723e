/** Which ONNX Runtime serves in Node, and that the WebAssembly one solves the same as the native one. */
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { panelsOf, sampleProblem } from '../../src/matrix/index.js';
import { writeBundle } from '../../src/solver/node.js';
import type * as Entry from '../../src/solver/node.js';
import { scratchFolder } from '../scratch-folder.js';
import { randomBundle, tinyConfig } from './random-model.js';

type NodeEntry = typeof Entry;

/** It is optional, so a checkout may lack it. */
const hasNative = existsSync(
  path.resolve(import.meta.dirname, '../../node_modules/onnxruntime-node'),
);

const bundle = path.join(scratchFolder(), 'bundle');

beforeAll(async () => {
  const { manifest, files } = randomBundle(tinyConfig());
  await writeBundle(bundle, manifest, files);
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.doUnmock('onnxruntime-node');
});

/** The solver's entry as a new process sees it. */
async function freshEntry(asked: string | undefined): Promise<NodeEntry> {
  vi.resetModules();
  vi.stubEnv('CRAB_ONNX_RUNTIME', asked);
  return import('../../src/solver/node.js');
}

/** Everything a model says about one problem. */
async function solution({ Solver }: NodeEntry, model: string): Promise<object> {
  const solver = await Solver.load(model);
  const { configuration } = solver.manifest;
  const problem = sampleProblem({ configuration, seed: 4, index: 7 });
  const { panels, missing, candidates } = panelsOf(problem);
  const several = await solver.solve(panels, { missing: [3, ...missing] });
  const answer = await solver.solve(panels, { missing });
  const choice = await solver.choose(answer, candidates);
  const { backend } = solver;
  await solver.dispose();
  return { backend, several, answer, choice };
}

/** Every number of a value, in order; what is no number stays as it is. */
function flat(value: unknown): unknown[] {
  if (value instanceof Float32Array) return [...value];
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(flat);
  return [value];
}

function expectSame(a: unknown, b: unknown): void {
  const [left, right] = [flat(a), flat(b)];
  expect(left.length).toBe(right.length);
  const isNumber = (value: unknown): value is number => typeof value === 'number';
  const off = left.filter((value, i) => {
    const other = right[i];
    if (!isNumber(value) || !isNumber(other)) return value !== other;
    return Math.abs(value - other) > 2e-3 * Math.max(1, Math.abs(value));
  });
  expect(off).toEqual([]);
}

describe('the WebAssembly runtime in Node', () => {
  test.skipIf(!hasNative).each([
    ['of random weights', bundle],
    ['of the zoo', 'center'],
  ])('solves the same as the native one: a model %s', async (_, model) => {
    const native = await solution(await freshEntry('native'), model);
    const wasm = await solution(await freshEntry('wasm'), model);
    expect(native).toMatchObject({ backend: 'node' });
    expect(wasm).toMatchObject({ backend: 'wasm' });
    expectSame({ ...wasm, backend: null }, { ...native, backend: null });
  });

  test('serves if the native one is not installed, and says why', async () => {
    vi.doMock('onnxruntime-node', () => {
      throw new Error('Cannot find package');
    });
    const entry = await freshEntry(undefined);
    expect(await entry.nodeRuntime()).toMatchObject({
      kind: 'wasm',
      nativeFault: expect.stringMatching(/./) as string,
    });
    expect(await solution(entry, bundle)).toMatchObject({ backend: 'wasm' });
  });
});

describe('the choice of a runtime', () => {
  test.skipIf(!hasNative)('is the native one unless something else is asked for', async () => {
    const { nodeRuntime } = await freshEntry(undefined);
    expect(await nodeRuntime()).toMatchObject({ kind: 'native', nativeFault: null });
  });

  test('names what may be asked for', async () => {
    const { nodeRuntime } = await freshEntry('fast');
    await expect(nodeRuntime()).rejects.toThrow('CRAB_ONNX_RUNTIME=fast: expected native or wasm');
  });
});
