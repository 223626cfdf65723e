/** Panels recognised from pictures: fresh problems of every kind are, other pictures are not. */
import { describe, expect, test } from 'vitest';
import {
  ALL_LAYOUTS,
  CONFIGURATIONS,
  contactSheet,
  decodePng,
  encodePng,
  encodeRavenNpz,
  findConfiguration,
  layoutName,
  matrixPanels,
  PanelReader,
  problemPanels,
  problemToSvg,
  renderProblem,
  sampleProblem,
  TYPES,
  type Configuration,
  type GreyImage,
  type Problem,
} from '../../src/matrix/index.js';
import { decodeSvg } from '../../src/matrix/node.js';
import {
  readMatrixPicture,
  recognise,
  recogniseProblem,
  type MatrixPicture,
} from '../../src/solver/index.js';
import { readProblem } from '../../src/solver/node.js';
import { resized } from '../../src/solver/panels.js';
import { turned } from '../../src/solver/straighten.js';
import { pixelsOf } from '../matrix/pixels.js';
import { layoutOfProblem } from '../../src/matrix/index.js';
import { OTHER_PANELS, otherPanels, uniform } from './other-pictures.js';

const SEED = 6006;
const problemOf = (configuration: Configuration, index: number, noisy = false): Problem =>
  sampleProblem({ configuration, noisy, seed: SEED, index });

const panelsOf = (problem: Problem): Float32Array[] =>
  matrixPanels(problem).map((panel) => pixelsOf(layoutOfProblem(problem), panel));

const sheetOf = (problem: Problem, scale = 1): GreyImage =>
  decodePng(encodePng(contactSheet(problem, { markAnswer: false, scale })));

const svgOf = (problem: Problem): Promise<GreyImage> =>
  decodeSvg(new TextEncoder().encode(problemToSvg(problem, { markAnswer: false })));

/** Mean squared difference. */
const difference = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, i) => sum + (value - b[i]) ** 2, 0) / a.length;

describe('findConfiguration', () => {
  test.each(CONFIGURATIONS)('finds %s from panels', (configuration) => {
    for (let index = 0; index < 20; index++) {
      const found = findConfiguration(panelsOf(problemOf(configuration, index)).slice(0, 8));
      expect([index, found && layoutName(found.layout)]).toEqual([index, configuration]);
    }
  });

  test('tells noise', () => {
    for (const layout of ALL_LAYOUTS.filter(({ noisy }) => noisy)) {
      // Panels of noisy problems may happen to be without.
      const names = Array.from({ length: 10 }, (_, index) => {
        const found = findConfiguration(panelsOf(problemOf(layout.configuration, index, true)));
        return found && layoutName(found.layout);
      });
      expect(names.filter((name) => name === layoutName(layout)).length).toBeGreaterThan(7);
      expect(names.every((name) => name?.startsWith(layout.configuration))).toBe(true);
    }
  });

  test('looks among the layouts it is told only', () => {
    const panels = panelsOf(problemOf('center', 1));
    const among = ALL_LAYOUTS.filter(({ configuration }) => configuration === 'grid-3x3');
    expect(findConfiguration(panels, among)).toBeNull();
    expect(findConfiguration(panels, [])).toBeNull();
  });

  test.each(Object.keys(OTHER_PANELS))('refuses %s', async (kind) => {
    for (const seed of [3, 5, 8])
      expect(findConfiguration(await otherPanels(kind, seed))).toBeNull();
  });

  test('refuses blank paper', () => {
    expect(findConfiguration([new Float32Array(4096).fill(1)])).toBeNull();
    expect(findConfiguration([])).toBeNull();
  });
});

