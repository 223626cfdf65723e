/**
 * The safetensors format: what is written is read back, by us and by an independent decoder in
 * Python; hostile and damaged files give a typed error and never a wrong tensor.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SafetensorsFile, writeSafetensorsFile } from '../../src/torch/safetensors/file.js';
import type { TensorSource } from '../../src/torch/safetensors/file.js';
import { elementBytes, maximumHeaderBytes, SafetensorsError } from '../../src/base/safetensors.js';
import type { SafetensorsProblem, StoredDType } from '../../src/base/safetensors.js';
import { scratchFolder } from '../scratch-folder.js';

const runs = process.env.CRAB_TEST_LONG ? 5000 : 400;
const dtypes: StoredDType[] = ['f32', 'f64', 'f16', 'bf16', 'i64', 'i32', 'u8', 'bool'];

const folder = scratchFolder();

function file(name: string): string {
  return join(folder, name);
}

function source(name: string, dtype: StoredDType, shape: number[], seed = 1): TensorSource {
  const count = shape.reduce((a, b) => a * b, 1) * elementBytes(dtype);
  const bytes = Uint8Array.from({ length: count }, (_, i) => (i * 37 + seed * 11) % 256);
  return { name, dtype, shape, bytes: () => (dtype === 'bool' ? bytes.map((b) => b & 1) : bytes) };
}

function readAll(path: string): Map<string, { dtype: string; shape: number[]; bytes: number[] }> {
  const opened = SafetensorsFile.open(path);
  try {
    return new Map(
      opened.names.map((name) => {
        const { dtype, shape } = opened.describe(name);
        return [name, { dtype, shape: [...shape], bytes: [...opened.readBytes(name)] }];
      }),
    );
  } finally {
    opened.close();
  }
}

/** A file of this header (an object, or text as it is) followed by this many zero bytes. */
function handMade(header: unknown, dataBytes: number, claimedLength?: bigint): string {
  const json = new TextEncoder().encode(
    typeof header === 'string' ? header : JSON.stringify(header),
  );
  const bytes = new Uint8Array(8 + json.length + dataBytes);
  new DataView(bytes.buffer).setBigUint64(0, claimedLength ?? BigInt(json.length), true);
  bytes.set(json, 8);
  const path = file('hand-made.safetensors');
  writeFileSync(path, bytes);
  return path;
}

function problemOf(action: () => unknown): SafetensorsProblem | 'none' {
  try {
    action();
  } catch (error) {
    if (error instanceof SafetensorsError) return error.problem;
    throw error;
  }
  return 'none';
}

const arbitrarySource = fc
  .record({
    name: fc.string({ unit: 'grapheme' }).filter((name) => name !== '__metadata__'),
    dtype: fc.constantFrom(...dtypes),
    shape: fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 4 }),
    seed: fc.nat(255),
  })
  .map(({ name, dtype, shape, seed }) => source(name, dtype, shape, seed));

describe('round trip', () => {
  test('any tensors and metadata come back as they were', () => {
    const path = file('property.safetensors');
    fc.assert(
      fc.property(
        fc.uniqueArray(arbitrarySource, { selector: (s) => s.name, maxLength: 6 }),
        fc.dictionary(fc.string(), fc.string(), { noNullPrototype: false }),
        (sources, metadata) => {
          writeSafetensorsFile(path, sources, metadata);
          const opened = SafetensorsFile.open(path);
          expect(Object.entries(opened.metadata).sort()).toEqual(Object.entries(metadata).sort());
          opened.close();
          const read = readAll(path);
          expect(read.size).toBe(sources.length);
          for (const { name, dtype, shape, bytes } of sources) {
            expect(read.get(name)).toEqual({ dtype, shape: [...shape], bytes: [...bytes()] });
          }
        },
      ),
      { numRuns: Math.min(runs, 500) },
    );
  });

  test('the bytes do not depend on the order in which tensors are given', () => {
    const sources = [source('b', 'u8', [3]), source('a', 'f32', [2, 2]), source('c', 'i64', [1])];
    writeSafetensorsFile(file('one.safetensors'), sources);
    writeSafetensorsFile(file('two.safetensors'), [...sources].reverse());
    expect(readFileSync(file('one.safetensors'))).toEqual(readFileSync(file('two.safetensors')));
  });

  test('every tensor is aligned to its element', () => {
    const path = file('aligned.safetensors');
    writeSafetensorsFile(
      path,
      dtypes.map((dtype) => source(`x-${dtype}`, dtype, [3])),
      { note: 'odd length' },
    );
    const headerBytes = Number(readFileSync(path).readBigUInt64LE(0));
    const opened = SafetensorsFile.open(path);
    for (const name of opened.names) {
      const { dtype, begin } = opened.describe(name);
      expect((8 + headerBytes + begin) % elementBytes(dtype)).toBe(0);
    }
    opened.close();
  });

  test('a tensor is read on its own, and not after closing', () => {
    const path = file('single.safetensors');
    const wanted = source('b', 'i32', [4], 5);
    writeSafetensorsFile(path, [source('a', 'f64', [9]), wanted]);
    const opened = SafetensorsFile.open(path);
    expect([...opened.readBytes('b')]).toEqual([...wanted.bytes()]);
    expect(problemOf(() => opened.readBytes('nothing'))).toBe('no-such-tensor');
    opened.close();
    expect(problemOf(() => opened.readBytes('b'))).toBe('closed');
  });
});

