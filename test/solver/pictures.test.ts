/** Panels and matrices in pictures as people have them: sizes, papers, frames, grids, blanks. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  contactSheet,
  decodePng,
  encodePng,
  layoutOf,
  matrixPanels,
  renderPanel,
  sampleProblem,
  type Configuration,
  type GreyImage,
} from '../../src/matrix/index.js';
import { gridOf } from '../../src/solver/cell-grid.js';
import { readMatrixPicture, toPanel } from '../../src/solver/index.js';
import { turned } from '../../src/solver/straighten.js';
import { pixelsOf } from '../matrix/pixels.js';
import { uniform } from './other-pictures.js';

const CONFIGURATIONS: readonly Configuration[] = [
  'center',
  'left-right',
  'out-in-grid',
  'grid-3x3',
];

const problemOf = (configuration: Configuration, index: number) =>
  sampleProblem({ configuration, noisy: false, variant: 'raven', seed: 21, index });

interface Drawn {
  /** Nine images of 160x160, u8. */
  readonly large: readonly Uint8Array[];
  /** The panels a model should see. */
  readonly small: readonly Float32Array[];
}

function drawn(configuration: Configuration, index: number): Drawn {
  const layout = layoutOf(configuration);
  const panels = matrixPanels(problemOf(configuration, index));
  return {
    large: panels.map((panel) => renderPanel(layout, panel)),
    small: panels.map((panel) => pixelsOf(layout, panel)),
  };
}

interface Style {
  /** Side of a cell. */
  readonly cell: number;
  readonly gap: number;
  readonly margin: number;
  /** Width of a frame inside each cell's border; 0 for none. */
  readonly frame: number;
  readonly page: number;
  readonly paper: number;
  /** Whether the blank cell has a frame and paper too. */
  readonly blankShown: boolean;
  /** Shade of the blank cell, if not that of the paper. */
  readonly blankShade?: number;
}

const PLAIN: Style = {
  cell: 160,
  gap: 12,
  margin: 20,
  frame: 1,
  page: 1,
  paper: 1,
  blankShown: true,
};

/** A picture of a matrix with blank cells. */
function composed({ large }: Drawn, blank: readonly number[], style: Style): GreyImage {
  const { cell, gap, margin, frame, page, paper } = style;
  const side = 2 * margin + 3 * cell + 2 * gap;
  const data = new Float32Array(side * side).fill(page);
  large.forEach((image, i) => {
    const isBlank = blank.includes(i + 1);
    if (isBlank && !style.blankShown) return;
    const left = margin + (i % 3) * (cell + gap);
    const top = margin + Math.floor(i / 3) * (cell + gap);
    for (let y = -frame; y < cell + frame; y++) {
      for (let x = -frame; x < cell + frame; x++) {
        const inside = x >= 0 && y >= 0 && x < cell && y < cell;
        const from = Math.floor((y * 160) / cell) * 160 + Math.floor((x * 160) / cell);
        const value = isBlank ? (style.blankShade ?? paper) : (paper * image[from]) / 255;
        data[(top + y) * side + left + x] = inside ? value : 0.1;
      }
    }
  });
  return { width: side, height: side, data };
}

/** Mean absolute difference of two panels. */
const gap = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, i) => sum + Math.abs(value - b[i]), 0) / a.length;

function expectPanels(
  found: readonly (Float32Array | null)[],
  expected: Drawn,
  blank: readonly number[],
  within = 0.02,
) {
  found.forEach((panel, i) => {
    if (blank.includes(i + 1)) expect(panel).toBeNull();
    else expect(gap(panel ?? new Float32Array(4096), expected.small[i])).toBeLessThan(within);
  });
}

