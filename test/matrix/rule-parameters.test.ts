/** Step, sign, direction and table number of rules: worked out by hand, by another way, and in files. */
import { expect, test } from 'vitest';
import {
  ALL_LAYOUTS,
  answerOf,
  encodeRavenNpz,
  encodeSet,
  layoutOf,
  memorySource,
  NpzFile,
  problemRuleParameters,
  problemToBatch,
  problemToJson,
  parseProblem,
  renderProblem,
  ruleIndex,
  ruleTables,
  sampleProblem,
  type Panel,
} from '../../src/matrix/index.js';
import { goodnessOfFit } from './chi-square.js';

const layoutNamed = (name: 'center' | 'grid-2x2' | 'grid-3x3') => layoutOf(name).components[0];

/** All numbers of a group's possible rules, in the order of the numbers. */
function numbers(
  name: 'center' | 'grid-2x2' | 'grid-3x3',
  group: 'Number/Position' | 'Type' | 'Size',
) {
  const layout = layoutNamed(name);
  return ruleTables(layout)
    [group].rules.flatMap(({ rule }) =>
      rule.name === 'Distribute_Three'
        ? (['left', 'right'] as const).map((direction) => ruleIndex(layout, rule, direction))
        : [ruleIndex(layout, rule, null)],
    )
    .sort((a, b) => a - b);
}

test('the tables have the sizes of PrAE: 7, 9, 13 and 17 rules, each a number of its own', () => {
  const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);
  expect(numbers('center', 'Type')).toEqual(upTo(7));
  expect(numbers('center', 'Size')).toEqual(upTo(9));
  expect(numbers('center', 'Number/Position')).toEqual([0]);
  expect(numbers('grid-2x2', 'Number/Position')).toEqual(upTo(13));
  expect(numbers('grid-3x3', 'Number/Position')).toEqual(upTo(17));
});

test.each([
  ['grid-3x3', 'Progression', 'Type', -1, null, 2],
  ['grid-3x3', 'Distribute_Three', 'Type', 0, 'right', 6],
  ['grid-3x3', 'Progression', 'Size', 2, null, 3],
  ['grid-3x3', 'Arithmetic', 'Color', -1, null, 6],
  ['grid-3x3', 'Distribute_Three', 'Color', 0, 'left', 7],
  ['grid-2x2', 'Arithmetic', 'Position', 1, null, 3],
  ['grid-2x2', 'Progression', 'Number', 1, null, 7],
  ['grid-2x2', 'Distribute_Three', 'Number', 0, 'right', 12],
  ['grid-3x3', 'Progression', 'Position', -2, null, 4],
  ['grid-3x3', 'Distribute_Three', 'Position', 0, 'right', 8],
  ['grid-3x3', 'Progression', 'Number', 1, null, 9],
  ['grid-3x3', 'Constant', 'Number/Position', 0, null, 0],
] as const)(
  '%s: %s of %s %d %s is number %d',
  (config, name, attribute, value, direction, index) => {
    expect(ruleIndex(layoutNamed(config), { name, attribute, value }, direction)).toBe(index);
  },
);

test('left and right are as panels show them, and equally likely', () => {
  const counts = { left: 0, right: 0 };
  for (let index = 0; index < 1500; index++) {
    const problem = sampleProblem({ configuration: 'center', seed: 3, index });
    const { direction, name } = problemRuleParameters(problem)[0][2];
    expect(direction === null).toBe(name !== 'Distribute_Three');
    if (direction === null) continue;
    const size = (panel: Panel): number => panel.components[0].entities[0].size;
    const [row1, row2, row3] = [0, 3, 6].map((first) =>
      [...problem.context, answerOf(problem)].slice(first, first + 3).map(size),
    );
    const [x, y, z] = row1;
    expect(direction === 'left' ? [row2, row3] : [row3, row2]).toEqual([
      [y, z, x],
      [z, x, y],
    ]);
    counts[direction]++;
  }
  expect(goodnessOfFit([counts.left, counts.right], [0.5, 0.5])).toBeGreaterThan(0.001);
});

test('JSON has them for every rule, and a problem reads back from it', () => {
  for (const { configuration, noisy } of ALL_LAYOUTS) {
    const problem = sampleProblem({ configuration, noisy, seed: 2, index: 1 });
    const json = problemToJson(problem);
    expect(json.rules).toEqual(problemRuleParameters(problem));
    expect(parseProblem(JSON.parse(JSON.stringify(json)))).toEqual(problem);
  }
});

test('sets and RAVEN files have them as arrays; RAVEN files only if asked', async () => {
  const problem = sampleProblem({ configuration: 'left-right', seed: 4, index: 7 });
  const parameters = problemRuleParameters(problem);
  const { images } = renderProblem(problem);
  const open = (bytes: Uint8Array) => NpzFile.open(memorySource(bytes, 'file'));
  const set = await open(encodeSet(problemToBatch(problem)));
  const raven = await open(encodeRavenNpz(problem, images, { ruleParameters: true }));
  for (const [file, lead] of [
    [set, [1]],
    [raven, []],
  ] as const) {
    const index = await file.read('rule_index', 1024);
    expect(index.shape).toEqual([...lead, 3, 4]);
    expect([...(index.data as Int32Array)]).toEqual([
      ...parameters.flat().map((rule) => rule.index),
      ...[-1, -1, -1, -1],
    ]);
    const value = await file.read('rule_value', 1024);
    expect([...(value.data as Int32Array)].slice(0, 8)).toEqual(
      parameters.flat().map((rule) => rule.value),
    );
    const direction = await file.read('rule_direction', 1024);
    const signs = { left: -1, right: 1 };
    expect([...(direction.data as Int32Array)].slice(0, 8)).toEqual(
      parameters.flat().map((rule) => (rule.direction === null ? 0 : signs[rule.direction])),
    );
  }
  expect((await open(encodeRavenNpz(problem, images))).has('rule_index')).toBe(false);
});
