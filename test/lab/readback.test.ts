/** Panels read back from pictures, and errors in pixels. */
import { describe, expect, test } from 'vitest';
import { leastLook } from '../../src/matrix/look-templates.js';
import {
  panelError,
  meanPanel,
  pixelErrors,
  readback,
  ReadbackJudge,
  studyProblems,
} from '../../src/lab/index.js';
import {
  ALL_LAYOUTS,
  answerOf,
  layoutOf,
  PanelReader,
  Random,
  renderPanel64,
  sampleProblem,
  type ConfigurationLayout,
  type Panel,
} from '../../src/matrix/index.js';
import { pixelsOf } from '../matrix/pixels.js';
import { fingerprint, keyOf, madeUpSubject } from './made-up.js';

const PROBLEMS = process.env.CRAB_TEST_LONG ? 60 : 6;

const problemOf = (layout: ConfigurationLayout, index: number) => {
  const { configuration, noisy } = layout;
  return sampleProblem({ configuration, noisy, seed: 5, index, variant: 'i-raven' });
};

/** The same picture with noise on every pixel. */
function noisy(picture: Float32Array, most: number, seed: number): Float32Array {
  const random = new Random(seed);
  return picture.map((value) =>
    Math.min(1, Math.max(0, value + (most * random.next()) / 2 ** 31 - most)),
  );
}

describe.each(ALL_LAYOUTS.map((layout) => [layout.folder, layout] as const))('%s', (_, layout) => {
  const judge = new ReadbackJudge(layout);

  // Of figures that are drawn alike the first stands for all in noisy grids: few answers have such.
  const mostMisread = layout.noisy ? 0.05 * PROBLEMS : 0;

  test('answers are read as what they are, wrong candidates as wrong', () => {
    let misread = 0;
    for (let index = 0; index < PROBLEMS; index++) {
      const problem = problemOf(layout, index);
      const right = judge.judge(problem, noisy(pixelsOf(layout, answerOf(problem)), 0.03, index));
      expect(right.readable).toBe(true);
      expect(right.agrees).toBe(right.attributes.every(Boolean));
      if (!right.agrees || !right.obeys) misread++;
      const { panel } = problem.candidates[(problem.target + 1) % 8];
      const wrong = judge.judge(problem, pixelsOf(layout, panel));
      expect(wrong).toMatchObject({ obeys: false, agrees: false, readable: true });
      expect(wrong.attributes).toContain(false);
    }
    expect(misread).toBeLessThanOrEqual(mostMisread);
  });
});

describe('unreadable', () => {
  const reader = new PanelReader(layoutOf('center'));
  const constant = (value: number): Float32Array => new Float32Array(4096).fill(value);

  test.each([
    ['empty paper', constant(1)],
    ['grey all over', constant(0.4)],
    ['black all over', constant(0)],
    ['noise', noisy(constant(0.5), 0.5, 1)],
  ])('%s', (_, picture) => {
    expect(reader.read(picture).readable).toBe(false);
  });

  test('two figures over each other', () => {
    const layout = layoutOf('center');
    const triangle = (angle: number): Float32Array =>
      pixelsOf(layout, {
        components: [{ uniformity: 3, entities: [{ slot: 0, type: 1, size: 5, color: 9, angle }] }],
      });
    const [up, down] = [triangle(3), triangle(7)];
    expect(reader.read(up).readable).toBe(true);
    expect(reader.read(up.map((value, i) => (value + down[i]) / 2)).readable).toBe(false);
  });
});

test('figures drawn alike are all named', () => {
  const layout = layoutOf('out-in-grid');
  const panel = (size: number): Panel => ({
    components: [
      { uniformity: 3, entities: [{ slot: 0, type: 5, size: 4, color: 0, angle: 3 }] },
      { uniformity: 3, entities: [{ slot: 2, type: 2, size, color: 4, angle: 3 }] },
    ],
  });
  const [, inner] = new PanelReader(layout).read(pixelsOf(layout, panel(2))).components;
  expect(inner.descriptions.map(({ entities }) => entities[0].size)).toEqual([2, 3]);
  const [, other] = new PanelReader(layout).read(pixelsOf(layout, panel(4))).components;
  expect(other.descriptions.map(({ entities }) => entities[0].size)).toEqual([4]);
});

test('the search that leaves out most looks finds the nearest one', () => {
  const random = new Random(3);
  const draw = (): number => random.next() / 2 ** 32;
  for (let trial = 0; trial < 50; trial++) {
    const distances = Float64Array.from({ length: 40 }, draw);
    const bounds = distances.map((distance) => distance * draw());
    const asked: number[] = [];
    const { look } = leastLook(
      40,
      [(each) => bounds[each] * draw(), (each) => bounds[each]],
      (each) => {
        asked.push(each);
        return distances[each];
      },
    );
    expect(look).toBe(distances.indexOf(Math.min(...distances)));
    expect(asked.length).toBeLessThanOrEqual(40);
  }
});

