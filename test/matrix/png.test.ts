import { decode, encode, type ImageData } from 'fast-png';
import fc from 'fast-check';
import { unzlibSync, zlibSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { FormatError } from '../../src/base/index.js';
import { contactSheet, decodePng, encodePng, sampleProblem } from '../../src/matrix/index.js';
import { deflateZlib } from '../../src/matrix/deflate.js';
import { crc32 } from '../../src/matrix/zip-checksum.js';

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

function chunk(type: string, body: Uint8Array): Buffer {
  const inside = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(body.length, 0);
  ends.writeUInt32BE(crc32(inside), 4);
  return Buffer.concat([ends.subarray(0, 4), inside, ends.subarray(4)]);
}

interface Raw {
  width: number;
  height: number;
  depth: number;
  colourType: number;
  interlace?: number;
  lines: Uint8Array;
  more?: [string, Uint8Array][];
}

/** A PNG from its filtered lines, valid or not. */
function png({
  width,
  height,
  depth,
  colourType,
  interlace = 0,
  lines,
  more = [],
}: Raw): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, colourType, 0, 0, interlace], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    ...more.map(([type, body]) => chunk(type, body)),
    chunk('IDAT', zlibSync(lines)),
    chunk('IEND', new Uint8Array(0)),
  ]);
}

const closeTo = (found: Float32Array, expected: readonly number[]): void => {
  expect(found.length).toBe(expected.length);
  expected.forEach((value, i) => expect(found[i]).toBeCloseTo(value, 5));
};

const luma = (r: number, g: number, b: number): number => 0.299 * r + 0.587 * g + 0.114 * b;

