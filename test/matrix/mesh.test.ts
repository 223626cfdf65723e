/** I-RAVEN-Mesh: drawings of all lines, quarter turns, counts, rules, candidates and files. */
import { describe, expect, test } from 'vitest';
import {
  ALL_LAYOUTS,
  answerOf,
  candidatesConsistentWith,
  decodeRavenNpz,
  describePanel,
  describeRules,
  encodeRavenNpz,
  formatRavenXml,
  layoutOf,
  memorySource,
  MESH,
  MESH_LAYOUTS,
  NpzFile,
  parseProblem,
  parseRavenXml,
  readNpz,
  problemToJson,
  renderPanel,
  renderPanel64,
  renderPanelPlainly,
  renderProblem,
  downscale,
  rulesHold,
  samplePanels,
  sampleProblem,
  unicodeArray,
  validateProblem,
  writeNpz,
  type Entity,
  type Panel,
} from '../../src/matrix/index.js';
import { panelShapes } from '../../src/matrix/svg-shapes.js';
import { goodnessOfFit, homogeneity, tally } from './chi-square.js';

const center = layoutOf('center', false, true);
const line = (slot: number): Entity => ({ slot, type: 6, size: 0, color: 0, angle: 0 });
/** A white circle in the middle, away from most lines, and some lines. */
const withLines = (slots: readonly number[]): Panel => ({
  components: [
    { uniformity: 3, entities: [{ slot: 0, type: 5, size: 0, color: 0, angle: 3 }] },
    { uniformity: 3, entities: slots.map(line) },
  ],
});

test('a black figure hides whole lines: a picture does not always tell which mesh it has', () => {
  const black: Entity = { slot: 0, type: 5, size: 5, color: 9, angle: 3 };
  const imageOf = (slots: readonly number[]): Uint8Array =>
    renderPanel(center, {
      components: [{ uniformity: 3, entities: [black] }, withLines(slots).components[1]],
    });
  const hidden = [2, 5, 8, 11].filter(
    (slot) => Buffer.compare(imageOf([0]), imageOf([0, slot])) === 0,
  );
  expect(hidden).toEqual([2, 5, 8, 11]);
});

/** Ends of the twelve lines, as published: x, y to x, y. */
const ENDS = [
  [12, 12, 12, 80],
  [12, 80, 12, 147],
  [12, 80, 80, 80],
  [12, 147, 80, 147],
  [80, 147, 147, 147],
  [80, 80, 80, 147],
  [147, 80, 147, 147],
  [147, 12, 147, 80],
  [80, 80, 147, 80],
  [80, 12, 147, 12],
  [12, 12, 80, 12],
  [80, 12, 80, 80],
] as const;

/** What OpenCV makes of a line two wide: three pixels across, and one more at each end. */
function expectedPixels([x0, y0, x1, y1]: readonly [number, number, number, number]): Set<number> {
  const pixels = new Set<number>();
  const upright = x0 === x1;
  for (let x = x0; x <= x1; x++) {
    for (let y = y0; y <= y1; y++) {
      for (const off of [-1, 0, 1]) pixels.add(upright ? y * 160 + x + off : (y + off) * 160 + x);
    }
  }
  pixels.add(upright ? (y0 - 1) * 160 + x0 : y0 * 160 + x0 - 1);
  pixels.add(upright ? (y1 + 1) * 160 + x1 : y1 * 160 + x1 + 1);
  return pixels;
}

const without = renderPanel(layoutOf('center'), { components: [withLines([]).components[0]] });

test.each(ENDS.map((ends, slot) => [slot, ends] as const))(
  'line %d is drawn as expected, pixel for pixel',
  (slot, ends) => {
    const lines = expectedPixels(ends);
    const expected = without.map((grey, pixel) => (lines.has(pixel) ? 0 : grey));
    const image = renderPanel(center, withLines([slot]));
    expect(Buffer.compare(image, expected)).toBe(0);
  },
);

