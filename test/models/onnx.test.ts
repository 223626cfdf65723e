/** The ONNX writer: half precision, 8-bit weights, and files that ONNX's own checker accepts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  compactNetworks,
  exportNetworks,
  networkFiles,
  readNetworks,
} from '../../src/models/index.js';
import { GraphBuilder } from '../../src/models/onnx/graph.js';
import { halfBits } from '../../src/models/onnx/half.js';
import { quantizeChannels } from '../../src/models/onnx/quantize.js';
import { checkOnnxFiles, HAS_CHECKER } from './onnx-checker.js';
import { randomState, tinyConfig } from '../solver/random-model.js';

/** The number that 16 bits mean, by the definition of binary16. */
function halfValue(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0
    ? sign * fraction * 2 ** -24
    : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

describe('half precision', () => {
  test('every half is itself', () => {
    for (let bits = 0; bits < 0x10000; bits++) {
      const value = halfValue(bits);
      if (Number.isNaN(value)) expect(Number.isNaN(halfValue(halfBits(value)))).toBe(true);
      else if (halfBits(value) !== bits) expect(halfBits(value)).toBe(bits);
    }
  });

  test('what lies between two goes to the closer one, a tie to the even one', () => {
    for (let bits = 0; bits < 0x7bff; bits++) {
      const [low, high] = [halfValue(bits), halfValue(bits + 1)];
      const even = bits % 2 === 0 ? bits : bits + 1;
      const found = [0.25, 0.5, 0.75].map((share) => halfBits(low + share * (high - low)));
      if (found[0] !== bits || found[1] !== even || found[2] !== bits + 1) {
        expect(found).toEqual([bits, even, bits + 1]);
      }
    }
  });

  test('beyond the largest is infinite', () => {
    expect(halfBits(65519)).toBe(0x7bff);
    expect(halfBits(65520)).toBe(0x7c00);
    expect(halfBits(-1e9)).toBe(0xfc00);
  });
});

describe('8-bit weights', () => {
  test('each is within half a step of its channel unless clipping pays', () => {
    const weights = Float32Array.from({ length: 300 }, (_, i) => Math.sin(i) * (1 + (i % 3)));
    const { values, scales } = quantizeChannels(weights, 3);
    const error = (scaleOf: (c: number) => number, q: (i: number) => number): number =>
      weights.reduce((sum, w, i) => sum + (w - q(i) * scaleOf(Math.floor(i / 100))) ** 2, 0);
    const plain = [0, 1, 2].map(
      (c) => Math.max(...weights.subarray(c * 100, c * 100 + 100).map(Math.abs)) / 127,
    );
    const ours = error(
      (c) => scales[c],
      (i) => values[i],
    );
    const rounded = error(
      (c) => plain[c],
      (i) => Math.round(weights[i] / plain[Math.floor(i / 100)]),
    );
    expect(ours).toBeLessThanOrEqual(rounded * (1 + 1e-6));
    expect(rounded).toBeGreaterThan(0);
  });

  test('an empty channel stays zero', () => {
    const { values, scales } = quantizeChannels(new Float32Array(8), 2);
    expect([...values]).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
    expect([...scales]).toEqual([1, 1]);
  });
});

test('a weight whose values do not fill its shape is an error', () => {
  const graph = new GraphBuilder('test', 'f32');
  expect(() => graph.weight('w', { data: new Float32Array(5), shape: [2, 3] })).toThrow(
    /w: 5 values for \[2, 3\]/,
  );
});

test.skipIf(!HAS_CHECKER)("ONNX's full checker accepts every file", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'crab-onnx-'));
  try {
    const names: string[] = [];
    const write = (kind: string, files: Readonly<Record<string, Uint8Array>>): void => {
      for (const [part, bytes] of Object.entries(files)) {
        const file = path.join(folder, `${kind}-${part}.onnx`);
        writeFileSync(file, bytes);
        names.push(file);
      }
    };
    for (const preset of ['paper', 'crab'] as const) {
      const { network } = tinyConfig('center', preset);
      const state = randomState(network);
      for (const format of ['f32', 'f16', 'int8'] as const) {
        write(`${preset}-${format}`, { ...exportNetworks(network, state, format) });
      }
      const networks = readNetworks(network, state);
      const options = {
        configuration: 'center',
        noisy: false,
        problems: 16,
        smallest: 200,
      } as const;
      const compact = await compactNetworks(networks, { ...options, aim: 10_000, limit: 10_000 });
      write(`${preset}-compact`, { ...networkFiles(compact, 'int8') });
    }
    checkOnnxFiles(names);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