describe('recognise', () => {
  // Of these panels and candidates some are read wrong: drawn anew, they would show something else.
  test.each(ALL_LAYOUTS.map((layout) => [layoutName(layout), layout] as const))(
    'leaves all panels and candidates of our own sheets of %s alone',
    (_, { configuration, noisy }) => {
      for (let index = 31; index < 34; index++) {
        for (const variant of ['raven', 'i-raven'] as const) {
          const problem = sampleProblem({ configuration, noisy, variant, seed: SEED, index });
          const picture = readMatrixPicture(sheetOf(problem, 1 + (index % 2)));
          const found = recognise(picture);
          expect(found?.layout.configuration).toBe(configuration);
          expect([index, found?.redrawn]).toEqual([index, 0]);
          found?.panels.forEach((panel, i) => expect(panel).toBe(picture.panels[i]));
          found?.candidates.forEach((panel, i) => expect(panel).toBe(picture.candidates[i]));
        }
      }
    },
  );

  test('a few panels drawn to the pixel show that a picture is in the own style', () => {
    // Outer figures of six of its panels are turned, and read as upright ones that look nearly the same.
    const of = { configuration: 'out-in-grid', noisy: true, seed: 20_261_120, index: 23 } as const;
    const panels = panelsOf(sampleProblem(of));
    expect(recognise({ panels, candidates: [] })).toMatchObject({ panels, redrawn: 0 });
  });

  test.each(['grid-2x2', 'grid-3x3'] as const)(
    'reads candidates of an SVG of %s figure by figure: they may be unlike each other',
    async (configuration) => {
      let unlike = 0;
      for (const index of [32, 33, 34]) {
        const problem = sampleProblem({ configuration, variant: 'raven', seed: SEED, index });
        const found = recognise(readMatrixPicture(await svgOf(problem)));
        const layout = layoutOfProblem(problem);
        problem.candidates.forEach(({ panel }, i) => {
          const { entities } = panel.components[0];
          const colours = new Set(entities.map(({ color }) => color));
          if (colours.size === 1) return;
          unlike++;
          const drawn = found?.candidates[i] ?? new Float32Array(4096);
          expect(difference(drawn, pixelsOf(layout, panel))).toBeLessThan(0.002);
        });
      }
      expect(unlike).toBeGreaterThan(2);
    },
  );

  /** Expects panels drawn anew to show what was drawn: the places, shapes, colours and sizes. */
  function expectRead(problem: Problem, picture: MatrixPicture): void {
    const found = recognise(picture);
    expect(found?.redrawn).toBeGreaterThan(7);
    const layout = layoutOfProblem(problem);
    const reader = new PanelReader(layout);
    const given = [...picture.panels.slice(0, 8), ...picture.candidates];
    const drawn = [...(found?.panels.slice(0, 8) ?? []), ...(found?.candidates ?? [])];
    problemPanels(problem).forEach((panel, i) => {
      if (drawn[i] === given[i]) return;
      const bytes = Uint8Array.from(drawn[i] ?? [], (value) => Math.round(255 * value));
      const seen = reader
        .readExactly(bytes)
        ?.map((each) => each.map(({ slot, type, color, sizes }) => ({ slot, type, color, sizes })));
      const told = panel.components.map(({ entities }, c) =>
        [...entities]
          .sort((a, b) => a.slot - b.slot)
          .map(({ slot, type, color, size }, e) => {
            // Some sizes are drawn alike.
            const sizes = seen?.[c]?.at(e)?.sizes ?? [];
            return { slot, type, color, sizes: sizes.includes(size) ? sizes : [size] };
          }),
      );
      expect([i, seen]).toEqual([i, told]);
    });
  }

  test('reads the small inner figures of an SVG, whose cells are cut a pixel too narrow', async () => {
    for (const index of [3, 5, 10, 11]) {
      const of = { configuration: 'out-in-grid', variant: 'i-raven', seed: 20_261_119 } as const;
      const problem = sampleProblem({ ...of, index });
      expectRead(problem, readMatrixPicture(await svgOf(problem)));
    }
  });

  test.each([
    ['out-in-grid', 1],
    ['out-in-grid', 0.85],
    ['out-in-center', 0.85],
  ] as const)(
    'reads the figures of a sheet of %s made smaller, also if its black is only %d of black',
    (configuration, black) => {
      for (const index of [0, 1, 2]) {
        const of = { configuration, variant: 'i-raven', seed: 20_261_119 } as const;
        const problem = sampleProblem({ ...of, index });
        const sheet = sheetOf(problem);
        const { data, ...size } = resized(sheet, Math.round(0.8 * sheet.width));
        const pale = { ...size, data: data.map((value) => 1 - black * (1 - value)) };
        expectRead(problem, readMatrixPicture(pale));
      }
    },
  );

  test('tells the black circles of a pale scan from dark grey ones', () => {
    const problem = sampleProblem({ configuration: 'center', seed: 20_261_118, index: 5 });
    const random = uniform(14);
    const { data, ...size } = turned(sheetOf(problem, 2), 1.3, 1);
    const scan = data.map((value) => Math.min(1, 0.04 + 0.92 * value + 0.03 * random()));
    expectRead(problem, readMatrixPicture({ ...size, data: scan }));
  });

  test('draws figures that look the same turned upright, with sharp lines', async () => {
    const [upright, turnedBack] = [3, 0];
    let circles = 0;
    for (let index = 0; index < 6; index++) {
      const problem = problemOf('out-in-center', index);
      const picture = readMatrixPicture(await svgOf(problem));
      const found = recognise(picture);
      const layout = layoutOfProblem(problem);
      problem.context.forEach(({ components }, i) => {
        const isCircle = components.every(({ entities: [{ type }] }) => TYPES[type] === 'circle');
        if (!isCircle) return;
        circles++;
        const at = (angle: number): Float32Array =>
          pixelsOf(layout, {
            components: components.map((component) => ({
              ...component,
              entities: component.entities.map((entity) => ({ ...entity, angle })),
            })),
          });
        expect(found?.panels[i]).toEqual(at(upright));
        expect(at(upright)).not.toEqual(at(turnedBack));
      });
    }
    expect(circles).toBeGreaterThan(0);
  });

  test.each(CONFIGURATIONS)('draws the panels of an SVG of %s anew', async (configuration) => {
    const problem = problemOf(configuration, 32);
    const picture = readMatrixPicture(await svgOf(problem));
    expect([picture.missing, picture.candidates.length]).toEqual([[9], 8]);
    const found = recognise(picture);
    expect(found && layoutName(found.layout)).toBe(configuration);
    expect(found?.redrawn).toBeGreaterThan(0);
    const truth = panelsOf(problem);
    const errors = found?.panels.map((panel, i) => (panel ? difference(panel, truth[i]) : 0)) ?? [];
    // A figure that is the same turned may be drawn turned: a few pixels of its outline differ.
    expect(Math.max(...errors)).toBeLessThan(0.008);
  });

  test.each(CONFIGURATIONS)('reads a scan of %s that is turned', (configuration) => {
    const problem = problemOf(configuration, 33);
    const random = uniform(9);
    const truth = panelsOf(problem);
    for (const degrees of [-3, 1.3, 3]) {
      const { data, ...size } = turned(sheetOf(problem, 2), degrees, 1);
      const scan = data.map((value) => Math.min(1, 0.04 + 0.92 * value + 0.03 * random()));
      const picture = readMatrixPicture({ ...size, data: scan });
      expect([degrees, picture.missing]).toEqual([degrees, [9]]);
      const found = recognise(picture);
      expect([degrees, found && layoutName(found.layout)]).toEqual([degrees, configuration]);
      found?.panels.slice(0, 8).forEach((panel, i) => {
        expect(difference(panel ?? new Float32Array(4096), truth[i])).toBeLessThan(0.03);
      });
    }
  });

  test('turns a scan upright even if its cells are found as they are', () => {
    for (const configuration of ['out-in-grid', 'left-right'] as const) {
      const problem = problemOf(configuration, 33);
      const picture = readMatrixPicture(turned(sheetOf(problem, 2), -0.7, 1));
      const truth = panelsOf(problem);
      picture.panels.slice(0, 8).forEach((panel, i) => {
        expect(difference(panel ?? new Float32Array(4096), truth[i])).toBeLessThan(0.01);
      });
      expect(recognise(picture)?.redrawn).toBe(0);
    }
  });

  test('takes no picture with a mesh for one without, and leaves its lines', () => {
    for (let index = 0; index < 4; index++) {
      for (const configuration of ['center', 'left-right', 'out-in-center'] as const) {
        const problem = sampleProblem({ configuration, mesh: true, seed: 8, index });
        const found = recognise(readMatrixPicture(sheetOf(problem)));
        const name = found && layoutName(found.layout);
        expect([`${configuration}-mesh`, null]).toContain(name);
        expect(found?.redrawn ?? 0).toBe(0);
      }
    }
  });

  test('refuses a matrix of letters', async () => {
    const panels = [...(await otherPanels('letters', 21)), null];
    expect(recognise({ panels, candidates: [] })).toBeNull();
  });
});

test('a RAVEN file tells its configuration, and its panels are taken as they are', async () => {
  const problem = problemOf('up-down', 3);
  const file = encodeRavenNpz(problem, renderProblem(problem).images) as Uint8Array<ArrayBuffer>;
  const given = await readProblem(new Blob([file]));
  const { layout, problem: same, redrawn } = recogniseProblem(given);
  expect([layout?.configuration, redrawn]).toEqual(['up-down', 0]);
  expect(same).toBe(given);
});
