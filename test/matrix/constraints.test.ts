import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ArgumentError } from '../../src/base/index.js';
import {
  ALL_LAYOUTS,
  candidatesConsistentWith,
  constraintsOfRules,
  findLayout,
  layoutOf,
  parseConstraints,
  rulesHold,
  samplePanels,
  sampleProblem,
  validateProblem,
  VARIANTS,
  type ConfigurationLayout,
  type Problem,
} from '../../src/matrix/index.js';

const COUNT = 60;

function constrained(layout: ConfigurationLayout, json: unknown): Problem[] {
  const constraints = parseConstraints(json, layout);
  const { configuration, noisy } = layout;
  return VARIANTS.flatMap((variant) =>
    Array.from({ length: COUNT }, (_, index) => {
      const request = { configuration, noisy, variant, seed: 5, index, constraints };
      const problem = sampleProblem(request);
      validateProblem(problem);
      expect(candidatesConsistentWith(problem)).toEqual([problem.target]);
      return problem;
    }),
  );
}

const ruleNames = (problems: Problem[], component: number, group: number): Set<string> =>
  new Set(
    problems.map(({ rules }) => {
      const { name, attribute, value } = rules[component][group];
      return `${name} ${attribute} ${value}`;
    }),
  );

test('rules are fixed by name, by value, or to a choice', () => {
  const problems = constrained(layoutOf('out-in-grid', true), {
    rules: {
      Out: { type: 'Progression', size: 'constant' },
      In: {
        position: 'arithmetic -',
        size: ['progression', { name: 'distribute three' }],
        color: { name: 'progression', value: -2 },
      },
    },
  });
  expect(ruleNames(problems, 0, 1)).toEqual(
    new Set([-2, -1, 1, 2].map((value) => `Progression Type ${value}`)),
  );
  expect(ruleNames(problems, 0, 2)).toEqual(new Set(['Constant Size 0']));
  expect(ruleNames(problems, 1, 0)).toEqual(new Set(['Arithmetic Position -1']));
  expect(ruleNames(problems, 1, 2)).toEqual(
    new Set(['Progression Size -1', 'Progression Size 1', 'Distribute_Three Size 0']),
  );
  expect(ruleNames(problems, 1, 3)).toEqual(new Set(['Progression Color -2']));
});

test('a constant number means a constant number and position', () => {
  const problems = constrained(layoutOf('grid-3x3'), { rules: [{ number: 'constant' }] });
  expect(ruleNames(problems, 0, 0)).toEqual(new Set(['Constant Number/Position 0']));
});

test('start values are those of the first panels of the rows', () => {
  const problems = constrained(layoutOf('grid-2x2', true), {
    start: [
      [
        { type: 'circle', size: 0.5, color: 'white', angle: 45, position: [4, 1] },
        null,
        { type: 2, size: 1, color: 112, number: 2 },
      ],
    ],
    uniform: [false],
  });
  const seconds = new Set<number>();
  for (const { context } of problems) {
    const [first, , , fourth, , , seventh] = context.map(({ components }) => components[0]);
    expect(first.uniformity).not.toBe(3);
    expect(first.entities.map(({ slot }) => slot)).toEqual([3, 0]);
    for (const { type, size, color, angle } of first.entities) {
      expect([type, size, color, angle]).toEqual([5, 1, 0, 4]);
    }
    expect(seventh.entities).toHaveLength(2);
    for (const { type, size, color } of seventh.entities)
      expect([type, size, color]).toEqual([2, 1, 5]);
    seconds.add(fourth.entities[0].type);
  }
  expect(seconds.size).toBeGreaterThan(2);
});

interface StartRow {
  number?: number;
  position?: number[];
}

