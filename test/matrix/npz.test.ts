import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { FormatError, memorySource, type ByteSource } from '../../src/base/index.js';
import {
  decodeNpy,
  encodeNpy,
  NpzFile,
  readNpz,
  unicodeArray,
  writeNpz,
  type NpyArray,
} from '../../src/matrix/index.js';
import { fileSource } from '../../src/base/node.js';
import { encodeNpyHeader } from '../../src/matrix/npy.js';
import { combineCrc32, crc32, portableCrc32 } from '../../src/matrix/zip-checksum.js';
import { centralDirectory, localHeader } from '../../src/matrix/zip-write.js';
import { scratchFolder } from '../scratch-folder.js';
import { pythonWithNumpy, runPython } from './file-helpers.js';

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** An array file with any header text, valid or not. */
function npyWith(header: string, data: Uint8Array, version = 1): Uint8Array {
  const length = header.length + 1;
  const size = version === 1 ? [length & 255, length >> 8] : [length & 255, length >> 8, 0, 0];
  return Buffer.concat([
    Buffer.from('\x93NUMPY', 'latin1'),
    Buffer.from([version, 0, ...size]),
    Buffer.from(`${header}\n`),
    data,
  ]);
}

const headerOf = (descr: string, shape: string, fortran = 'False'): string =>
  `{'descr': '${descr}', 'fortran_order': ${fortran}, 'shape': ${shape}, }`;

const EXAMPLES: readonly (readonly [string, NpyArray])[] = [
  ['bytes', { dtype: '|u1', shape: [2, 3], data: Uint8Array.of(0, 1, 2, 253, 254, 255) }],
  ['flags', { dtype: '|b1', shape: [3], data: Uint8Array.of(0, 1, 1) }],
  ['ints', { dtype: '<i4', shape: [2], data: Int32Array.of(-5, 2 ** 31 - 1) }],
  ['single', { dtype: '<i8', shape: [], data: BigInt64Array.of(-(2n ** 60n)) }],
  ['floats', { dtype: '<f4', shape: [2, 1, 1], data: Float32Array.of(0.5, -1e-3) }],
  ['doubles', { dtype: '<f8', shape: [1], data: Float64Array.of(Math.PI) }],
  ['names', { dtype: '|S5', shape: [3], data: ['Scene', '/', ''] }],
  ['texts', unicodeArray(['[["é"]]', '', '𝄞x'])],
  ['none', { dtype: '|u1', shape: [0, 4], data: new Uint8Array(0) }],
];

describe('npy', () => {
  test.each(EXAMPLES)('%s come back as they were', (_, array) => {
    expect(decodeNpy(encodeNpy(array))).toEqual(array);
  });

  test('versions 2 and 3 and Python 2 long integers are read', () => {
    for (const version of [2, 3]) {
      const bytes = npyWith(headerOf('|u1', '(2,)'), Uint8Array.of(7, 8), version);
      expect(decodeNpy(bytes).data).toEqual(Uint8Array.of(7, 8));
    }
    const long = npyWith(headerOf('|u1', '(1L, 2L)'), Uint8Array.of(7, 8));
    expect(decodeNpy(long).shape).toEqual([1, 2]);
  });

  test.each([
    ['Fortran order', headerOf('|u1', '(2,)', 'True'), /Fortran/],
    ['big-endian', headerOf('>i8', '(2,)'), /big-endian/],
    ['objects', headerOf('|O', '(2,)'), /unsupported/],
    ['records', "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (2,), }", /unreadable/],
    ['code', headerOf('|u1', '(__import__("os"),)'), /unreadable/],
    ['a negative size', headerOf('|u1', '(-2,)'), /unreadable/],
    ['an absurd size', headerOf('|u1', '(9007199254740991, 9007199254740991)'), /absurd/],
    ['another length', headerOf('|u1', '(3,)'), /needs 3 bytes/],
    ['no comma', headerOf('|u1', '(2)'), /shape/],
    ['text after it', `${headerOf('|u1', '(2,)')}x`, /unreadable/],
  ])('%s is refused', (_, header, message) => {
    const bytes = npyWith(header, Uint8Array.of(1, 2));
    expect(() => decodeNpy(bytes)).toThrow(FormatError);
    expect(() => decodeNpy(bytes)).toThrow(message);
  });

  test('a wrong number of items is not written', () => {
    expect(() => encodeNpy({ dtype: '|u1', shape: [3], data: Uint8Array.of(1) })).toThrow(
      /holds 3/,
    );
    expect(() => encodeNpy({ dtype: '|S1', shape: [1], data: ['ab'] })).toThrow(/too long/);
  });
});

