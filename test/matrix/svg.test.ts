/** SVG: well-formed, complete, safe on any page, and of the same geometry as the raster images. */
import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { describe, expect, test } from 'vitest';
import { ArgumentError } from '../../src/base/index.js';
import {
  ALL_LAYOUTS,
  COLORS,
  escapeXml,
  IMAGE_SIZE,
  layoutOf,
  panelShapes,
  problemToSvg,
  renderPanelPlainly,
  renderSvg,
  type CircleShape,
  type PolygonShape,
} from '../../src/matrix/index.js';
import { arbitraryPanel, FIXED_PANELS, fixedPanel, fixedProblem } from './drawable.js';

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Elements in document order, and all text; throws where the XML is not well-formed. */
function parse(svg: string): { elements: Element[]; text: string[] } {
  const elements: Element[] = [];
  const text: string[] = [];
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => elements.push({ name, attributes }));
  parser.on('text', (content) => text.push(content));
  parser.write(svg).close();
  return { elements, text };
}

const named = (elements: readonly Element[], ...names: string[]): Element[] =>
  elements.filter(({ name }) => names.includes(name));

const anyPanel = fc
  .constantFrom(...ALL_LAYOUTS)
  .chain((layout) => arbitraryPanel(layout).map((panel) => [layout, panel] as const));

describe('a panel', () => {
  test('has every entity, in drawing order, with its colour', () => {
    const check = fc.property(anyPanel, ([layout, panel]) => {
      const { elements } = parse(renderSvg(layout, panel));
      const drawn = named(elements, 'polygon', 'circle').map(({ name, attributes }) => ({
        circle: name === 'circle',
        component: Number(attributes['data-component']),
        slot: Number(attributes['data-slot']),
        fill: attributes.fill,
      }));
      const expected = panel.components.flatMap(({ entities }, component) =>
        entities.map(({ type, slot, color }) => {
          const grey = COLORS[color].toString(16).padStart(2, '0');
          const fill = color === 0 ? 'none' : `#${grey}${grey}${grey}`;
          return { circle: type === 5, component, slot, fill };
        }),
      );
      expect(drawn).toEqual(expected);
      const lines = ['Left_Right', 'Up_Down'].includes(layout.structure) ? 1 : 0;
      expect(named(elements, 'line')).toHaveLength(lines);
    });
    fc.assert(check, { seed: 1, numRuns: 200 });
  });

  test('carries no id that could collide on a page', () => {
    for (const layout of ALL_LAYOUTS) {
      const { elements } = parse(renderSvg(layout, fixedPanel(layout, 3)));
      for (const { attributes } of elements) expect(Object.keys(attributes)).not.toContain('id');
    }
  });

  test('turns its polygons by a transform to where the shapes say they are', () => {
    for (const layout of ALL_LAYOUTS) {
      for (let step = 0; step < FIXED_PANELS; step++) {
        const panel = fixedPanel(layout, step);
        const polygons = panelShapes(layout, panel).filter(({ kind }) => kind === 'polygon');
        const { elements } = parse(renderSvg(layout, panel));
        const seen = named(elements, 'polygon').map(turnedPoints).flat();
        const expected = (polygons as PolygonShape[]).flatMap(({ vertices }) => vertices);
        expect(seen).toHaveLength(expected.length);
        seen.forEach(([x, y], index) => {
          expect(x).toBeCloseTo(expected[index][0], 2);
          expect(y).toBeCloseTo(expected[index][1], 2);
        });
      }
    }
  });
});

/** The points of a polygon element after its own rotation. */
function turnedPoints({ attributes }: Element): [number, number][] {
  const points = attributes.points.split(' ').map((pair) => pair.split(',').map(Number));
  const rotation = /^rotate\((\S+) (\S+) (\S+)\)$/.exec(attributes.transform ?? 'rotate(0 0 0)');
  const [degrees, x0, y0] = (rotation ?? []).slice(1).map(Number);
  const [cosine, sine] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  return points.map(([x, y]) => [
    x0 + cosine * (x - x0) - sine * (y - y0),
    y0 + sine * (x - x0) + cosine * (y - y0),
  ]);
}