test.each<[string, (StartRow | null)[]]>([
  ['distribute three', [{ number: 2, position: [1, 2] }, { position: [2, 3] }, null]],
  ['progression', [{ number: 1 }, { number: 2 }, null]],
  ['arithmetic', [{ position: [1, 4] }, { position: [2, 3] }, { number: 2 }]],
])('positions start as fixed under %s', (rule, rows) => {
  const problems = constrained(layoutOf('grid-2x2'), {
    rules: [{ position: rule }],
    start: [rows],
  });
  for (const { context } of problems) {
    rows.forEach((row, index) => {
      const { entities } = context[3 * index].components[0];
      if (row?.position) expect(entities.map(({ slot }) => slot + 1)).toEqual(row.position);
      if (row?.number) expect(entities).toHaveLength(row.number);
    });
  }
});

test('color arithmetic with a second row that starts black changes the first row', () => {
  const problems = constrained(layoutOf('center'), {
    rules: [{ color: 'arithmetic +' }],
    start: [[null, { color: 'black' }]],
  });
  for (const { context } of problems) {
    expect(context[1].components[0].entities[0].color).not.toBe(0);
    expect(context[3].components[0].entities[0].color).toBe(9);
  }
});

test('without fixed rules, only rules that the start allows are drawn', () => {
  const problems = constrained(layoutOf('center'), { start: [{ size: 0.9 }] });
  const names = ruleNames(problems, 0, 2);
  expect(names).toContain('Progression Size -1');
  expect(names).not.toContain('Progression Size 1');
  expect(names).not.toContain('Arithmetic Size 1');
});

test('distractors change only the attributes that are allowed', () => {
  const problems = constrained(layoutOf('left-right'), {
    distractors: { Right: ['size', 'color'] },
  });
  const changed = new Set(
    problems.flatMap(({ candidates }) =>
      candidates.flatMap(({ changes }) =>
        changes.map(({ component, attribute }) => `${component} ${attribute}`),
      ),
    ),
  );
  expect(changed).toEqual(new Set(['1 Size', '1 Color']));
});

