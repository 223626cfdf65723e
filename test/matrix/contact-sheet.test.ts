/** Contact sheets: panels unharmed, the answer marked, text drawn and kept within the sheet. */
import { describe, expect, test } from 'vitest';
import { ArgumentError } from '../../src/base/index.js';
import {
  ALL_LAYOUTS,
  contactSheet,
  IMAGE_SIZE,
  layoutOf,
  renderPanel,
  type Picture,
} from '../../src/matrix/index.js';
import { drawText, textWidth, wrapText } from '../../src/matrix/raster-font.js';
import { fixedProblem } from './drawable.js';

/** Whether a panel's pixels stand at (x, y) of a sheet, as grey. */
function standsAt(sheet: Picture, image: Uint8Array, x: number, y: number): boolean {
  for (let row = 0; row < IMAGE_SIZE; row++) {
    for (let column = 0; column < IMAGE_SIZE; column++) {
      const at = ((y + row) * sheet.width + x + column) * 3;
      const value = image[row * IMAGE_SIZE + column];
      if (sheet.data[at] !== value || sheet.data[at + 2] !== value) return false;
    }
  }
  return true;
}

/** Top-left corners of everything with the frame of a panel: a row of one tone just above it. */
function framedPlaces(sheet: Picture): number[][] {
  const tone = (x: number, y: number): number => sheet.data[(y * sheet.width + x) * 3];
  const places: number[][] = [];
  for (let y = 1; y + IMAGE_SIZE < sheet.height; y++) {
    let run = 0;
    for (let x = 1; x + 1 < sheet.width; x++) {
      const framed = tone(x, y - 1) !== 255 && tone(x, y - 1) === tone(x - 1, y - 1);
      run = framed ? run + 1 : 0;
      // The frame reaches one pixel beyond the panel on either side.
      if (run > IMAGE_SIZE) places.push([x - IMAGE_SIZE, y]);
    }
  }
  return places;
}

/** Where a panel's pixels stand. */
const placesOf = (
  sheet: Picture,
  image: Uint8Array,
  framed: readonly number[][] = framedPlaces(sheet),
): number[][] => framed.filter(([x, y]) => standsAt(sheet, image, x, y));

/** Rows and columns that have a coloured, not grey, pixel. */
function colouredBox(sheet: Picture): { left: number; right: number; top: number } | undefined {
  let box: { left: number; right: number; top: number } | undefined;
  for (let pixel = 0; pixel < sheet.width * sheet.height; pixel++) {
    if (sheet.data[pixel * 3] === sheet.data[pixel * 3 + 1]) continue;
    const x = pixel % sheet.width;
    const top = Math.floor(pixel / sheet.width);
    box ??= { left: x, right: x, top };
    box = { ...box, left: Math.min(box.left, x), right: Math.max(box.right, x) };
  }
  return box;
}

describe('a contact sheet', () => {
  test.each(ALL_LAYOUTS)('of $folder shows every panel pixel for pixel', (layout) => {
    const problem = fixedProblem(layout, 2);
    const sheet = contactSheet(problem);
    const framed = framedPlaces(sheet);
    // The fixed panels are eight, each once in the matrix and once among the candidates.
    for (const panel of problem.context) {
      const places = placesOf(sheet, renderPanel(layout, panel), framed);
      expect(places.length).toBeGreaterThanOrEqual(2);
    }
  });

  test('frames the right candidate in colour, or none', () => {
    const layout = layoutOf('center');
    const problem = fixedProblem(layout, 6);
    const plain = contactSheet(problem, { markAnswer: false });
    expect(colouredBox(plain)).toBeUndefined();
    const box = colouredBox(contactSheet(problem));
    const answer = renderPanel(layout, problem.candidates[6].panel);
    const [, [x, y]] = placesOf(plain, answer).sort(([a], [b]) => a - b);
    expect(box).toEqual({ left: x - 3, right: x + IMAGE_SIZE + 2, top: y - 3 });
  });

  test('fills the answer in where the question mark was', () => {
    const layout = layoutOf('center');
    const problem = fixedProblem(layout, 6);
    const answer = renderPanel(layout, problem.candidates[6].panel);
    const before = placesOf(contactSheet(problem), answer).length;
    expect(placesOf(contactSheet(problem, { fillIn: true }), answer)).toHaveLength(before + 1);
  });

  test('grows by its lines of text, and by its scale', () => {
    const problem = fixedProblem(layoutOf('up-down'), 0);
    const rules = Array.from({ length: 8 }, (_, i) => `Rule ${i}: ${'long words '.repeat(12)}`);
    const bare = contactSheet(problem);
    const full = contactSheet(problem, { rules, title: 'A title' });
    expect(full.width).toBe(bare.width);
    expect(full.height).toBeGreaterThan(bare.height + 8 * 18);
    expect(full.data).toHaveLength(full.width * full.height * 3);
    const double = contactSheet(problem, { scale: 2 });
    expect([double.width, double.height]).toEqual([bare.width * 2, bare.height * 2]);
    const odd = (2 * 41 + 1) * double.width + 2 * 33 + 1;
    expect(double.data[odd * 3]).toBe(bare.data[(41 * bare.width + 33) * 3]);
  });

  test.each([0, -1, 1.5, 9, Number.NaN])('refuses scale %d', (scale) => {
    const problem = fixedProblem(layoutOf('center'), 0);
    expect(() => contactSheet(problem, { scale })).toThrow(ArgumentError);
  });
});

describe('the bitmap font', () => {
  /** A text as lines of characters. */
  function drawn(text: string): string[] {
    const rows = Array.from({ length: 9 }, () => new Array<string>(textWidth(text)).fill('.'));
    drawText(text, 0, 0, 1, (x, y) => {
      rows[y][x] = '#';
    });
    return rows.map((row) => row.join(''));
  }

  test('draws what it should', () => {
    expect(drawn('Ag')).toEqual([
      '.###.......',
      '#...#......',
      '#...#..####',
      '#####.#...#',
      '#...#.#...#',
      '#...#.#...#',
      '#...#..####',
      '..........#',
      '.......###.',
    ]);
  });

  test('has every printable ASCII character, all different', () => {
    const box = drawn('\u2603').join();
    const characters = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i));
    const pictures = characters.map((character) => drawn(character).join());
    expect(new Set(pictures).size).toBe(characters.length);
    expect(pictures).not.toContain(box);
  });

  test('measures what it draws, at any scale', () => {
    expect(textWidth('')).toBe(0);
    expect(textWidth('ii')).toBe(3);
    expect(textWidth('ii', 4)).toBe(12);
    let right = 0;
    drawText('Size: 1 + 2', 0, 0, 3, (x, _y, side) => {
      right = Math.max(right, x + side);
    });
    expect(right).toBe(textWidth('Size: 1 + 2', 3));
  });

  test('breaks lines between words and loses none', () => {
    const words = 'third = first and second together'.split(' ');
    const lines = wrapText(words.join(' '), 60);
    expect(lines.join(' ')).toBe(words.join(' '));
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(60);
    expect(wrapText('unbreakable', 5)).toEqual(['unbreakable']);
    expect(wrapText('  ', 5)).toEqual([]);
  });
});