describe('shapes agree with the raster image away from outlines', () => {
  type Solid = PolygonShape | CircleShape;

  /** Distance to the outline, negative inside. */
  function signedDistance(shape: Solid, x: number, y: number): number {
    if (shape.kind === 'circle') {
      return Math.hypot(x - shape.centre[0], y - shape.centre[1]) - shape.radius;
    }
    let nearest = Infinity;
    let inside = false;
    shape.vertices.forEach(([x1, y1], index) => {
      const [x0, y0] = shape.vertices.at(index - 1) ?? [0, 0];
      const [dx, dy] = [x1 - x0, y1 - y0];
      const along = ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy);
      const t = Math.min(Math.max(along, 0), 1);
      nearest = Math.min(nearest, Math.hypot(x - x0 - t * dx, y - y0 - t * dy));
      if (y0 > y !== y1 > y && x < x0 + ((y - y0) / dy) * dx) inside = !inside;
    });
    return inside ? -nearest : nearest;
  }

  /** Vertices are cut by up to a pixel each way, outlines reach 1.5, interpolation half a diagonal. */
  const NEAR_OUTLINE = 3.7;
  /** Every so many pixels are compared: no divisor of a row, so that all columns come up. */
  const PIXEL_STEP = process.env.CRAB_TEST_LONG ? 1 : 3;

  test.each(ALL_LAYOUTS)('$folder', (layout) => {
    let compared = 0;
    for (let step = 0; step < FIXED_PANELS; step++) {
      const panel = fixedPanel(layout, step);
      const image = renderPanelPlainly({ ...layout, structure: 'Singleton' }, panel);
      const solids = panelShapes({ ...layout, structure: 'Singleton' }, panel) as Solid[];
      image.forEach((value, pixel) => {
        if (pixel % PIXEL_STEP !== 0) return;
        const x = (pixel % IMAGE_SIZE) + 0.5;
        const y = Math.floor(pixel / IMAGE_SIZE) + 0.5;
        const distances = solids.map((shape) => signedDistance(shape, x, y));
        if (distances.some((distance) => Math.abs(distance) < NEAR_OUTLINE)) return;
        const top = solids.findLast(({ fill }, i) => distances[i] < 0 && fill !== null);
        if (value !== (top?.fill ?? 255)) {
          expect.fail(`panel ${step}, pixel ${pixel}: ${value}, shapes say ${top?.fill ?? 255}`);
        }
        compared += 1;
      });
    }
    expect(compared).toBeGreaterThan((FIXED_PANELS * IMAGE_SIZE * IMAGE_SIZE) / PIXEL_STEP / 2);
  });
});

describe('a problem', () => {
  const layout = layoutOf('left-right');
  const problem = fixedProblem(layout, 4);

  test('shows eight panels, a question mark and eight numbered candidates', () => {
    const { elements, text } = parse(problemToSvg(problem));
    const frames = named(elements, 'rect').filter(({ attributes }) => attributes.stroke);
    expect(frames).toHaveLength(17);
    expect(named(elements, 'line')).toHaveLength(16);
    expect(text.filter((part) => part !== '')).toEqual(['?', ...'12345678']);
  });

  test('frames the answer only when asked', () => {
    const thick = (svg: string): Element[] =>
      named(parse(svg).elements, 'rect').filter((rect) => rect.attributes['stroke-width'] === '3');
    expect(thick(problemToSvg(problem))).toHaveLength(0);
    const [frame, ...others] = thick(problemToSvg(problem, { markAnswer: true }));
    expect(others).toHaveLength(0);
    // The fifth candidate is the first of the second row.
    expect(frame.attributes.x).toBe('32');
  });

  test('fills the answer in, and leaves the candidates out', () => {
    const svg = problemToSvg(problem, { fillIn: true, withoutCandidates: true });
    const { elements, text } = parse(svg);
    expect(named(elements, 'line')).toHaveLength(9);
    expect(text.filter((part) => part !== '')).toEqual([]);
  });

  test('escapes every text it is given', () => {
    const nasty = '</text><script>alert("1 & 2\')</script>\u0000\uffff\ud800';
    const { elements, text } = parse(
      problemToSvg(problem, { title: nasty, rules: [nasty, 'two'] }),
    );
    expect(named(elements, 'script')).toHaveLength(0);
    const kept = nasty.replace(/[\u0000\uffff\ud800]/gu, '');
    expect(text).toContain(kept);
    expect(elements[0].attributes['aria-label']).toBe(kept);
    expect(text).toContain('two');
  });

  test('keeps every word of long rules, within its width', () => {
    const words = Array.from({ length: 60 }, (_, i) => `word${i}`);
    const { text } = parse(problemToSvg(problem, { rules: [words.join(' ')] }));
    const lines = text.filter((part) => part.includes('word'));
    expect(lines.join(' ')).toBe(words.join(' '));
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(76);
  });

  test('refuses more text than a page holds', () => {
    const rules = new Array<string>(201).fill('line');
    expect(() => problemToSvg(problem, { rules })).toThrow(ArgumentError);
  });
});

test('escaping leaves nothing that XML would read', () => {
  const check = fc.property(fc.string({ unit: 'binary' }), (value) => {
    const { elements, text } = parse(`<a b="${escapeXml(value)}">${escapeXml(value)}</a>`);
    expect(elements).toHaveLength(1);
    expect(text.length).toBeLessThanOrEqual(1);
  });
  fc.assert(check, { seed: 1, numRuns: 300 });
});
