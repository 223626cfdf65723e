/** Drawing where no reference is at hand: golden hashes, and the fast ways against the plain one. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ArgumentError } from '../../src/base/index.js';
import {
  ALL_LAYOUTS,
  downscale,
  entityMask,
  IMAGE_PIXELS,
  IMAGE_SIZE,
  layoutOf,
  matrixPanels,
  PAPER,
  problemPanels,
  renderMatrix64Into,
  renderPanel,
  renderPanel64,
  renderPanelPlainly,
  renderProblem,
  Renderer,
  SMALL_PIXELS,
  SMALL_SIZE,
  type ConfigurationLayout,
  type Entity,
  type Panel,
} from '../../src/matrix/index.js';
import { arbitraryPanel, fixedPanel, fixedProblem } from './drawable.js';
import { renderGolden } from './golden/render-golden.js';
import golden from './golden/render.json' with { type: 'json' };

const RUNS = process.env.CRAB_TEST_LONG ? 5000 : 200;
/** Every so many figures are drawn: no divisor of the numbers of levels, so that all come up. */
const FIGURE_STEP = process.env.CRAB_TEST_LONG ? 1 : 7;

/** Much faster than `toEqual`, which compares images element by element. */
function expectSameBytes(actual: Uint8Array, expected: Uint8Array): void {
  expect(Buffer.compare(actual, expected)).toBe(0);
}

function scaledDown(image: Uint8Array): Uint8Array {
  const small = new Uint8Array(SMALL_PIXELS);
  downscale(image, small);
  return small;
}

const anyPanel: fc.Arbitrary<readonly [ConfigurationLayout, Panel]> = fc
  .constantFrom(...ALL_LAYOUTS)
  .chain((layout) => arbitraryPanel(layout).map((panel) => [layout, panel] as const));

test('fixed panels have the golden pixels', () => {
  expect(renderGolden()).toEqual(golden);
});

describe('the fast way draws what the plain way draws', () => {
  test('at both sizes, for any panel', () => {
    const check = fc.property(anyPanel, ([layout, panel]) => {
      const plain = renderPanelPlainly(layout, panel);
      expectSameBytes(renderPanel(layout, panel), plain);
      expectSameBytes(renderPanel64(layout, panel), scaledDown(plain));
    });
    fc.assert(check, { seed: 1, numRuns: RUNS });
  });

  test.each(ALL_LAYOUTS)('for every figure of $folder at every angle', (layout) => {
    layout.components.forEach(({ slots }, component) => {
      const blank = layout.components.map(() => ({ uniformity: 0, entities: [] as Entity[] }));
      for (let turn = 0; turn < slots.length * 5 * 6 * 8; turn++) {
        if (turn % FIGURE_STEP !== 0) continue;
        const [angle, size] = [turn % 8, Math.floor(turn / 8) % 6];
        const [type, slot] = [1 + (Math.floor(turn / 48) % 5), Math.floor(turn / 240)];
        const entity = { slot, type, size, angle, color: (turn + size) % 10 };
        const panel = { components: blank.with(component, { uniformity: 0, entities: [entity] }) };
        const plain = renderPanelPlainly(layout, panel);
        expectSameBytes(renderPanel(layout, panel), plain);
        expectSameBytes(renderPanel64(layout, panel), scaledDown(plain));
      }
    });
  });

  test('where figures of two components overlap', () => {
    // Large inner squares reach over the sides of a small outer triangle.
    const layout = layoutOf('out-in-grid', true);
    for (let angle = 0; angle < 8; angle++) {
      const inner = [0, 1, 2, 3].map((slot) => ({ slot, type: 2, size: 5, color: angle, angle }));
      const outer = { slot: 0, type: 1, size: 0, color: 0, angle: 3 };
      const panel = {
        components: [
          { uniformity: 0, entities: [outer] },
          { uniformity: 0, entities: inner },
        ],
      };
      const plain = renderPanelPlainly(layout, panel);
      expectSameBytes(renderPanel(layout, panel), plain);
      expectSameBytes(renderPanel64(layout, panel), scaledDown(plain));
    }
  });

  test('with a store too small to keep anything', () => {
    const renderer = new Renderer({ cacheBytes: 1 });
    const image = new Uint8Array(IMAGE_PIXELS);
    const small = new Uint8Array(SMALL_PIXELS);
    for (const layout of ALL_LAYOUTS) {
      const panel = fixedPanel(layout, 2);
      renderer.renderInto(layout, panel, image);
      renderer.render64Into(layout, panel, small);
      expectSameBytes(image, renderPanelPlainly(layout, panel));
      expectSameBytes(small, scaledDown(image));
      expect(renderer.cachedBytes).toBe(0);
    }
  });
});

