/** Sections of panels: what pictures of them show of figures, and which one a picture shows. */
import { describe, expect, test } from 'vitest';
import {
  ALL_LAYOUTS,
  blackIn,
  FigureFinder,
  inkOf,
  layoutName,
  layoutOf,
  renderPanel,
  resize,
  samplePanels,
  sectionOf,
  SMALL_SIZE,
  IMAGE_SIZE,
  type ConfigurationLayout,
  type Panel,
} from '../../src/matrix/index.js';
import { drawingOf, SectionView } from '../../src/matrix/figure-drawing.js';
import { COLORS } from '../../src/matrix/attributes.js';

const panelOf = ({ configuration, noisy }: ConfigurationLayout, index: number): Panel =>
  samplePanels({ configuration, noisy, seed: 11, index }).panels[4];

/** Values 0 to 1 of a panel's square from a pixel on, averaged to 64x64. */
function cut(image: Uint8Array, left: number, top: number, side: number): Float32Array {
  const square = new Uint8Array(side * side);
  for (let y = 0; y < side; y++) {
    const from = (top + y) * IMAGE_SIZE + left;
    square.set(image.subarray(from, from + side), y * side);
  }
  return Float32Array.from(resize(square, side, SMALL_SIZE, 'area'), (value) => value / 255);
}

describe('a figure as drawn', () => {
  test.each(ALL_LAYOUTS.map((layout) => [layoutName(layout), layout] as const))(
    'explains all ink of a picture of it alone: %s',
    (_, layout) => {
      for (let index = 0; index < 3; index++) {
        panelOf(layout, index).components.forEach(({ entities: [entity] }, component) => {
          const { structure } = layout;
          if (structure === 'Left_Right' || structure === 'Up_Down') return;
          const components = layout.components.map((__, c) => ({
            uniformity: 0,
            entities: c === component ? [entity] : [],
          }));
          const picture = cut(renderPanel(layout, { components }), 2, 1, 156);
          const ink = inkOf(picture, SMALL_SIZE);
          const section = { left: 2, top: 1, side: 156, spread: 156 / SMALL_SIZE, black: 1 };
          const form = new SectionView(section).formOf(drawingOf(layout, component, entity, true));
          const gain = new Float64Array(1);
          form.gains(ink, Float64Array.of(COLORS[entity.color] / 255), gain, 0);
          const all = ink.reduce((sum, value) => sum + value * value, 0);
          expect(gain[0] / all).toBeCloseTo(1, 3);
          expect(form.fit(ink).black).toBeCloseTo(1, 1);
          expect(form.fit(ink).gain / all).toBeCloseTo(1, 3);
        });
      }
    },
  );
});

describe('the section of a picture', () => {
  test.each([
    ['center', 0, 2, 158],
    ['left-right', 2, 0, 157],
    ['grid-3x3', 1, 2, 156],
  ] as const)('%s from (%d, %d), %d pixels wide', (configuration, left, top, side) => {
    const layout = layoutOf(configuration);
    const finder = new FigureFinder(layout, { side: SMALL_SIZE, truncated: true });
    const seen = [0, 1, 2].flatMap((index) => {
      const panel = panelOf(layout, index);
      const picture = cut(renderPanel(layout, panel), left, top, side);
      const pale = picture.map((value) => 1 - 0.8 * (1 - value));
      return finder.figuresIn(inkOf(pale, SMALL_SIZE), { panel, explained: 1, ink: 1 });
    });
    const { section } = sectionOf(seen);
    expect(section.left).toBeCloseTo(left, 0);
    expect(section.top).toBeCloseTo(top, 0);
    expect(section.side).toBeCloseTo(side, -0.5);
    expect(section.spread).toBeCloseTo(side / SMALL_SIZE, 0);
    expect(section.black).toBeCloseTo(0.8, 1);
  });
});

test('panels that are each cut a little otherwise seem pale together, one by one they are black', () => {
  const layout = layoutOf('grid-3x3');
  const finder = new FigureFinder(layout, { side: SMALL_SIZE, truncated: true });
  const seen = [0, 1, 2, 3].flatMap((index) => {
    const panel = panelOf(layout, index);
    const picture = cut(renderPanel(layout, panel), 2 * (index % 2), 2 * (index >> 1), 157);
    return finder.figuresIn(inkOf(picture, SMALL_SIZE), { panel, explained: 1, ink: 1 });
  });
  const { section } = sectionOf(seen);
  expect(section.black).toBeLessThan(0.97);
  expect(blackIn([{ seen, section }])).toBe(1);
});