describe('a picture of a whole matrix', () => {
  const styles: [string, Partial<Style>][] = [
    ['frames around the cells', {}],
    ['thick frames and wide gaps', { frame: 4, gap: 30 }],
    ['lines shared by neighbours', { frame: 2, gap: 2, margin: 2 }],
    ['a blank cell without a frame', { blankShown: false }],
    ['white cards on a grey page', { frame: 0, page: 0.8 }],
    ['nothing but the panels', { frame: 0, gap: 0, margin: 0 }],
    ['another size', { cell: 237, frame: 3 }],
    ['small cells', { cell: 80 }],
    ['grey paper', { page: 0.9, paper: 0.9 }],
  ];
  for (const [name, style] of styles) {
    test(`with ${name}`, () => {
      for (const configuration of CONFIGURATIONS) {
        for (const blank of [9, 1, 5]) {
          const problem = drawn(configuration, blank);
          const picture = composed(problem, [blank], { ...PLAIN, ...style });
          const found = readMatrixPicture(picture);
          expect(found.missing).toEqual([blank]);
          expectPanels(found.panels, problem, [blank], style.cell === 80 ? 0.08 : 0.03);
        }
      }
    });
  }

  for (const [name, style] of styles.filter(([, { blankShown }]) => blankShown !== false)) {
    test(`with ${name} and a last cell of any shade`, () => {
      for (const configuration of CONFIGURATIONS) {
        for (const blankShade of [1, 0.5, 0]) {
          const problem = drawn(configuration, 5);
          const picture = composed(problem, [9], { ...PLAIN, ...style, blankShade });
          const found = readMatrixPicture(picture);
          expect([blankShade, found.missing]).toEqual([blankShade, [9]]);
          expectPanels(found.panels, problem, [9], style.cell === 80 ? 0.08 : 0.03);
        }
      }
    });
  }

  test('inverted, white on black', () => {
    const problem = drawn('center', 2);
    const { width, height, data } = composed(problem, [9], PLAIN);
    const found = readMatrixPicture({ width, height, data: data.map((value) => 1 - value) });
    expect(found.missing).toEqual([9]);
    expectPanels(found.panels, problem, [9]);
  });

  test('with several blanks', () => {
    const problem = drawn('grid-3x3', 3);
    const found = readMatrixPicture(composed(problem, [2, 6], PLAIN));
    expect(found.missing).toEqual([2, 6]);
    expectPanels(found.panels, problem, [2, 6]);
  });

  CONFIGURATIONS.forEach((configuration, i) => {
    test(`our own contact sheets of ${configuration}, with question mark and candidates`, () => {
      const problem = problemOf(configuration, 4);
      const sheet = contactSheet(problem, { scale: 1 + (i % 2), markAnswer: false });
      const found = readMatrixPicture(decodePng(encodePng(sheet)));
      expect(found.missing).toEqual([9]);
      expectPanels(found.panels, drawn(configuration, 4), [9]);
      expect(found.candidates).toHaveLength(8);
      const layout = layoutOf(configuration);
      problem.candidates.forEach(({ panel }, c) => {
        const expected = pixelsOf(layout, panel);
        expect(gap(found.candidates[c], expected)).toBeLessThan(0.02);
      });
    });
  });

  test('figures one above the other are no question marks', () => {
    // The middle row of this matrix has two small figures in the middle column of each panel.
    const picture = path.join(import.meta.dirname, '../../docs/images/matrix.png');
    const found = readMatrixPicture(decodePng(new Uint8Array(readFileSync(picture))));
    expect(found.missing).toEqual([9]);
    expect(found.candidates).toHaveLength(8);
  });

  const NO_MATRIX = /no matrix of 3 x 3 panels was found/;
  for (const configuration of CONFIGURATIONS) {
    test(`of ${configuration} with nothing but panels is cut, with noise or turned it is found, turned by much it is not`, () => {
      const bare = composed(drawn(configuration, 4), [9], {
        ...PLAIN,
        frame: 0,
        gap: 0,
        margin: 0,
      });
      expect(readMatrixPicture(bare).missing).toEqual([9]);
      const { data, ...size } = decodePng(
        encodePng(contactSheet(problemOf(configuration, 4), { markAnswer: false })),
      );
      const random = uniform(3);
      const noisy = data.map((value) => Math.min(1, Math.max(0, value + 0.2 * (random() - 0.5))));
      const found = readMatrixPicture({ ...size, data: noisy });
      expect([found.missing, found.candidates.length]).toEqual([[9], 8]);
      expectPanels(found.panels, drawn(configuration, 4), [9], 0.06);
      const straight = readMatrixPicture(turned({ ...size, data }, 1, 1));
      expect([straight.missing, straight.candidates.length]).toEqual([[9], 8]);
      expectPanels(straight.panels, drawn(configuration, 4), [9], 0.06);
      expect(() => readMatrixPicture(turned({ ...size, data }, 20, 1))).toThrow(NO_MATRIX);
    });
  }

  test('two hundred squares anywhere are no matrix, which is soon seen', () => {
    const random = uniform(7);
    const place = (): number => Math.floor(3000 * random());
    const squares = Array.from({ length: 200 }, () => {
      const [left, top] = [place(), place()];
      return { left, top, right: left + 20, bottom: top + 20 };
    });
    expect(gridOf(squares)).toBeNull();
    const row = (top: number) =>
      [0, 30, 60].map((left) => ({ left, top, right: left + 20, bottom: top + 20 }));
    const grid = [0, 30, 60].flatMap(row);
    expect(gridOf([...squares, ...grid])?.cells).toEqual(grid);
  });

  test.each([300, 517])('noise of %i pixels is no matrix', (side) => {
    const random = uniform(side);
    const data = Float32Array.from({ length: side * side }, random);
    expect(() => readMatrixPicture({ width: side, height: side, data })).toThrow(NO_MATRIX);
  });

  test('that shows no matrix is refused', () => {
    const blank = { width: 300, height: 300, data: new Float32Array(90_000).fill(1) };
    expect(() => readMatrixPicture(blank)).toThrow(/blank/);
    const tiny = { width: 20, height: 20, data: new Float32Array(400).fill(1) };
    expect(() => readMatrixPicture(tiny)).toThrow(/too small/);
  });
});

