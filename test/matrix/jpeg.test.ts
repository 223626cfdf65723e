/** JPEG pictures: those of another program come out right, hostile ones are refused before any memory. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { decodeJpeg, decodePicture, encodePng, FormatError } from '../../src/matrix/index.js';

interface Golden {
  readonly width: number;
  readonly height: number;
  readonly pixels: readonly number[];
  readonly files: Readonly<Record<string, string>>;
}

/** Written by Pillow: golden/make_jpeg.py. */
const golden = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'golden/jpeg.json'), 'utf8'),
) as Golden;
const fileOf = (name: string): Uint8Array =>
  new Uint8Array(Buffer.from(golden.files[name], 'base64'));

test.each(Object.keys(golden.files))('%s', (name) => {
  const { width, height, data } = decodePicture(fileOf(name));
  expect([width, height]).toEqual([golden.width, golden.height]);
  const off = golden.pixels.map((value, i) => Math.abs(value / 255 - data[i]));
  expect(off.reduce((sum, each) => sum + each, 0) / off.length).toBeLessThan(0.02);
  // The square is dark and stands in the upper left.
  expect(data[8 * width + 10]).toBeLessThan(0.2);
});

/** A place of a marker in a file. */
const markerAt = (bytes: Uint8Array, code: number): number => {
  const at = bytes.findIndex((byte, i) => byte === 0xff && bytes[i + 1] === code);
  expect(at).toBeGreaterThan(0);
  return at;
};

describe('refuses', () => {
  test('what is no picture', () => {
    expect(() => decodePicture(new Uint8Array(64))).toThrow('not a PNG or JPEG image');
    const png = encodePng({ width: 1, height: 1, channels: 1, data: Uint8Array.of(7) });
    expect(() => decodeJpeg(png)).toThrow('not a JPEG image');
  });

  test('a small file that claims to be huge, before it is decoded', () => {
    const bytes = fileOf('baseline');
    const at = markerAt(bytes, 0xc0);
    bytes.set([0x7f, 0xff, 0x7f, 0xff], at + 5);
    expect(() => decodeJpeg(bytes)).toThrow(
      'a JPEG of 32767x32767 is beyond the 16777216 pixels allowed',
    );
    expect(() => decodeJpeg(fileOf('grey'), { maxPixels: 1000 })).toThrow(
      'a JPEG of 48x32 is beyond the 1000 pixels allowed',
    );
  });

  test('a file with endless scans', () => {
    const bytes = fileOf('progressive');
    const scan = markerAt(bytes, 0xda);
    const header = bytes.subarray(scan, scan + 2 + bytes[scan + 3]);
    const many = Array.from({ length: 100 }, () => [...header, 0x12]).flat();
    const hostile = Uint8Array.from([...bytes.subarray(0, scan), ...many, ...bytes.subarray(scan)]);
    expect(() => decodeJpeg(hostile)).toThrow('the JPEG has more than 64 scans');
  });

  test('a second image in one file', () => {
    const bytes = fileOf('baseline');
    const at = markerAt(bytes, 0xc0);
    const frame = bytes.subarray(at, at + 2 + bytes[at + 3]);
    const twice = Uint8Array.from([...bytes.subarray(0, at), ...frame, ...bytes.subarray(at)]);
    expect(() => decodeJpeg(twice)).toThrow('more than one image');
  });

  test('every file cut short or changed in a byte ends in a picture or one sentence', () => {
    for (const name of ['grey', 'progressive', 'orientation 6']) {
      const whole = fileOf(name);
      for (let at = 2; at < whole.length; at += 7) {
        const changed = whole.slice();
        changed[at] ^= 0xff;
        for (const bytes of [whole.subarray(0, at), changed]) {
          try {
            expect(decodeJpeg(bytes).data.length).toBeGreaterThan(0);
          } catch (error) {
            expect(error).toBeInstanceOf(FormatError);
          }
        }
      }
    }
  });
});