const python = (() => {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' });
    return 'python3';
  } catch {
    return undefined;
  }
})();

test.skipIf(python === undefined)('an independent decoder in Python sees the same', () => {
  const path = file('python.safetensors');
  const typed: [string, StoredDType, number[], ArrayBufferView, number[]][] = [
    ['wide', 'f64', [2], new Float64Array([1.5, -2.25]), [1.5, -2.25]],
    ['float', 'f32', [1, 3], new Float32Array([0.5, -1, 3]), [0.5, -1, 3]],
    ['half', 'f16', [2], new Uint16Array([0x3c00, 0xc100]), [1, -2.5]],
    ['brain', 'bf16', [2], new Uint16Array([0x3f80, 0xc000]), [0x3f80, 0xc000]],
    ['long', 'i64', [2], new BigInt64Array([-3n, 1n << 40n]), [-3, 2 ** 40]],
    ['int', 'i32', [0, 4], new Int32Array(0), []],
    ['byte', 'u8', [], new Uint8Array([255]), [255]],
    ['flag "quoted" é', 'bool', [2], new Uint8Array([1, 0]), [1, 0]],
  ];
  writeSafetensorsFile(
    path,
    typed.map(([name, dtype, shape, data]) => ({
      name,
      dtype,
      shape,
      bytes: () => new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
    })),
    { format: 'pt', 'a key': 'a "value"' },
  );
  const script = join(import.meta.dirname, 'golden', 'safetensors_decoder.py');
  const decoded = JSON.parse(execFileSync('python3', [script, path], { encoding: 'utf8' })) as {
    metadata: unknown;
    aligned: boolean;
    tensors: Record<string, { dtype: string; shape: number[]; values: number[] }>;
  };
  expect(decoded.metadata).toEqual({ format: 'pt', 'a key': 'a "value"' });
  expect(decoded.aligned).toBe(true);
  expect(Object.keys(decoded.tensors).sort()).toEqual(typed.map(([name]) => name).sort());
  for (const [name, dtype, shape, , values] of typed) {
    expect(decoded.tensors[name]).toEqual({ dtype: dtype.toUpperCase(), shape, values });
  }
});