describe('checksums', () => {
  test('are the known ones, whole and joined, in Node and in a browser', () => {
    expect(portableCrc32(Buffer.from('123456789'))).toBe(0xcbf43926);
    expect(crc32(new Uint8Array(0), 7)).toBe(7);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (a, b) => {
        const whole = crc32(Buffer.concat([a, b]));
        expect(whole).toBe(crc32(b, crc32(a)));
        expect(whole).toBe(combineCrc32(crc32(a), crc32(b), b.length));
        expect(whole).toBe(portableCrc32(Buffer.concat([a, b])));
        expect(whole).toBe(portableCrc32(b, portableCrc32(a)));
      }),
      { seed: 1 },
    );
  });
});

describe('npz', () => {
  test('arrays come back in order', async () => {
    const arrays = await readNpz(writeNpz(EXAMPLES));
    expect([...arrays]).toEqual(EXAMPLES);
  });

  test('rows of stored and deflated arrays are the same, in any order', async () => {
    const data = Uint8Array.from({ length: 50 * 40_000 }, (_, i) => (i * i) >> 8);
    const npy = encodeNpy({ dtype: '|u1', shape: [50, 40_000], data });
    const stored = await NpzFile.open(
      memorySource(writeNpz([['a', { dtype: '|u1', shape: [50, 40_000], data }]])),
    );
    const deflated = await NpzFile.open(memorySource(zipSync({ 'a.npy': npy }, { level: 6 })));
    const [plain, packed] = [await stored.array('a'), await deflated.array('a')];
    expect([plain.randomAccess, packed.randomAccess]).toEqual([true, false]);
    for (const [first, count] of [
      [0, 1],
      [7, 30],
      [3, 2],
      [49, 1],
      [0, 50],
    ]) {
      const expected = data.subarray(first * 40_000, (first + count) * 40_000);
      expect(Buffer.compare(await plain.readRowBytes(first, count), expected)).toBe(0);
      expect(Buffer.compare(await packed.readRowBytes(first, count), expected)).toBe(0);
    }
    await expect(plain.readRowBytes(49, 2)).rejects.toThrow(RangeError);
  });

  test('a changed byte is noticed', async () => {
    const bytes = writeNpz(EXAMPLES);
    bytes[latin1(bytes).indexOf('\xfd\xfe\xff')] ^= 1;
    await expect(readNpz(bytes)).rejects.toThrow(/"bytes.npy" are damaged/);
    const file = await NpzFile.open(memorySource(bytes));
    const rows = await file.array('bytes');
    await rows.readRowBytes(0, 1);
    await expect(rows.readRowBytes(1, 1)).rejects.toThrow(FormatError);
  });

  test('what zip files can lie about is refused', async () => {
    const bytes = writeNpz(EXAMPLES.slice(0, 2));
    const change = (edit: (copy: Buffer) => void): Uint8Array => {
      const copy = Buffer.from(bytes);
      edit(copy);
      return copy;
    };
    const central = latin1(bytes).indexOf('PK\x01\x02');
    const second = latin1(bytes).indexOf('PK\x01\x02', central + 1);
    const cases: [RegExp, Uint8Array][] = [
      [/same name/, change((copy) => copy.write('bytes.npy', second + 46))],
      [/two names/, change((copy) => copy.write('other.npy', second + 46))],
      [/overlap/, change((copy) => copy.writeUInt32LE(0, second + 42))],
      [
        /beyond/,
        change((copy) =>
          copy.fill(0x01, second + 22, second + 23).fill(1, second + 26, second + 27),
        ),
      ],
      [/encrypted/, change((copy) => copy.writeUInt16LE(1, central + 8))],
      [/compression 12/, change((copy) => copy.writeUInt16LE(12, central + 10))],
      [/two sizes/, change((copy) => copy.writeUInt32LE(5, central + 24))],
      [/complete zip/, bytes.subarray(0, bytes.length - 1)],
      [/complete zip/, new Uint8Array(0)],
    ];
    for (const [message, file] of cases) {
      await expect(readNpz(file)).rejects.toThrow(FormatError);
      await expect(readNpz(file)).rejects.toThrow(message);
    }
  });

  test('bombs are refused before they take memory', async () => {
    const header = encodeNpyHeader('|u1', [80 << 20]);
    // Enough that does not shrink, for 80 MiB to be a size that it might have.
    const noise = randomBytes(128 << 10);
    const zeros = zipSync({ 'a.npy': Buffer.concat([header, noise, Buffer.alloc(8 << 20)]) });
    const sizeAt = latin1(zeros).indexOf('PK\x01\x02') + 24;
    const promising = Buffer.from(zeros);
    promising.writeUInt32LE((80 << 20) + header.length, sizeAt);
    await expect(readNpz(promising)).rejects.toThrow(/more than the 67108864 allowed/);
    const lying = Buffer.from(zeros);
    lying.writeUInt32LE(136, sizeAt);
    await expect(readNpz(lying)).rejects.toThrow(FormatError);
  });
});