describe('PNG', () => {
  test('what we write, we and others read', () => {
    const data = Uint8Array.from({ length: 5 * 3 }, (_, i) => i * 17);
    const grey = encodePng({ width: 5, height: 3, channels: 1, data });
    closeTo(
      decodePng(grey).data,
      Array.from(data, (value) => value / 255),
    );
    expect(decode(grey)).toMatchObject({ width: 5, height: 3, channels: 1, depth: 8, data });
    const colours = encodePng({
      width: 2,
      height: 1,
      channels: 3,
      data: Uint8Array.of(255, 0, 0, 9, 9, 9),
    });
    closeTo(decodePng(colours).data, [0.299, 9 / 255]);
    expect(() => encodePng({ width: 2, height: 2, channels: 1, data })).toThrow(FormatError);
  });

  test('a whole sheet comes back pixel for pixel, deflated by Node or as in a browser', () => {
    const sheet = contactSheet(
      sampleProblem({ configuration: 'grid-2x2', variant: 'i-raven', seed: 3, index: 4 }),
    );
    const { data, width, height, channels } = decode(encodePng(sheet));
    expect([width, height, channels]).toEqual([sheet.width, sheet.height, 3]);
    expect(Buffer.compare(data as Uint8Array, sheet.data)).toBe(0);
    const bytes = sheet.data.subarray(0, 5000);
    expect(unzlibSync(deflateZlib(bytes))).toEqual(bytes);
    expect(unzlibSync(zlibSync(bytes))).toEqual(bytes);
  });

  test('every depth and colour type of others, filtered and interlaced', () => {
    const widths = fc.integer({ min: 1, max: 20 });
    const kinds = fc.constantFrom(
      ...([1, 2, 3, 4] as const).flatMap((channels) =>
        ([8, 16] as const).map((depth) => ({ channels, depth })),
      ),
    );
    fc.assert(
      fc.property(
        widths,
        widths,
        kinds,
        fc.boolean(),
        fc.infiniteStream(fc.nat(65535)),
        (width, height, kind, interlaced, stream) => {
          const { channels, depth } = kind;
          const largest = 2 ** depth - 1;
          const values = Array.from({ length: width * height * channels }, () => {
            const next = stream.next();
            return next.done ? 0 : next.value % (largest + 1);
          });
          const data = depth === 8 ? Uint8Array.from(values) : Uint16Array.from(values);
          const image: ImageData = { width, height, channels, depth, data };
          const read = decodePng(encode(image, { interlace: interlaced ? 'Adam7' : 'null' }));
          expect([read.width, read.height]).toEqual([width, height]);
          for (let i = 0; i < width * height; i++) {
            const pixel = values.slice(i * channels, (i + 1) * channels).map((v) => v / largest);
            const alpha = channels % 2 === 0 ? pixel[channels - 1] : 1;
            const grey = channels < 3 ? pixel[0] : luma(pixel[0], pixel[1], pixel[2]);
            expect(read.data[i]).toBeCloseTo(1 - alpha * (1 - grey), 4);
          }
        },
      ),
      { numRuns: 100, seed: 5 },
    );
  });

  test('one, two and four bits, plain and interlaced', () => {
    const bits = png({
      width: 3,
      height: 2,
      depth: 1,
      colourType: 0,
      lines: Uint8Array.of(0, 0b10100000, 0, 0b01000000),
    });
    closeTo(decodePng(bits).data, [1, 0, 1, 0, 1, 0]);
    const pairs = png({
      width: 3,
      height: 1,
      depth: 2,
      colourType: 0,
      lines: Uint8Array.of(0, 0b00011100),
    });
    closeTo(decodePng(pairs).data, [0, 1 / 3, 1]);
    const halves = png({
      width: 3,
      height: 1,
      depth: 4,
      colourType: 0,
      lines: Uint8Array.of(0, 0x0f, 0x30),
    });
    closeTo(decodePng(halves).data, [0, 1, 0.2]);
    // 3x3 in passes 1 (0,0), 4 (2,0), 5 (0..2,2), 6 (1,0 and 1,2), 7 (row 1)
    const lines = Uint8Array.of(0, 0x80, 0, 0x00, 0, 0x80, 0, 0x80, 0, 0x00, 0, 0xa0);
    const passes = png({ width: 3, height: 3, depth: 1, colourType: 0, interlace: 1, lines });
    closeTo(decodePng(passes).data, [1, 1, 0, 1, 0, 1, 1, 0, 0]);
  });

  test('palettes and clear colours lie on white paper', () => {
    const palette: [string, Uint8Array] = ['PLTE', Uint8Array.of(0, 0, 0, 255, 0, 0)];
    const indexed = { width: 2, height: 1, depth: 8, colourType: 3, lines: Uint8Array.of(0, 0, 1) };
    closeTo(decodePng(png({ ...indexed, more: [palette] })).data, [0, 0.299]);
    const half: [string, Uint8Array] = ['tRNS', Uint8Array.of(0)];
    closeTo(decodePng(png({ ...indexed, more: [palette, half] })).data, [1, 0.299]);
    const clear: [string, Uint8Array] = ['tRNS', Uint8Array.of(0, 7)];
    const grey = { width: 2, height: 1, depth: 8, colourType: 0, lines: Uint8Array.of(0, 7, 8) };
    closeTo(decodePng(png({ ...grey, more: [clear] })).data, [1, 8 / 255]);
    expect(() => decodePng(png(indexed))).toThrow(/palette/);
    expect(() =>
      decodePng(png({ ...indexed, lines: Uint8Array.of(0, 0, 2), more: [palette] })),
    ).toThrow(/palette/);
  });

  test.each<[string, Partial<Raw>, RegExp]>([
    ['absurd sizes', { width: 2 ** 31, height: 2 ** 31 }, /beyond/],
    ['more pixels than allowed', { width: 5000, height: 5000 }, /beyond/],
    ['nothing', { width: 0 }, /beyond/],
    ['too little data', { height: 3 }, /less than/],
    ['a bomb', { lines: new Uint8Array(8 << 20) }, /more than/],
    ['an unknown filter', { lines: Uint8Array.of(9, 1, 2) }, /filter 9/],
    ['an impossible depth', { depth: 3 }, /does not exist/],
    ['an unknown interlacing', { interlace: 2 }, /interlacing/],
    ['an unknown critical part', { more: [['ABCD', new Uint8Array(1)]] }, /ABCD/],
  ])('%s are refused', (_, change, message) => {
    const raw = { width: 2, height: 1, depth: 8, colourType: 0, lines: Uint8Array.of(0, 1, 2) };
    const bytes = png({ ...raw, ...change });
    expect(() => decodePng(bytes)).toThrow(FormatError);
    expect(() => decodePng(bytes)).toThrow(message);
  });

  test('damage is noticed', () => {
    const bytes = Buffer.from(
      encodePng({ width: 2, height: 1, channels: 1, data: Uint8Array.of(1, 2) }),
    );
    expect(() => decodePng(bytes.subarray(0, bytes.length - 13))).toThrow(/truncated/);
    expect(() => decodePng(bytes.subarray(1))).toThrow(/not a PNG/);
    bytes[20] ^= 1;
    expect(() => decodePng(bytes)).toThrow(/damaged/);
  });
});
