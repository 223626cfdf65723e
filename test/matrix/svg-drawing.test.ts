/** Drawings of others: drawn in a thread, which is ended if one never ends. */
import { describe, expect, test } from 'vitest';
import { FormatError } from '../../src/base/index.js';
import { decodeSvg } from '../../src/matrix/node.js';

const svg = (inside: string, size = 8): Uint8Array =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}">${inside}</svg>`,
  );

/** Each pattern is filled four times with the one before it. */
const endless = (depth: number): string =>
  Array.from({ length: depth }, (_, i) => {
    const fill = i === 0 ? 'red' : `url(#p${i - 1})`;
    const squares = `<rect width="9" height="9" fill="${fill}"/>`.repeat(4);
    return `<pattern id="p${i}" width="9" height="9" patternUnits="userSpaceOnUse">${squares}</pattern>`;
  }).join('') + `<rect width="8" height="8" fill="url(#p${depth - 1})"/>`;

describe('drawings of others', () => {
  test('become grey pixels on white paper', async () => {
    const { width, height, data } = await decodeSvg(svg('<rect width="4" height="8"/>'));
    expect([width, height]).toEqual([8, 8]);
    expect([...data.subarray(0, 8)]).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
  });

  test('that are none or too large are refused', async () => {
    await expect(decodeSvg(Buffer.from('<svg'))).rejects.toThrow('not an SVG that can be drawn');
    await expect(decodeSvg(svg('', 50_000))).rejects.toThrow('more than 24 million pixels');
  });

  test('that would never end are given up, and the next one is drawn', async () => {
    const hostile = decodeSvg(svg(endless(60)), 2000);
    const next = decodeSvg(svg('<rect width="8" height="8"/>'));
    await expect(hostile).rejects.toThrow(FormatError);
    await expect(hostile).rejects.toThrow('it took longer than 2000 ms');
    expect(Math.max(...(await next).data)).toBe(0);
  });
});