test('fast and plain drawing agree, at both sizes, lines over figures', () => {
  for (const layout of MESH_LAYOUTS) {
    const { configuration, noisy } = layout;
    for (let index = 0; index < 4; index++) {
      const { panels } = samplePanels({ configuration, noisy, mesh: true, seed: 1, index });
      for (const panel of panels.slice(0, 3)) {
        const plain = renderPanelPlainly(layout, panel);
        expect(Buffer.compare(renderPanel(layout, panel), plain)).toBe(0);
        const small = new Uint8Array(64 * 64);
        downscale(plain, small);
        expect(Buffer.compare(renderPanel64(layout, panel), small)).toBe(0);
      }
    }
  }
});

test('slot i + 3 is slot i turned by a quarter, counter-clockwise', () => {
  for (let slot = 0; slot < 12; slot++) {
    const turned = ([x, y]: number[]) => [y, 2 * 0.5 - x];
    const ends = ({ row, column, width, height }: (typeof MESH.slots)[number]) =>
      [
        [column, row],
        [height, width],
      ] as const;
    const own = ends(MESH.slots[slot]).map((end) => turned([...end]).map((v) => v.toFixed(2)));
    const next = ends(MESH.slots[(slot + 3) % 12]).map((end) => end.map((v) => v.toFixed(2)));
    expect(own.map(String).sort()).toEqual(next.map(String).sort());
  }
});

const slotsOf = (panel: Panel): number[] =>
  panel.components
    .at(-1)!
    .entities.map(({ slot }) => slot)
    .sort((a, b) => a - b);

/** First-column counts and rules of many meshes. */
const sampled = Array.from({ length: 6000 }, (_, index) =>
  samplePanels({ configuration: 'center', mesh: true, seed: 3, index }),
);

test('the seven rules on Number and Position are equally likely, the others constant', () => {
  const names = tally(sampled.map(({ rules }) => `${rules[1][0].name} ${rules[1][0].attribute}`));
  expect(names.size).toBe(7);
  expect(goodnessOfFit([...names.values()], Array<number>(7).fill(1 / 7))).toBeGreaterThan(0.001);
  for (const { rules } of sampled.slice(0, 200)) {
    expect(rules[1].slice(1).map(({ name }) => name)).toEqual(Array(3).fill('Constant'));
  }
});

test.each([
  ['Constant', 'Number/Position', 0, 1, 9],
  ['Progression', 'Number', 1, 1, 9],
  ['Progression', 'Number', 2, 1, 8],
  ['Progression', 'Number', -1, 3, 9],
  ['Progression', 'Number', -2, 5, 9],
  ['Progression', 'Position', 1, 1, 9],
  ['Progression', 'Position', 2, 1, 8],
  ['Arithmetic', 'Number', 1, 1, 9],
  ['Arithmetic', 'Number', -1, 2, 9],
  ['Arithmetic', 'Position', 1, 1, 9],
  ['Arithmetic', 'Position', -1, 6, 9],
  ['Distribute_Three', 'Number', 0, 1, 9],
  ['Distribute_Three', 'Position', 0, 1, 9],
])('%s of %s %d starts with %d to %d lines, evenly', (name, attribute, value, least, most) => {
  const counts = sampled
    .filter(({ rules: [, [rule]] }) =>
      [rule.name === name, rule.attribute === attribute, rule.value === value].every(Boolean),
    )
    .map(({ panels }) => slotsOf(panels[0]).length);
  const range = Array.from({ length: most - least + 1 }, (_, i) => least + i);
  expect([Math.min(...counts), Math.max(...counts)]).toEqual([least, most]);
  const observed = range.map((n) => counts.filter((count) => count === n).length);
  const even = range.map(() => 1 / range.length);
  expect(goodnessOfFit(observed, even)).toBeGreaterThan(0.001);
});

