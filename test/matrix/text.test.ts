/** Problems as text: the exact form of figures, rows and prompts, and the files of `crab text`. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import {
  choosePrompt,
  contextText,
  layoutOf,
  panelText,
  predictPrompt,
  problemTextJson,
  sampleNumericProblem,
  sampleProblem,
  textOfNumericProblem,
  textOfProblem,
  type Panel,
} from '../../src/matrix/index.js';
import { buildProgram } from '../../src/cli/program.js';
import { crabInProcess, failureOf } from '../cli/crab-in-process.js';
import { interruptAtWork } from '../cli/interrupt.js';
import { scratchFolder } from '../scratch-folder.js';
import { words } from '../cli/words.js';

const entity = (slot: number, type: number, size: number, color: number) => ({
  slot,
  type,
  size,
  color,
  angle: 3,
});

test('a figure, a grid and two components', () => {
  const one: Panel = { components: [{ uniformity: 3, entities: [entity(0, 3, 3, 6)] }] };
  expect(panelText(layoutOf('center'), one)).toBe('(5,0.4,60)');
  expect(panelText(layoutOf('center'), one, true)).toBe('(5,0.4,60,300)');
  const grid: Panel = {
    components: [{ uniformity: 3, entities: [entity(3, 5, 0, 0), entity(1, 1, 5, 9)] }],
  };
  expect(panelText(layoutOf('grid-2x2'), grid)).toBe('[-, (3,0.6,90), -, (7,0.1,0)]');
  const two: Panel = { components: [one.components[0], one.components[0]] };
  expect(panelText(layoutOf('left-right'), two)).toBe('A (5,0.4,60) / B (5,0.4,60)');
});

test('rows follow each other, and the last ends open', () => {
  const rows = [
    ['a', 'b', 'c'],
    ['d', 'e', 'f'],
    ['g', 'h'],
  ];
  expect(contextText(rows)).toBe('row 1: a, b, c; row 2: d, e, f; row 3: g, h, ');
});

test('attribute by attribute, grids with layout and number', () => {
  const problem = sampleProblem({ configuration: 'grid-3x3', noisy: true, seed: 1, index: 0 });
  const { separate, whole } = textOfProblem(problem);
  expect(Object.keys(separate)).toEqual(['layout', 'number', 'type', 'size', 'color']);
  expect(separate.layout.candidates[0]).toMatch(/^\[[01](, [01]){8}\]$/);
  const [first] = problem.candidates;
  expect(separate.number.candidates[0]).toBe(String(first.panel.components[0].entities.length));
  const types = [...new Set(first.panel.components[0].entities.map(({ type }) => type + 2))];
  expect(separate.type.candidates[0]).toBe(`[${types.sort((a, b) => a - b).join(', ')}]`);
  expect(whole.target).toBe(problem.target);
  const single = textOfProblem(sampleProblem({ configuration: 'center', seed: 1, index: 0 }), {
    rows: 1,
  });
  expect(single.whole.context).toMatch(/^\([^)]*\), \([^)]*\), $/);
});

test('both prompts', () => {
  const { whole } = textOfProblem(sampleProblem({ configuration: 'center', seed: 1, index: 0 }));
  const choose = choosePrompt(whole).user.split('\n');
  expect(choose[0]).toBe(whole.context);
  expect(choose[1]).toBe('Answer set:');
  expect(choose[9]).toBe(`Answer #7: ${whole.candidates[7]}`);
  const predict = predictPrompt(whole, [whole]).user;
  expect(predict).toContain(`Example 1: ${whole.context}${whole.candidates[whole.target]};\n`);
  expect(predict.endsWith(whole.context)).toBe(true);
});

test('numbers of I-RAVEN-X keep the scaling; confounders stand in the tuple', () => {
  const problem = sampleNumericProblem({
    width: 10,
    values: 100,
    confounders: 1,
    seed: 1,
    index: 0,
  });
  const { whole, separate } = textOfNumericProblem(problem);
  const { Type, Size, Color, confounders } = problem.candidates[0];
  expect(whole.candidates[0]).toBe(
    `(${Type},${(Size / 10).toFixed(1)},${Color * 10},${confounders[0]})`,
  );
  expect(separate.type.context.split('; ').map((row) => row.split(', ').length)).toEqual([
    10, 10, 10,
  ]);
});

test('uncertain numbers: probabilities add up, the true value is likely, neighbours go round', () => {
  const problem = sampleNumericProblem({ width: 3, values: 10, seed: 2, index: 0 });
  const { separate } = textOfNumericProblem(problem, { certainty: 0.51, seed: 2, index: 0 });
  let seen = 0;
  for (const [text, value] of problem.candidates.map(
    (panel, i) => [separate.size.candidates[i], panel.Size] as const,
  )) {
    const parts = [...text.matchAll(/(\d\.\d\d)::(\d+)/g)].map(([, p, x]) => [
      Number(p),
      Number(x),
    ]);
    expect(parts.map(([, x]) => x)).toEqual([(value + 9) % 10, value, (value + 1) % 10]);
    expect(parts.reduce((sum, [p]) => sum + p, 0)).toBeCloseTo(1, 6);
    expect(parts[1][0]).toBeGreaterThanOrEqual(0.51);
    seen++;
  }
  expect(seen).toBe(8);
  const again = textOfNumericProblem(problem, { certainty: 0.51, seed: 2, index: 0 });
  expect(again.separate).toEqual(separate);
});

test('JSON of figures: levels as strings, grids with positions', () => {
  const problem = sampleProblem({ configuration: 'out-in-grid', seed: 3, index: 0 });
  const { rpm, rules, target } = problemTextJson(problem);
  expect(rpm).toHaveLength(16);
  expect(rpm[0][0]).toEqual({
    Type: String(problem.context[0].components[0].entities[0].type),
    Size: String(problem.context[0].components[0].entities[0].size),
    Color: '0',
    Angle: '3',
  });
  expect(rpm[0][1]).toHaveProperty('positions');
  expect(Object.keys(rules[0])).toEqual(['Number/Position', 'Type', 'Size', 'Color']);
  expect(target).toBe(String(problem.target));
});

test('crab text writes prompts, or data, and refuses what does not fit', async () => {
  const folder = scratchFolder();
  const file = (name: string) => path.join(folder, name);
  const args = ['text', '--set', 'i-raven', '--count', '3', '--examples', '2'];
  await crabInProcess(...args, '--out', file('a.jsonl'));
  const lines = readFileSync(file('a.jsonl'), 'utf8').trimEnd().split('\n');
  expect(lines).toHaveLength(3);
  const { prompts, answer, candidates } = JSON.parse(lines[0]) as {
    prompts: Record<string, { user: string }>;
    answer: number;
    candidates: string[];
  };
  expect(prompts.predict.user).toContain('Example 2: ');
  expect(candidates[answer]).toMatch(/^\(/);
  await crabInProcess(...words`text --set i-raven-x --count 2 --width 4 --out ${file('b.json')}`);
  const data = JSON.parse(readFileSync(file('b.json'), 'utf8')) as Record<
    string,
    { rpm: unknown[] }
  >;
  expect(Object.keys(data)).toEqual(['0', '1']);
  expect(data['0'].rpm).toHaveLength(23);
  expect((await failureOf(...args, '--out', file('c.txt'))).message).toMatch(/name a .jsonl/);
  expect((await failureOf(...args, '--width', '4', '--out', file('d.jsonl'))).message).toMatch(
    /--width is not for --set i-raven/,
  );
  const x = ['text', '--set', 'i-raven-x', '--count', '2'];
  await crabInProcess(...x, '--rule', 'arithmetic', '--out', file('e.json'));
  expect((await failureOf(...x, '--rows', '3', '--out', file('f.json'))).message).toMatch(
    /--rows is not for --set i-raven-x/,
  );
  for (const [name, value] of Object.entries({ examples: '2', certainty: '0.5' })) {
    const asked = [...x, `--${name}`, value, '--out', file('g.json')];
    expect((await failureOf(...asked)).message).toMatch(`--${name} is of prompts: `);
  }
  // What is there stays there.
  expect((await failureOf(...args, '--out', file('a.jsonl'))).message).toMatch(/exists already/);
});

test('examples are found where an attribute is the same in every problem', async () => {
  // Outer figures are always white.
  const out = path.join(scratchFolder(), 'a.jsonl');
  await crabInProcess(
    ...words`text --set i-raven --config out-in-center --count 2 --examples 2 --out ${out}`,
  );
  expect(readFileSync(out, 'utf8')).toContain('Example 2: ');
});

test('crab text stops on Ctrl-C and leaves nothing', async () => {
  const folder = scratchFolder();
  const out = path.join(folder, 'deep', 'a.jsonl');
  const asked = words`text --set i-raven-x --count 3 --out ${out} --quiet`;
  const stopped = buildProgram(AbortSignal.abort()).parseAsync(['node', 'crab', ...asked]);
  await expect(stopped).rejects.toThrow(/abort/);
  expect(readdirSync(path.dirname(out))).toEqual([]);
});

test('crab text hears Ctrl-C while it looks for examples, long before it has something to write', async () => {
  const out = path.join(scratchFolder(), 'deep', 'a.jsonl');
  const asked = words`text --set i-raven --rows 1 --count 150 --examples 100 --quiet`;
  await expect(interruptAtWork(asked, out)).rejects.toThrow(/abort/);
  expect(readdirSync(path.dirname(out))).toEqual([]);
});