describe('writing', () => {
  test('is atomic: a failure keeps the old file and leaves nothing behind', () => {
    const path = file('atomic.safetensors');
    writeSafetensorsFile(path, [source('old', 'f32', [2])]);
    const before = readFileSync(path);
    const failing: TensorSource = {
      ...source('new', 'f32', [2]),
      bytes: () => {
        throw new Error('the device went away');
      },
    };
    expect(() => writeSafetensorsFile(path, [source('a', 'f64', [4]), failing])).toThrow(
      /atomic\.safetensors: the device went away/,
    );
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('refuses bytes that do not fit the shape, taken names and impossible shapes', () => {
    const path = file('refused.safetensors');
    const short: TensorSource = { ...source('a', 'f32', [2]), shape: [3] };
    expect(problemOf(() => writeSafetensorsFile(path, [short]))).toBe('size-mismatch');
    const twice = [source('a', 'u8', [1]), source('a', 'u8', [2])];
    expect(problemOf(() => writeSafetensorsFile(path, twice))).toBe('duplicate-name');
    const reserved = [source('__metadata__', 'u8', [1])];
    expect(problemOf(() => writeSafetensorsFile(path, reserved))).toBe('duplicate-name');
    const negative: TensorSource = { ...source('a', 'u8', []), shape: [-1, -1] };
    expect(problemOf(() => writeSafetensorsFile(path, [negative]))).toBe('header-schema');
    expect(problemOf(() => writeSafetensorsFile(join(path, 'nowhere', 'x'), []))).toBe('io');
    expect(readdirSync(folder)).not.toContain('refused.safetensors');
  });
});

describe('untrusted files', () => {
  const good = { dtype: 'F32', shape: [2], data_offsets: [0, 8] };
  const cases: [string, SafetensorsProblem, ...Parameters<typeof handMade>][] = [
    ['a header above the cap', 'header-too-large', '{}', 0, BigInt(maximumHeaderBytes) + 1n],
    ['the largest length', 'header-too-large', '{}', 0, 2n ** 64n - 1n],
    ['a header longer than the file', 'header-truncated', '{}', 0, 9_999n],
    ['a header cut short', 'header-not-json', '{"a":', 0],
    ['a list', 'header-not-json', '[]', 0],
    ['white space before the object', 'header-not-json', ' {}', 0],
    [
      'a name given twice',
      'duplicate-name',
      `{"a":${JSON.stringify(good)},"\\u0061":${JSON.stringify(good)}}`,
      8,
    ],
    [
      'a key given twice',
      'duplicate-name',
      '{"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}}',
      8,
    ],
    ['an entry that is no object', 'header-schema', { a: 3 }, 0],
    ['metadata that is no object', 'header-schema', { __metadata__: [] }, 0],
    ['metadata with a number', 'header-schema', { __metadata__: { a: 1 } }, 0],
    ['a type it does not know', 'unsupported-dtype', { a: { ...good, dtype: 'F7' } }, 8],
    ['a type from the prototype', 'unsupported-dtype', { a: { ...good, dtype: 'constructor' } }, 8],
    ['a negative size', 'header-schema', { a: { ...good, shape: [-2] } }, 8],
    ['a fractional size', 'header-schema', { a: { ...good, shape: [0.5] } }, 8],
    [
      'a size above 2^53',
      'header-schema',
      '{"a":{"dtype":"F32","shape":[9007199254740993],"data_offsets":[0,8]}}',
      8,
    ],
    ['a product that overflows', 'size-mismatch', { a: { ...good, shape: [2 ** 40, 2 ** 40] } }, 8],
    ['a shape that does not fit', 'size-mismatch', { a: { ...good, shape: [3] } }, 8],
    ['one offset', 'header-schema', { a: { ...good, data_offsets: [0] } }, 8],
    [
      'offsets the wrong way round',
      'invalid-offsets',
      { z: good, a: { dtype: 'F32', shape: [2], data_offsets: [8, 0] } },
      8,
    ],
    ['a hole', 'invalid-offsets', { a: good, b: { ...good, data_offsets: [12, 20] } }, 20],
    ['an overlap', 'invalid-offsets', { a: good, b: { ...good, data_offsets: [4, 12] } }, 12],
    ['two tensors in one place', 'invalid-offsets', { a: good, b: good }, 8],
    ['bytes after the last tensor', 'incomplete-data', { a: good }, 9],
    ['bytes missing from the last tensor', 'incomplete-data', { a: good }, 7],
  ];
  test.each(cases)('%s: %s', (_, problem, ...made) => {
    const path = handMade(...made);
    expect(problemOf(() => SafetensorsFile.open(path).close())).toBe(problem);
  });

  test.each([
    ['an absent file', () => file('absent.safetensors')],
    ['a folder', () => folder],
  ])('%s: io', (_, place) => {
    expect(problemOf(() => SafetensorsFile.open(place()).close())).toBe('io');
  });

  test('fewer than 8 bytes', () => {
    writeFileSync(file('tiny'), new Uint8Array(5));
    expect(problemOf(() => SafetensorsFile.open(file('tiny')))).toBe('too-short');
  });

  test('names and metadata keys that shadow object properties are plain names', () => {
    const path = handMade(
      '{"__metadata__":{"__proto__":"x"},"__proto__":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}',
      1,
    );
    const opened = SafetensorsFile.open(path);
    expect(opened.names).toEqual(['__proto__']);
    expect(Object.entries(opened.metadata)).toEqual([['__proto__', 'x']]);
    opened.close();
  });

  test('a bool that is neither 0 nor 1 is refused', () => {
    const path = handMade({ a: { dtype: 'BOOL', shape: [1], data_offsets: [0, 1] } }, 1);
    const bytes = readFileSync(path);
    bytes[bytes.length - 1] = 2;
    writeFileSync(path, bytes);
    const opened = SafetensorsFile.open(path);
    expect(problemOf(() => opened.readBytes('a'))).toBe('invalid-value');
    opened.close();
  });

  test('a file that shrinks after opening is told, not read as zeros', () => {
    const path = file('shrinks.safetensors');
    writeSafetensorsFile(path, [source('a', 'f32', [64])]);
    const opened = SafetensorsFile.open(path);
    truncateSync(path, readFileSync(path).length - 10);
    expect(problemOf(() => opened.readBytes('a'))).toBe('incomplete-data');
    opened.close();
  });

  test('damage anywhere gives a typed error, or tensors that fit the file', () => {
    const path = file('whole.safetensors');
    const damaged = file('damaged.safetensors');
    writeSafetensorsFile(path, [source('a', 'f32', [2, 3]), source('b', 'bool', [5])], { k: 'v' });
    const whole = readFileSync(path);
    let refused = 0;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        fc.option(fc.nat(whole.length), { freq: 4 }),
        (changes, cut) => {
          const bytes = Uint8Array.from(whole);
          for (const [at, value] of changes) bytes[at] = value;
          writeFileSync(damaged, cut === null ? bytes : bytes.subarray(0, cut));
          try {
            let total = 0;
            for (const { bytes: data } of readAll(damaged).values()) total += data.length;
            expect(total).toBeLessThan(bytes.length);
          } catch (error) {
            expect(error).toBeInstanceOf(SafetensorsError);
            refused += 1;
          }
        },
      ),
      { numRuns: runs, seed: 20 },
    );
    expect(refused).toBeGreaterThan(runs / 4);
  });
});