describe('reading back what a model imagines', () => {
  const layout = layoutOf('grid-2x2');
  const SEED = 31;
  const COUNT = 12;
  const problems = Array.from({ length: COUNT }, (_, index) =>
    sampleProblem({ configuration: 'grid-2x2', seed: SEED, index }),
  );
  /** Pictures by what they were encoded to, so that a decoder can be perfect. */
  const pictures = new Map<string, Float32Array>();
  const parts = {
    configuration: 'grid-2x2' as const,
    encode: (picture: Uint8Array) => {
      const means = fingerprint(picture, 2, 4);
      pictures.set(
        means[0].join(),
        Float32Array.from(picture, (value) => value / 255),
      );
      return means;
    },
    draw: (means: readonly Float32Array[]) =>
      pictures.get(means[0].join()) ?? new Float32Array(4096),
  };
  const run = (subject: Parameters<typeof readback>[0]) =>
    readback(subject, { problems: COUNT, seed: SEED });

  test('finds nothing wrong with a perfect one', async () => {
    const found = await run(madeUpSubject(parts));
    expect(found.obeys.value).toBe(1);
    expect(found.agrees.value).toBe(1);
    expect(found.unreadable.value).toBe(0);
    expect(found.reconstructedObeys?.value).toBe(1);
    expect(found.byAttribute.map(({ attribute, share }) => [attribute.name, share])).toEqual([
      ['Num/Pos', 1],
      ['Type', 1],
      ['Size', 1],
      ['Color', 1],
    ]);
  });

  test('finds everything wrong with one that imagines wrong candidates', async () => {
    const wrong = new Map(
      problems.map((problem) => {
        const { panel } = problem.candidates[(problem.target + 3) % 8];
        return [keyOf(renderPanel64(layout, answerOf(problem))), renderPanel64(layout, panel)];
      }),
    );
    const truth = new Map(
      problems.map((problem) => {
        const picture = renderPanel64(layout, answerOf(problem));
        return [fingerprint(picture, 2, 4)[0].join(), picture];
      }),
    );
    const found = await run(
      madeUpSubject({
        ...parts,
        predict: ({ concepts }) => {
          const answer = truth.get(concepts[8][0].join());
          const picture = answer && wrong.get(keyOf(answer));
          if (picture === undefined) throw new Error('not one of the problems');
          return parts.encode(picture);
        },
      }),
    );
    expect(found.obeys.value).toBe(0);
    expect(found.reconstructedObeys?.value).toBe(1);
    expect(found.byAttribute.some(({ share }) => share < 1)).toBe(true);
  });

  test('calls a blur unreadable', async () => {
    const found = await run(
      madeUpSubject({ ...parts, draw: () => new Float32Array(4096).fill(0.7) }),
    );
    expect(found.unreadable.value).toBe(1);
    expect(found.obeys.value).toBe(0);
    expect(found.byAttribute[0].share).toBe(0);
  });
});

describe('errors in pixels', () => {
  test('are the mean differences', () => {
    const picture = Uint8Array.from({ length: 4096 }, (_, i) => (i % 2 === 0 ? 255 : 0));
    const drawn = Float32Array.from(picture, (value) => value / 255 - 0.1);
    const { squared, absolute } = panelError(drawn, picture);
    expect(squared).toBeCloseTo(0.01, 6);
    expect(absolute).toBeCloseTo(0.1, 6);
  });

  test('tell reconstruction and prediction apart', async () => {
    const pictures = new Map<string, Uint8Array>();
    const parts = {
      encode: (picture: Uint8Array) => {
        const means = fingerprint(picture, 2, 4);
        pictures.set(means[0].join(), picture);
        return means;
      },
      // Predicted concepts carry a mark in the second concept: drawn 0.2 too dark.
      predict: ({ concepts }: { concepts: readonly (readonly Float32Array[])[] }, at: number) => [
        concepts[at - 1][0],
        new Float32Array(4).fill(9),
      ],
      draw: (means: readonly Float32Array[]) => {
        const picture = pictures.get(means[0].join()) ?? new Uint8Array(4096);
        const shift = means[1][0] === 9 ? 0.2 : 0.1;
        return Float32Array.from(picture, (value) => value / 255 - shift);
      },
    };
    const subject = madeUpSubject(parts);
    const studied = await studyProblems(subject, [], { count: 40, seed: 4 });
    const found = await pixelErrors(subject, studied, { problems: 33 });
    expect(found.problems).toEqual({ fromData: 0, generated: 33, seed: 4 });
    expect(found.reconstruction?.meanSquared.value).toBeCloseTo(0.01, 6);
    expect(found.prediction.meanSquared.value).toBeCloseTo(0.04, 6);
    expect(found.predictionAnywhere?.meanAbsolute.value).toBeCloseTo(0.2, 6);
    expect(found.meanPanel?.meanSquared.value).toBeGreaterThan(0.01);
  });

  test('of the mean panel are the least that any fixed picture has', () => {
    // Two matrices of nine panels of four pixels: black with one white panel, and white.
    const matrices = [0, 255].map((paper) => new Uint8Array(36).fill(paper));
    matrices[0].fill(255, 0, 4);
    const mean = meanPanel(matrices);
    expect([...mean]).toEqual(Array.from({ length: 4 }, () => Math.fround(10 / 18)));
    const errorOf = (drawn: Float32Array): number =>
      matrices
        .flatMap((matrix) => Array.from({ length: 9 }, (_, i) => matrix.subarray(4 * i, 4 * i + 4)))
        .reduce((sum, panel) => sum + panelError(drawn, panel).squared / 18, 0);
    expect(errorOf(mean)).toBeCloseTo((10 / 18) * (8 / 18), 6);
    expect(errorOf(new Float32Array(4).fill(0.5))).toBeGreaterThan(errorOf(mean));
  });
});