test('sums stay within twelve lines, second columns within nine; some matrices have twelve', () => {
  let twelve = 0;
  for (const { panels, rules } of sampled) {
    const [{ name, attribute }] = rules[1];
    const counts = panels.map((panel) => slotsOf(panel).length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(12);
    if (counts.includes(12)) twelve++;
    if (name === 'Arithmetic' && attribute === 'Number') {
      expect(Math.max(counts[1], counts[4], counts[7])).toBeLessThanOrEqual(9);
    }
  }
  expect(twelve).toBeGreaterThan(0);
});

test('a progression of positions is a quarter turn, whatever its step', () => {
  const steps = new Set<number>();
  for (const { panels, rules } of sampled) {
    const [{ name, attribute, value }] = rules[1];
    if (name !== 'Progression' || attribute !== 'Position') continue;
    steps.add(value);
    const turn = 3 * Math.sign(value);
    const [a, b, c] = panels.slice(3, 6).map(slotsOf);
    const turned = (slots: number[]) =>
      slots.map((slot) => (slot + turn + 12) % 12).sort((x, y) => x - y);
    expect(b).toEqual(turned(a));
    expect(c).toEqual(turned(b));
  }
  expect([...steps].sort()).toEqual([-1, -2, 1, 2]);
});

test('the figures are those of the same problem without a mesh', () => {
  for (const { configuration, noisy } of ALL_LAYOUTS) {
    const request = { configuration, noisy, seed: 8, index: 3 };
    const [plain, mesh] = [samplePanels(request), samplePanels({ ...request, mesh: true })];
    expect(mesh.panels.map(({ components }) => ({ components: components.slice(0, -1) }))).toEqual(
      plain.panels,
    );
  }
});

describe.each(MESH_LAYOUTS.map((layout) => [layout.folder, layout] as const))('%s', (_, layout) => {
  const { configuration, noisy } = layout;
  const problems = Array.from({ length: 40 }, (_, index) =>
    sampleProblem({ configuration, noisy, mesh: true, variant: 'i-raven', seed: 2, index }),
  );

  test('problems are valid, their rules hold, one candidate is right', () => {
    for (const problem of problems) {
      validateProblem(problem);
      expect(rulesHold(layout, problem.rules, [...problem.context, answerOf(problem)])).toBe(true);
      expect(candidatesConsistentWith(problem)).toEqual([problem.target]);
      expect(parseProblem(JSON.parse(JSON.stringify(problemToJson(problem))))).toEqual(problem);
    }
  });

  test('one attribute or more of the mesh is changed', () => {
    const last = layout.components.length - 1;
    const quota = problems.map(({ candidates }) => {
      const changed = candidates.flatMap(({ changes }) =>
        changes.map(({ component, attribute }) => `${component} ${attribute}`),
      );
      return new Set(changed.filter((key) => key.startsWith(String(last)))).size;
    });
    expect(Math.min(...quota)).toBeGreaterThanOrEqual(1);
  });

  test('files are those of I-RAVEN-Mesh, and read back', async () => {
    const [problem] = problems;
    const bytes = encodeRavenNpz(problem, renderProblem(problem).images);
    const file = await NpzFile.open(memorySource(bytes, 'file'));
    expect((await file.read('meta_matrix', 1024)).shape).toEqual([12, 9]);
    expect((await file.read('meta_answer_mods', 1024)).shape).toEqual([24, 5]);
    expect((await file.read('meta_structure', 1024)).shape).toEqual([21]);
    const structure = await file.read('structure', 4096);
    expect(structure.dtype).toMatch(/^<U/);
    expect(structure.shape).toEqual([layout.components.length === 2 ? 12 : 16]);
    const mods = (await file.read('meta_answer_mods', 1024)).data as Uint8Array;
    expect(mods.reduce((sum, one) => sum + one, 0)).toBe(
      problem.candidates.reduce((sum, { changes }) => sum + changes.length, 0),
    );
    const arrays = await decodeRavenNpz(bytes);
    expect(arrays.rules?.map((rules) => rules.map(({ name }) => name))).toEqual(
      problem.rules.map((rules) => rules.map(({ name }) => name)),
    );
    const xml = formatRavenXml(problem);
    expect(xml).toContain('<Layout name="Mesh_Layout" Number="');
    expect(xml).toMatch(
      /<Entity bbox="[^"]*" real_bbox="[^"]*" mask="[^"]*" Type="6" Size="0" Color="0" Angle="0" \/>/,
    );
    expect(xml).toMatch(/<Rule name="\w+" attr="Color" \/>/);
    const back = parseRavenXml(xml, { target: problem.target, noisy });
    expect(back.context).toEqual(problem.context);
    expect(back.mesh).toBe(true);
  });
});

