/** How sure painted panels are, and answers that differ in what people have a word for. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { layoutOf, matrixPanels, renderPanel64, sampleProblem } from '../../src/matrix/index.js';
import {
  answerProbability,
  panelCertainty,
  Solver,
  Vocabulary,
  type NamedAttribute,
  type VocabularyGroup,
} from '../../src/solver/node.js';

const CENTER = path.resolve(import.meta.dirname, '..', '..', 'zoo', 'center');

const attribute = (group: NamedAttribute['group'], ...levels: number[]): NamedAttribute => ({
  name: group,
  component: 0,
  group,
  values: levels.map((level) => [level]),
});
const groupOf = (named: NamedAttribute): VocabularyGroup => ({
  concepts: [0],
  mean: Float32Array.of(0),
  basis: Float32Array.of(1),
  entries: Float32Array.from(named.values, (_, i) => 10 * i),
  counts: Float32Array.from(named.values, () => 1),
  statistics: new Map(),
  attributes: [named],
});

test('certainty counts entries of the painted value together, and tells number from place', () => {
  const vocabulary = new Vocabulary(
    {
      // Two squares turned differently and a circle; one of four slots, another one, and two of them.
      groups: [attribute('Type', 2, 2, 5), attribute('Number/Position', 1, 2, 3)].map(groupOf),
      shared: [],
      still: [],
    },
    { concepts: 1, conceptSize: 1, ruleSize: 1 },
    1,
  );
  const foretold = [
    { probabilities: [0.5, 0.4, 0.1], best: 0, known: true },
    { probabilities: [0.6, 0.2, 0.2], best: 0, known: true },
  ];
  const told = panelCertainty(vocabulary, { foretold, concepts: [], known: true });
  expect(told.map(({ attribute: name }) => name)).toEqual(['Type', 'Number', 'Position']);
  [0.9, 0.8, 0.75].forEach((expected, i) => expect(told[i].probability).toBeCloseTo(expected, 12));
  const panel = { foretold, concepts: [], known: true };
  expect(answerProbability(vocabulary, [panel, panel])).toBeCloseTo((0.9 * 0.6) ** 2, 12);
  const unknown = foretold.map((each) => ({ ...each, known: false }));
  const guesses = panelCertainty(vocabulary, { foretold: unknown, concepts: [], known: false });
  expect(guesses.map(({ probability }) => probability)).toEqual([0, 0, 0]);
});

describe.skipIf(!existsSync(path.join(CENTER, 'bundle.json')))('the published center model', () => {
  const layout = layoutOf('center');
  const problem = sampleProblem({ configuration: 'center', seed: 12, index: 0 });
  const panels = matrixPanels(problem).map((panel) => renderPanel64(layout, panel));

  test('paints the values of one group, and answers that differ in more than an angle', async () => {
    const solver = await Solver.load(CENTER);
    const answer = await solver.solve(panels, { missing: [9] });
    const groups = solver.vocabulary?.groups ?? [];
    const size = groups.findIndex(({ attributes }) => attributes[0]?.group === 'Size') + 1;
    const own = answer.symbols?.[8][size - 1].entry ?? 0;
    const entries = Array.from(groups[size - 1].counts, (_, i) => i + 1);
    const varied = await solver.variations(answer, 9, size, entries);
    expect(varied).toHaveLength(6);
    const away = varied[own - 1].map((value, i) => Math.abs(value - answer.images[0][i]));
    expect(Math.max(...away)).toBeLessThan(1e-3);
    const ink = varied.map((panel) => panel.reduce((sum, value) => sum + 1 - value, 0));
    expect(new Set(ink.map((each) => Math.round(each))).size).toBe(6);
    await expect(solver.variations(answer, 9, size, [7])).rejects.toThrow(/has none of these/);
    await expect(solver.variations(answer, 8, size, [1])).rejects.toThrow(/has none of these/);

    const open = await solver.solve(panels, { missing: [2, 3, 4, 5, 6, 7, 8, 9] });
    const type = groups.findIndex(({ attributes }) => attributes[0]?.group === 'Type');
    const shapes = groups[type].attributes[0].values;
    const told = await solver.alternatives(open, 30, { differ: 'value' });
    const words = told.map(({ symbols }) =>
      JSON.stringify(
        symbols.map((each) => each.map((e, g) => (g === type && e ? shapes[e - 1] : e))),
      ),
    );
    expect(new Set(words).size).toBe(30);
    await solver.dispose();
  });
});
