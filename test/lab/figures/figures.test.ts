import { SaxesParser } from 'saxes';
import { describe, expect, test } from 'vitest';
import {
  answerOf,
  CONFIGURATIONS,
  decodePng,
  layoutOf,
  Random,
  RULE_NAMES,
  rulesHold,
  sampleProblem,
} from '../../../src/matrix/index.js';
import {
  accuracyFigure,
  answerSelectionFigure,
  arbitraryPositionsFigure,
  attributesFigure,
  conceptsFigure,
  configurationsFigure,
  domainOf,
  gsaFigure,
  gsaWays,
  itemChoicesFigure,
  itemMapFigure,
  noiseFigure,
  otherAnswers,
  rasterize,
  ruleAgreementFigure,
  ruleMapsFigure,
  rulePriorFigure,
  scoresFigure,
  THEMES,
  toSvg,
  trainingFigure,
  withTheme,
  type Figure,
  type Point,
  type SelectionExample,
} from '../../../src/lab/figures/index.js';
import { placeLetters } from '../../../src/lab/figures/letters.js';
import { FIGURE_SCALE, SMALL_FONT_SIZE } from '../../../src/lab/figures/theme.js';
import { exampleEvaluation } from '../report/example-model.js';

const random = new Random(1);
const unit = (): number => random.next() / 2 ** 32;

/** A panel with a square of ink at a place that depends on its number. */
const panel = (n: number): Float32Array =>
  Float32Array.from({ length: 64 * 64 }, (_, i) => {
    const [x, y] = [i % 64, Math.floor(i / 64)];
    return Math.abs(x - 20 - n) < 8 && Math.abs(y - 32) < 8 ? 0.2 : 1;
  });
const panels = (count: number): Float32Array[] => Array.from({ length: count }, (_, i) => panel(i));

const selection = (chosen: number): SelectionExample => ({
  panels: panels(9),
  imagined: true,
  answer: 2,
  chosen,
  concepts: ['Type', 'Size & <Color>', 'mixed', 'mixed'],
  distance: 'l2',
  candidates: panels(8).map((each, i) => ({
    panel: each,
    shares: [i, 1, 0.5, 250],
    probability: i === 2 ? 0.93 : 0.01,
    wrong: i === 2 ? [] : ['Type', 'Size', 'Color', 'Number'],
  })),
});

const truth = Array.from({ length: 80 }, (_, i) => RULE_NAMES[i % 4]);
const CORNERS = [
  [0, 0],
  [2, 1],
  [-2, 1],
  [0, -2],
];
const points: Point[] = truth.map((_, i) => {
  const [x, y] = CORNERS[i % 4];
  return [x + 0.3 * unit(), y + 0.3 * unit()];
});
const mixture = {
  weights: [0.25, 0.25, 0.25, 0.25],
  means: CORNERS.map(([x, y]) => [x + 0.15, y + 0.15]),
  covariances: CORNERS.map(() => [
    [0.02, 0.01],
    [0.01, 0.02],
  ]),
};

const evaluation = exampleEvaluation('grid-2x2');

const { gsa, ari, history } = evaluation;
if (gsa === null || ari === null) throw new Error('the example has everything');

const noisy = sampleProblem({ configuration: 'grid-2x2', noisy: true, seed: 1, index: 2143 });

const FIGURES: Readonly<Record<string, () => Figure>> = {
  configurations: () =>
    configurationsFigure(
      CONFIGURATIONS.map((configuration) => sampleProblem({ configuration, seed: 12, index: 0 })),
    ),
  noise: () => noiseFigure(noisy, otherAnswers(noisy, 8, 1)),
  'arbitrary positions': () =>
    arbitraryPositionsFigure([
      {
        panels: panels(9),
        completions: [
          { missing: [5], images: [panel(3)] },
          { missing: [2, 8], images: [panel(4), panel(5)] },
        ],
      },
    ]),
  concepts: () =>
    conceptsFigure({
      attributes: ['Type', 'Size'],
      rows: [
        { concept: 1, name: 'Type', path: panels(7), decline: [0.95, 0.03] },
        { concept: 2, name: 'mixed', path: panels(7), decline: [0.4, 0.41] },
      ],
    }),
  selection: () => answerSelectionFigure(selection(2)),
  'rule maps': () =>
    ruleMapsFigure({
      steps: [0, 100],
      rows: [{ concept: 1, name: 'mixed', attribute: 'Type', truth, moments: [points, points] }],
    }),
  prior: () =>
    rulePriorFigure({
      concept: 1,
      name: 'Type',
      attribute: 'Type',
      mixture,
      points,
      truth,
      clusters: [
        { category: 1, share: 0.25, rule: 'Progression', purity: 1, examples: [panels(9)] },
      ],
    }),
  agreement: () =>
    ruleAgreementFigure(
      ari.matrix,
      ari.matrix.matrix.map(() => 'Type'),
    ),
  gsa: () => gsaFigure(gsaWays(gsa.points)),
  training: () => trainingFigure(history),
  accuracy: () =>
    accuracyFigure(
      ['Center', 'L-R'],
      [
        {
          name: 'ours',
          values: new Map([['Center', 0.9]]),
          intervals: new Map([['Center', [0.8, 1]]]),
        },
      ],
    ),
  scores: () => scoresFigure({ scores: [1, 2, 2, 3], items: 4, model: 3 }),
  items: () =>
    itemMapFigure([
      { id: 'a', difficulty: 0.4, discrimination: 0.1 },
      { id: 'b', difficulty: 0.9, discrimination: 0.5 },
    ]),
  attributes: () => attributesFigure([{ attribute: 'Size', share: 0.5, expected: 0.3 }]),
  choices: () =>
    itemChoicesFigure({
      id: 'center-00001',
      context: panels(8),
      candidates: panels(8),
      answer: 3,
      alsoRight: [6],
      shares: [0, 0.1, 0.6, 0, 0.1, 0.1, 0.1, 0],
      violates: panels(8).map(() => ['Size', 'Left: Color']),
      modelChoice: 2,
    }),
};

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  text: string;
}