describe('what is unknown or impossible is refused in one sentence', () => {
  const REFUSED: Record<string, [given: unknown, message: string][]> = {
    center: [
      [null, 'constraints: expected an object, found null'],
      [
        { rule: [] },
        'unknown key "rule": expected rules, start, uniform, distractors, regime, split',
      ],
      [{ rules: [{}, {}] }, 'rules: expected 0 to 1 items, found 2'],
      [
        { rules: [{ size: 'growth' }] },
        'rules[0].size: unknown rule "growth": expected constant, progression, arithmetic, distribute three',
      ],
      [
        { rules: [{ size: 3 }] },
        'rules[0].size: expected a rule such as "progression +1", found 3',
      ],
      [
        { rules: [{ number: 'progression' }] },
        'rules[0].number: progression is impossible for Grid: only 1 slot',
      ],
      [{ rules: [{ type: 'arithmetic' }] }, 'rules[0].type: there is no arithmetic of Type'],
      [{ rules: [{ size: 'arithmetic 2' }] }, 'rules[0].size: arithmetic takes +1, -1, not 2'],
      [{ rules: [{ size: 'constant 1' }] }, 'rules[0].size: constant takes no value'],
      [
        { start: [{ type: 'star' }] },
        'start[0].type: unknown value "star": expected triangle, square, pentagon, hexagon, circle',
      ],
      [
        { rules: [{ size: 'progression +1' }], start: [{ size: 0.9 }] },
        'start[0]: Size of Grid: progression +1 starts at 0.7 or less',
      ],
      [
        { rules: [{ type: 'distribute three' }], start: [[{ type: 1 }, { type: 1 }]] },
        'start[0]: Type of Grid: distribute three starts each row with another value',
      ],
      [
        { rules: [{ color: 'arithmetic +' }], start: [[{ color: 'black' }, { color: 'black' }]] },
        'start[0]: Color of Grid: arithmetic + cannot start two rows with this colour',
      ],
      [
        { distractors: [['number']] },
        'distractors[0][0]: Number cannot change in Grid: only 1 slot',
      ],
      [{ distractors: [] }, 'distractors: at least one attribute must be allowed to change'],
    ],
    'left-right': [[{ rules: { Up: {} } }, 'rules: unknown key "Up": expected Left, Right']],
    'out-in-center': [
      [
        { rules: [{ size: 'arithmetic' }] },
        'rules[0].size: arithmetic is impossible for Out: only 3 sizes',
      ],
      [
        { rules: { Out: { color: 'progression 1' } } },
        'rules.Out.color: progression +1 is impossible for Out: only 1 color',
      ],
      [
        { start: [{ size: 0.4 }] },
        'start[0].size: 0.4 is not possible for Out: expected 0.7, 0.8, 0.9',
      ],
    ],
    'grid-2x2': [
      [
        { rules: [{ position: 'progression +2' }] },
        'rules[0].position: progression +2 is impossible for Grid: only 4 slots',
      ],
      [
        { rules: [{ number: 'constant', position: 'constant' }] },
        'rules[0].position: Number and Position share one rule: give one of them',
      ],
      [{ start: [{ angle: 45 }] }, 'start[0].angle: 45 is not possible for Grid: expected 0'],
      [{ start: [{ position: [1, 1] }] }, 'start[0].position: the same slot is given twice'],
      [{ start: [{ position: [1], number: 2 }] }, 'start[0].position: 1 slots do not fit number 2'],
      [{ start: [{ number: 5 }] }, 'start[0].number: expected a whole number from 1 to 4, found 5'],
      [
        { uniform: [false] },
        'uniform[0]: Grid is always uniform here: only noisy configurations are not',
      ],
    ],
  };
  const refusals = Object.entries(REFUSED).flatMap(([name, rows]) =>
    rows.map((row) => [name, ...row] as const),
  );
  test.each(refusals)('%s %j', (name, json, message) => {
    const layout = findLayout(name);
    expect(() => parseConstraints(json, layout)).toThrow(ArgumentError);
    expect(() => parseConstraints(json, layout)).toThrow(new ArgumentError(message));
  });

  test('too few wrong candidates, after a bounded number of tries', () => {
    const layout = layoutOf('center');
    const constraints = parseConstraints({ distractors: [['type']] }, layout);
    for (const variant of VARIANTS) {
      expect(() =>
        sampleProblem({ configuration: 'center', variant, seed: 1, index: 0, constraints }),
      ).toThrow(
        'distractors: the attributes that may be changed give only 4 of the 7 different wrong candidates needed',
      );
    }
  });

  test('any JSON value is read or refused', () => {
    const keys = ['rules', 'start', 'uniform', 'distractors', 'type', 'size', 'position', 'In'];
    const word = fc.constantFrom('progression +1', 'circle', 'size', 0, 1, 0.5, null, true, -2);
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        word,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(
        json,
        fc.constantFrom('center', 'out-in-grid', 'grid-3x3-noisy'),
        (value, name) => {
          try {
            parseConstraints(value, findLayout(name));
          } catch (error) {
            expect(error).toBeInstanceOf(ArgumentError);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

test.each(ALL_LAYOUTS.map((layout) => [layout.folder, layout] as const))(
  '%s: any number of matrices with the rules of a problem',
  (_, layout) => {
    const { configuration, noisy } = layout;
    for (let index = 0; index < 20; index++) {
      const { rules } = samplePanels({ configuration, noisy, seed: 40, index });
      const constraints = parseConstraints(constraintsOfRules(rules), layout);
      const seen = new Set<string>();
      for (let again = 0; again < 4; again++) {
        const made = samplePanels({ configuration, noisy, seed: 41, index: again, constraints });
        expect(made.rules).toEqual(rules);
        expect(rulesHold(layout, rules, made.panels)).toBe(true);
        seen.add(JSON.stringify(made.panels));
      }
      expect(seen.size).toBeGreaterThan(1);
    }
  },
);