/** A file of more than 4 GiB whose middle is zeros that nobody stores. */
function largeFile(): { readonly parts: [number, Uint8Array][]; readonly size: number } {
  const rows = 5 * 2 ** 20;
  const header = encodeNpyHeader('|u1', [rows, 1024]);
  const large = { name: 'large.npy', crc: 0, size: header.length + rows * 1024, offset: 0 };
  const answer = encodeNpy({ dtype: '<i8', shape: [2], data: BigInt64Array.of(3n, 5n) });
  const first = localHeader(large);
  const offset = first.length + large.size;
  const small = { name: 'answer.npy', crc: crc32(answer), size: answer.length, offset };
  const second = localHeader(small);
  const end = offset + second.length + answer.length;
  const directory = centralDirectory([large, small], end);
  return {
    parts: [
      [0, first],
      [first.length, header],
      [offset, second],
      [offset + second.length, answer],
      [end, directory],
    ],
    size: end + directory.length,
  };
}

describe('files beyond 4 GiB', () => {
  const folder = scratchFolder();
  const file = path.join(folder, 'large.npz');

  async function writeSparse(): Promise<void> {
    const { parts, size } = largeFile();
    const handle = await open(file, 'w');
    await handle.truncate(size);
    for (const [at, bytes] of parts) await handle.write(bytes, 0, bytes.length, at);
    await handle.close();
  }

  test('are written with ZIP64 records and read by position', async () => {
    await writeSparse();
    const source: ByteSource = await fileSource(file);
    const npz = await NpzFile.open(source);
    expect((await npz.read('answer')).data).toEqual(BigInt64Array.of(3n, 5n));
    const large = await npz.array('large');
    expect(await large.readRowBytes(large.rows - 1, 1)).toEqual(new Uint8Array(1024));
    await source.close();
  });

  test.skipIf(!pythonWithNumpy)('open in Python', async () => {
    await writeSparse();
    const program = `
import json, sys, zipfile, numpy
archive = zipfile.ZipFile(sys.argv[1])
answer = numpy.lib.format.read_array(archive.open('answer.npy'))
print(json.dumps([[entry.file_size for entry in archive.infolist()], answer.tolist()]))`;
    expect(runPython(program, file)).toEqual([
      [5 * 2 ** 30 + 128, 144],
      [3, 5],
    ]);
  });
});

describe.skipIf(!pythonWithNumpy)('numpy', () => {
  const folder = scratchFolder();

  test.each([false, true])('reads ours, deflated: %s', (compress) => {
    const file = path.join(folder, `ours-${compress}.npz`);
    const large = { dtype: '|u1', shape: [2000], data: new Uint8Array(2000).fill(7) };
    const examples: (readonly [string, NpyArray])[] = [...EXAMPLES, ['large', large]];
    const bytes = writeNpz(examples, { compress });
    expect(bytes.length < writeNpz(examples).length).toBe(compress);
    writeFileSync(file, bytes);
    const program = `
import json, sys, numpy
arrays = numpy.load(sys.argv[1])
print(json.dumps([[name, arrays[name].dtype.str, list(arrays[name].shape),
  [item.decode() if isinstance(item, bytes) else item for item in arrays[name].ravel().tolist()]]
  for name in arrays.files]))`;
    const expected = examples.map(([name, { dtype, shape, data }]) => [
      name,
      dtype,
      shape,
      Array.from(data as ArrayLike<number | bigint | string>, (item) =>
        typeof item === 'string' ? item : name === 'flags' ? Boolean(item) : Number(item),
      ),
    ]);
    expect(runPython(program, file)).toEqual(expected);
  });

  test('writes what we read, compressed or not, and our bytes are its bytes', async () => {
    const program = `
import json, sys, numpy
arrays = dict(bytes=numpy.arange(6, dtype='u1').reshape(2, 3), single=numpy.array(-7), floats=numpy.array([0.5], 'f4'),
  names=numpy.array([b'Scene', b'/']), texts=numpy.array(['a', '\\u00e9\\U0001d11e']), flags=numpy.array([True, False]),
  wide=numpy.zeros((1,) * 20 + (3,), 'u1'))
numpy.savez(sys.argv[1] + '/stored.npz', **arrays)
numpy.savez_compressed(sys.argv[1] + '/deflated.npz', **arrays)
for name, array in arrays.items(): numpy.save(sys.argv[1] + '/' + name + '.npy', array)
print(json.dumps(list(arrays)))`;
    const names = runPython(program, folder) as string[];
    const stored = await readNpz(readFileSync(path.join(folder, 'stored.npz')));
    const deflated = await readNpz(readFileSync(path.join(folder, 'deflated.npz')));
    expect([...stored.keys()]).toEqual(names);
    expect(deflated).toEqual(stored);
    expect(stored.get('texts')?.data).toEqual(['a', 'é𝄞']);
    expect(stored.get('single')).toEqual({ dtype: '<i8', shape: [], data: BigInt64Array.of(-7n) });
    for (const [name, array] of stored) {
      const theirs = readFileSync(path.join(folder, `${name}.npy`));
      expect(Buffer.compare(encodeNpy(array), theirs), name).toBe(0);
    }
  });
});