/** All elements of an SVG; throws where it is not well-formed XML. */
function elementsOf(svg: string): Element[] {
  const elements: Element[] = [];
  const open: Element[] = [];
  const parser = new SaxesParser();
  parser.on('opentag', ({ name, attributes }) => {
    const element = { name, attributes, text: '' };
    elements.push(element);
    open.push(element);
  });
  parser.on('text', (text) => {
    const last = open.at(-1);
    if (last !== undefined) last.text += text;
  });
  parser.on('closetag', () => void open.pop());
  parser.on('error', (error) => {
    throw error;
  });
  parser.write(svg).close();
  return elements;
}

describe.each(Object.entries(FIGURES))('the figure of %s', (_, draw) => {
  const figure = draw();
  const svg = toSvg(figure);

  test('is well-formed, has a label, and no number is missing', () => {
    const elements = elementsOf(svg);
    expect(elements[0].attributes['aria-label'].length).toBeGreaterThan(10);
    expect(elements.length).toBeGreaterThan(8);
    expect(svg.replaceAll(/base64,[^"]*/g, '')).not.toMatch(/NaN|undefined|Infinity|\[object/);
  });

  test('is the same every time', () => {
    expect(toSvg(draw()) === svg).toBe(true);
  });

  test.each(THEMES)('stands alone in the %s theme', (theme) => {
    expect(withTheme(svg, theme)).not.toContain('var(--');
  });

  test('shows something as PNG, of its own size', async () => {
    const picture = decodePng(await rasterize(svg, 1));
    expect([picture.width, picture.height]).toEqual([
      Math.round(FIGURE_SCALE * Math.ceil(figure.width)),
      Math.round(FIGURE_SCALE * Math.ceil(figure.height)),
    ]);
    const dark = picture.data.filter((value) => value < 0.6).length / picture.data.length;
    expect(dark).toBeGreaterThan(0.003);
  });
});

describe('what figures say', () => {
  const texts = (figure: Figure): string[] =>
    elementsOf(toSvg(figure))
      .filter(({ name, text }) => (name === 'text' || name === 'tspan') && text !== '')
      .map(({ text }) => text);

  test('names are text, never markup', () => {
    const svg = toSvg(answerSelectionFigure(selection(2)));
    expect(svg).not.toContain('<Color>');
    expect(texts(answerSelectionFigure(selection(2))).some((t) => t.includes('Size &'))).toBe(true);
  });

  test('other answers obey every rule and differ; none if the rules decide all', () => {
    const others = otherAnswers(noisy, 8, 1);
    const layout = layoutOf('grid-2x2', true);
    expect(new Set([answerOf(noisy), ...others].map((panel) => JSON.stringify(panel))).size).toBe(
      9,
    );
    for (const panel of others) {
      expect(rulesHold(layout, noisy.rules, [...noisy.context, panel])).toBe(true);
    }
    expect(texts(noiseFigure(noisy, others))).toContain('position, size, color, rotation');
    const clean = sampleProblem({ configuration: 'grid-2x2', seed: 1, index: 7 });
    expect(clean.rules[0][0].attribute).toBe('Position');
    expect(otherAnswers(clean, 8, 1)).toEqual([]);
  });

  test('a wrong choice is marked as wrong, beside the answer', () => {
    expect(texts(answerSelectionFigure(selection(2)))).toContain('solved');
    const wrong = texts(answerSelectionFigure(selection(4)));
    expect(wrong).toContain('wrong');
    expect(wrong).toContain('5 chosen');
    expect(wrong).toContain('3 answer');
  });

  test('the smallest letters are 12 pixels high on a page', () => {
    expect(SMALL_FONT_SIZE * FIGURE_SCALE).toBeGreaterThanOrEqual(12);
  });

  test('letters lie clear of points and of each other', () => {
    const random = new Random(4);
    const anchors = [
      { x: 100, y: 100 },
      { x: 108, y: 104 },
      { x: 4, y: 196 },
    ];
    const points = Array.from({ length: 120 }, () => ({
      x: 80 + random.below(45),
      y: 85 + random.below(35),
    }));
    const placed = placeLetters(anchors, points, { width: 200, height: 200 });
    for (const [i, at] of placed.entries()) {
      const near = (other: { x: number; y: number }): boolean =>
        Math.abs(other.x - at.x) < 8 && Math.abs(other.y - at.y) < 8;
      expect(points.filter(near)).toEqual([]);
      expect(placed.filter((other, k) => k !== i && near(other))).toEqual([]);
      expect(Math.min(at.x, at.y, 200 - at.x, 200 - at.y)).toBeGreaterThan(8);
    }
  });

  test('scores have whole numbers on both axes, each once, and the model its number', () => {
    for (const [items, scores] of [
      [3, [1, 2, 2]],
      [40, [1, 20, 20, 35]],
    ] as const) {
      const said = texts(scoresFigure({ scores, items, model: 2.5 }));
      const ticks = said.filter((text) => /^[\d.]+$/.test(text));
      expect(ticks.every((text) => /^\d+$/.test(text))).toBe(true);
      expect(ticks.length).toBeGreaterThan(4);
      expect(new Set(ticks).size).toBeGreaterThanOrEqual(ticks.length / 2);
      expect(said).toContain('the model: 2.5');
    }
  });

  test('imagined panels are framed where they are missing, and nowhere else', () => {
    const stroke = 'var(--figure-series-1)';
    const framed = elementsOf(
      toSvg(
        arbitraryPositionsFigure([
          {
            panels: panels(9),
            completions: [
              { missing: [1], images: [panel(1)] },
              { missing: [4, 6], images: [panel(1), panel(2)] },
            ],
          },
        ]),
      ),
    ).filter(({ attributes }) => attributes.stroke === stroke);
    expect(framed).toHaveLength(3);
  });

  test('cells of variance decline are as strong as their values', () => {
    const svg = toSvg(
      conceptsFigure({
        attributes: ['Type', 'Size'],
        rows: [{ concept: 1, name: 'Type', path: panels(2), decline: [0.9, 0.25] }],
      }),
    );
    const cells = elementsOf(svg).filter(
      ({ name, attributes }) => name === 'rect' && 'fill-opacity' in attributes,
    );
    expect(cells.map(({ attributes }) => Number(attributes['fill-opacity']))).toEqual([0.9, 0.25]);
  });

  test('a better curve lies higher', () => {
    const series = [0.9, 0.6].map((value, i) => ({
      name: `curve ${i}`,
      points: [2, 4].map((candidates) => ({
        targets: 1,
        candidates,
        accuracy: { value, low: value, high: value },
      })),
    }));
    const lines = elementsOf(toSvg(gsaFigure(series))).flatMap(({ name, attributes }) => {
      const match = /^M[\d.]+,([\d.]+)L[\d.]+,\1$/.exec(attributes.d ?? '');
      return name === 'path' && attributes.stroke?.includes('series') === true && match !== null
        ? [Number(match[1])]
        : [];
    });
    expect(lines).toHaveLength(2);
    expect(lines[0]).toBeLessThan(lines[1]);
  });

  test('every problem is a point of every map', () => {
    const svg = toSvg(
      ruleMapsFigure({
        steps: [0, 5],
        rows: [{ concept: 1, name: 'Type', attribute: 'Type', truth, moments: [points, points] }],
      }),
    );
    expect(svg.match(/h0/g)).toHaveLength(2 * truth.length);
    expect(svg).toContain('before training');
  });
});

describe('data of figures', () => {
  test('domains hold all values, or all but the outermost', () => {
    const values = Array.from({ length: 101 }, (_, i) => i);
    const [low, high] = domainOf(values);
    expect(low).toBeLessThan(0);
    expect(high).toBeGreaterThan(100);
    const [cutLow, cutHigh] = domainOf([...values, 1e6], 0.02);
    expect(cutHigh).toBeLessThan(200);
    expect(cutLow).toBeLessThan(10);
    expect(domainOf([3, 3])).toEqual([2.5, 3.5]);
  });
});