describe('a panel', () => {
  const { large, small } = drawn('center', 7);
  const grey = (image: Uint8Array): GreyImage => ({
    width: 160,
    height: 160,
    data: Float32Array.from(image, (value) => value / 255),
  });

  test('of 160x160 becomes what the data sets make of it', () => {
    large.forEach((image, i) => expect(gap(toPanel(grey(image)), small[i])).toBeLessThan(1e-6));
  });

  test('of another size comes close', () => {
    for (const side of [64, 96, 128, 200, 320, 483]) {
      const data = Float32Array.from({ length: side * side }, (_, at) => {
        const [x, y] = [at % side, Math.floor(at / side)];
        return large[0][Math.floor((y * 160) / side) * 160 + Math.floor((x * 160) / side)] / 255;
      });
      expect(gap(toPanel({ width: side, height: side, data }), small[0])).toBeLessThan(0.03);
    }
  });

  test('on grey, transparent or black paper is put on white', () => {
    const image = grey(large[0]);
    const tinted = { ...image, data: image.data.map((value) => 0.85 * value) };
    expect(gap(toPanel(tinted), small[0])).toBeLessThan(0.01);
    const inverted = { ...image, data: image.data.map((value) => 1 - value) };
    expect(gap(toPanel(inverted), small[0])).toBeLessThan(0.01);
    const clear = Uint8ClampedArray.from({ length: 160 * 160 * 4 }, (_, i) =>
      i % 4 === 3 ? 255 - large[0][i >> 2] : 0,
    );
    expect(gap(toPanel({ width: 160, height: 160, data: clear }), small[0])).toBeLessThan(0.01);
  });

  test('that is not square stands in the middle of its paper', () => {
    const wide = { width: 320, height: 160, data: new Float32Array(320 * 160).fill(1) };
    for (let y = 0; y < 160; y++) {
      wide.data.set(grey(large[0]).data.subarray(y * 160, y * 160 + 160), y * 320 + 80);
    }
    const panel = toPanel(wide);
    expect([...panel.subarray(0, 64 * 10)].every((value) => value === 1)).toBe(true);
    expect(Math.min(...panel)).toBeLessThan(0.9);
  });

  test('that is none is refused', () => {
    const wrong = [
      new Float32Array(5),
      new Uint8Array(7),
      [1, 2, 3],
      { width: 3, height: 3, data: new Float32Array(4) },
      { width: 3.5, height: 3, data: new Float32Array(4) },
      { width: 1e9, height: 1e9, data: new Float32Array(4) },
      { width: 2, height: 2, data: new Uint8Array(5) },
    ];
    for (const input of wrong)
      expect(() => toPanel(input)).toThrow(/expected|picture|values|bytes/);
    const cut = encodePng({ width: 64, height: 64, channels: 1, data: new Uint8Array(4096) });
    expect(() => toPanel(cut.subarray(0, cut.length - 9))).toThrow(/truncated|damaged/);
  });
});