test('the store stays within its limit and forgets the oldest', () => {
  const limit = 200_000;
  const renderer = new Renderer({ cacheBytes: limit });
  const layout = layoutOf('center');
  const image = new Uint8Array(IMAGE_PIXELS);
  const sizes: number[] = [];
  for (let color = 0; color < 10; color++) {
    for (let size = 0; size < 6; size++) {
      const entity = { slot: 0, type: 5, size, color, angle: 3 };
      const panel = { components: [{ uniformity: 0, entities: [entity] }] };
      renderer.renderInto(layout, panel, image);
      expectSameBytes(image, renderPanelPlainly(layout, panel));
      sizes.push(renderer.cachedBytes);
    }
  }
  expect(Math.max(...sizes)).toBeLessThanOrEqual(limit);
  expect(sizes.at(-1)).toBeGreaterThan(limit / 2);
});

describe('writing into a buffer', () => {
  const layout = layoutOf('up-down');
  const panel = fixedPanel(layout, 4);

  test.each([0, 1, 2, 3, 4, 1001])('touches only its own bytes at offset %i', (offset) => {
    const renderer = new Renderer();
    const image = new Uint8Array(IMAGE_PIXELS + offset + 7).fill(9);
    const small = new Uint8Array(SMALL_PIXELS + offset + 7).fill(9);
    renderer.renderInto(layout, panel, image, offset);
    renderer.render64Into(layout, panel, small, offset);
    const plain = renderPanelPlainly(layout, panel);
    expectSameBytes(image.subarray(offset, offset + IMAGE_PIXELS), plain);
    expectSameBytes(small.subarray(offset, offset + SMALL_PIXELS), scaledDown(plain));
    const rest = (bytes: Uint8Array, length: number): number[] => [
      ...bytes.subarray(0, offset),
      ...bytes.subarray(offset + length),
    ];
    expect(new Set(rest(image, IMAGE_PIXELS))).toEqual(new Set([9]));
    expect(new Set(rest(small, SMALL_PIXELS))).toEqual(new Set([9]));
  });

  test.each([-1, 0.5, 8, Number.NaN])('refuses offset %d where there is no room', (offset) => {
    const renderer = new Renderer();
    expect(() => {
      renderer.renderInto(layout, panel, new Uint8Array(IMAGE_PIXELS + 4), offset);
    }).toThrow(ArgumentError);
    expect(() => {
      renderer.render64Into(layout, panel, new Uint8Array(SMALL_PIXELS + 4), offset);
    }).toThrow(ArgumentError);
  });
});

test.each([
  { slot: 1 },
  { slot: -1 },
  { type: 0 },
  { type: 6 },
  { size: 6 },
  { color: 10 },
  { color: 1.5 },
  { angle: 8 },
  { angle: Number.NaN },
])('refuses an entity with %j', (wrong) => {
  const entity = { slot: 0, type: 1, size: 0, color: 0, angle: 0, ...wrong };
  const panel = { components: [{ uniformity: 0, entities: [entity] }] };
  expect(() => renderPanel(layoutOf('center'), panel)).toThrow(ArgumentError);
});