test('quotas are as published: with four attributes or more, each number of mesh attributes as likely', () => {
  const quotas: string[] = [];
  for (let index = 0; index < 1500; index++) {
    const problem = sampleProblem({
      configuration: 'center',
      mesh: true,
      variant: 'i-raven',
      seed: 5,
      index,
    });
    // Both Number and Position of the mesh may be changed.
    if (problem.rules[1][0].attribute === 'Number' || slotsOf(answerOf(problem)).length === 12)
      continue;
    const changed = problem.candidates.flatMap(({ changes }) =>
      changes.filter(({ component }) => component === 1).map(({ attribute }) => attribute),
    );
    quotas.push([...new Set(changed)].sort().join());
  }
  const counts = tally(quotas);
  const expected = new Map([
    ['Number', 25_000],
    ['Position', 25_000],
    ['Number,Position', 50_000],
  ]);
  expect([...counts.keys()].sort()).toEqual([...expected.keys()].sort());
  expect(homogeneity(counts, expected)).toBeGreaterThan(0.001);
});

test('words and shapes know lines', () => {
  const turning = sampled.find(
    ({ rules: [, [{ name, attribute, value }]] }) =>
      name === 'Progression' && attribute === 'Position' && value < 0,
  )!;
  const words = describeRules({ configuration: 'center', noisy: false, mesh: true, ...turning });
  expect(words.slice(4)).toEqual([
    'Mesh: Position: progression, a quarter turn clockwise in each column',
  ]);
  const panel = withLines([0, 9]);
  expect(describePanel(center, panel)).toContain(
    'Mesh: 2 × line (left edge, upper half, top edge, right half)',
  );
  const lines = panelShapes(center, panel).filter(({ kind }) => kind === 'line');
  expect(lines).toMatchObject([
    { from: [12.5, 12.5], to: [12.5, 80.5] },
    { from: [80.5, 12.5], to: [147.5, 12.5] },
  ]);
});

test('files of A-I-RAVEN, which have room for a mesh and none, are read', async () => {
  const problem = sampleProblem({
    configuration: 'left-right',
    variant: 'i-raven',
    seed: 1,
    index: 0,
  });
  const own = await readNpz(encodeRavenNpz(problem, renderProblem(problem).images));
  const matrix = new Uint8Array(12 * 9);
  matrix.set(own.get('meta_matrix')!.data as Uint8Array);
  const bytes = writeNpz([
    ...[...own].filter(([name]) => name !== 'meta_matrix' && name !== 'structure'),
    ['meta_matrix', { dtype: '|u1', shape: [12, 9], data: matrix }],
    ['structure', unicodeArray(own.get('structure')!.data as string[])],
    ['meta_answer_mods', { dtype: '|u1', shape: [16, 5], data: new Uint8Array(80) }],
  ]);
  const { rules, layouts } = await decodeRavenNpz(bytes);
  expect(layouts.map(({ configuration }) => configuration)).toEqual(['left-right']);
  expect(rules?.map((each) => each.map(({ name }) => name))).toEqual(
    problem.rules.map((each) => each.map(({ name }) => name)),
  );
});