test('refuses a panel of another configuration', () => {
  const panel = fixedPanel(layoutOf('left-right'), 1);
  expect(() => renderPanel(layoutOf('center'), panel)).toThrow(ArgumentError);
  expect(() => renderPanel64(layoutOf('center'), panel)).toThrow(ArgumentError);
});

test('problems are drawn in the order of the files: context, then candidates', () => {
  const layout = layoutOf('grid-2x2');
  const problem = fixedProblem(layout, 5);
  const panels = [...problem.context, ...problem.candidates.map(({ panel }) => panel)];
  const { images, small } = renderProblem(problem);
  const nine = new Uint8Array(9 * SMALL_PIXELS);
  renderMatrix64Into(problem, nine);
  expect(problemPanels(problem)).toEqual(panels);
  expect(matrixPanels(problem)).toEqual([...panels.slice(0, 8), panels[13]]);
  panels.forEach((panel, index) => {
    const image = images.subarray(index * IMAGE_PIXELS, (index + 1) * IMAGE_PIXELS);
    expectSameBytes(image, renderPanelPlainly(layout, panel));
    const scaled = small.subarray(index * SMALL_PIXELS, (index + 1) * SMALL_PIXELS);
    expectSameBytes(scaled, scaledDown(image));
  });
  expectSameBytes(nine.subarray(0, 8 * SMALL_PIXELS), small.subarray(0, 8 * SMALL_PIXELS));
  expectSameBytes(
    nine.subarray(8 * SMALL_PIXELS),
    small.subarray(13 * SMALL_PIXELS, 14 * SMALL_PIXELS),
  );
});

describe('scaling down', () => {
  /** Bilinear interpolation in doubles, straight from its definition. */
  function bilinear(image: Uint8Array, row: number, column: number): number {
    const scale = IMAGE_SIZE / SMALL_SIZE;
    const y = (row + 0.5) * scale - 0.5;
    const x = (column + 0.5) * scale - 0.5;
    const [top, left] = [Math.floor(y), Math.floor(x)];
    let sum = 0;
    for (const [dy, dx] of [[0, 0] as const, [0, 1] as const, [1, 0] as const, [1, 1] as const]) {
      const weight = (1 - Math.abs(y - top - dy)) * (1 - Math.abs(x - left - dx));
      sum += weight * image[(top + dy) * IMAGE_SIZE + left + dx];
    }
    return Math.floor(sum + 0.5);
  }

  test('is bilinear with half-pixel centres, rounded half up', () => {
    const image = Uint8Array.from({ length: IMAGE_PIXELS }, (_, i) => (i * 7919 + (i >> 3)) % 256);
    const expected = new Uint8Array(SMALL_PIXELS);
    for (let row = 0; row < SMALL_SIZE; row++) {
      for (let column = 0; column < SMALL_SIZE; column++) {
        expected[row * SMALL_SIZE + column] = bilinear(image, row, column);
      }
    }
    expectSameBytes(scaledDown(image), expected);
  });
});

test('a mask covers the pixels of a black figure, and no others', () => {
  for (const layout of ALL_LAYOUTS) {
    const { entities } = fixedPanel(layout, 1).components[0];
    const entity = { ...entities[0], color: 9 };
    const image = renderPanelPlainly(
      { ...layout, structure: 'Singleton', components: [layout.components[0]] },
      { components: [{ uniformity: 0, entities: [entity] }] },
    );
    const covered = new Uint8Array(IMAGE_PIXELS).fill(PAPER);
    const mask = entityMask(layout.components[0], entity);
    for (let i = 0; i < mask.length; i += 2) {
      covered.fill(0, mask[i] - 1, mask[i] - 1 + mask[i + 1]);
    }
    expectSameBytes(
      covered,
      image.map((value) => (value === 0 ? 0 : PAPER)),
    );
  }
});
