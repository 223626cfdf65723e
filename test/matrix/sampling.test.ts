import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ArgumentError } from '../../src/base/index.js';
import {
  answerOf,
  CONFIGURATIONS,
  candidatesConsistentWith,
  inferRules,
  layoutOf,
  panelKey,
  problemToJson,
  rulesHold,
  samplePanels,
  sampleProblem,
  solveSymbolically,
  sameRule,
  UNIFORMITIES,
  validateProblem,
  type ComponentPanel,
  type Configuration,
  type Problem,
} from '../../src/matrix/index.js';
import { KINDS, problemsOf, RUNS } from './arbitrary.js';

const GOLDEN = JSON.parse(
  readFileSync(join(import.meta.dirname, 'golden-problems.json'), 'utf8'),
) as { seed: number; count: number; sha256: Record<string, string> };

/** The JSON that the hashes are of, which had neither directions nor table numbers of rules. */
const goldenText = (problem: Problem): string =>
  JSON.stringify(problemToJson(problem), (key, value: unknown) =>
    key === 'direction' || key === 'index' ? undefined : value,
  );

/** How many problems of each kind are solved from their context. */
const SOLVED = process.env.CRAB_TEST_LONG ? 500 : 200;

const isAlike = ({ entities: [first, ...rest] }: ComponentPanel): boolean =>
  rest.every(
    (entity) =>
      entity.type === first.type &&
      entity.size === first.size &&
      entity.color === first.color &&
      entity.angle === first.angle,
  );

describe.each(KINDS)('%s', (name, layout, variant) => {
  const { configuration, noisy } = layout;

  test('the first problems are the same for good', () => {
    const hash = createHash('sha256');
    for (let index = 0; index < GOLDEN.count; index++) {
      const problem = sampleProblem({ configuration, noisy, variant, seed: GOLDEN.seed, index });
      hash.update(goldenText(problem));
    }
    expect(hash.digest('hex')).toBe(GOLDEN.sha256[name]);
  });

  test('rules hold, all is in range, one candidate is right, no two are equal', () => {
    fc.assert(
      fc.property(problemsOf(layout, variant), (problem) => {
        validateProblem(problem);
        expect(rulesHold(layout, problem.rules, [...problem.context, answerOf(problem)])).toBe(
          true,
        );
        expect(candidatesConsistentWith(problem)).toEqual([problem.target]);
        expect(new Set(problem.candidates.map(({ panel }) => panelKey(panel))).size).toBe(8);
      }),
      { numRuns: RUNS },
    );
  });

  test('the true rules are never ruled out by the context', () => {
    fc.assert(
      fc.property(problemsOf(layout, variant), (problem) => {
        const inferred = inferRules(layout, problem.context);
        problem.rules.forEach((rules, component) => {
          rules.forEach((rule, group) => {
            const open = inferred[component][group];
            expect(open.some((other) => sameRule(other, rule))).toBe(true);
          });
        });
      }),
      { numRuns: RUNS },
    );
  });

  test('the context alone leads to the answer', () => {
    let unique = 0;
    for (let index = 0; index < SOLVED; index++) {
      const problem = sampleProblem({ configuration, noisy, variant, seed: 21, index });
      const candidates = solveSymbolically(problem);
      expect(candidates).toContain(problem.target);
      if (candidates.length === 1) unique++;
    }
    // In about one of a hundred problems two rules agree with all eight panels.
    expect(unique).toBeGreaterThan(0.96 * SOLVED);
  });

  test('a uniform component is uniform in the context and the answer', () => {
    fc.assert(
      fc.property(problemsOf(layout, variant), (problem) => {
        for (const panel of [...problem.context, answerOf(problem)]) {
          for (const component of panel.components) {
            if (UNIFORMITIES[component.uniformity]) expect(isAlike(component)).toBe(true);
          }
        }
      }),
      { numRuns: RUNS },
    );
  });
});

test.each(KINDS.filter(([, , variant]) => variant === 'raven'))(
  '%s: shares context, answer and its place with the other variants',
  (_, { configuration, noisy }) => {
    let different = 0;
    for (let index = 0; index < 50; index++) {
      const request = { configuration, noisy, seed: 77, index };
      const raven = sampleProblem({ ...request, variant: 'raven' });
      for (const variant of ['i-raven', 'raven-fair', 'raven-unique'] as const) {
        const other = sampleProblem({ ...request, variant });
        expect(other.context).toEqual(raven.context);
        expect(other.rules).toEqual(raven.rules);
        expect(other.target).toBe(raven.target);
        expect(answerOf(other)).toEqual(answerOf(raven));
        if (variant === 'raven-unique') continue;
        if (JSON.stringify(other.candidates) !== JSON.stringify(raven.candidates)) different++;
      }
      const { panels, rules } = samplePanels(request);
      expect(panels).toEqual([...raven.context, answerOf(raven)]);
      expect(rules).toEqual(raven.rules);
    }
    expect(different).toBe(100);
  },
);

const bisected = (problem: Problem): string =>
  problem.candidates
    .map(({ changes }) => changes.length)
    .sort()
    .join('');

test('attribute bisection shares every value among half of the candidates', () => {
  for (const [name, layout, variant] of KINDS) {
    if (variant !== 'i-raven') continue;
    const patterns = new Set<string>();
    for (let index = 0; index < 200; index++) {
      const { configuration, noisy } = layout;
      const problem = sampleProblem({ configuration, noisy, variant, seed: 4, index });
      patterns.add(bisected(problem));
    }
    // Three attributes, two, Position and Number, or one: see the specification of the variants.
    const known = ['01112223', '01111222', '01111111'];
    expect(
      [...patterns].filter((pattern) => !known.includes(pattern)),
      name,
    ).toEqual([]);
    expect(patterns, name).toContain('01112223');
  }
});

test('RAVEN changes one attribute in each wrong candidate', () => {
  for (const [name, { configuration, noisy }, variant] of KINDS) {
    if (variant !== 'raven' && variant !== 'raven-unique') continue;
    for (let index = 0; index < 50; index++) {
      const problem = sampleProblem({ configuration, noisy, variant, seed: 4, index });
      expect(bisected(problem), name).toBe('01111111');
    }
  }
});

test('color arithmetic changes the color in one of the first two rows', () => {
  let seen = 0;
  for (let index = 0; index < 4000; index++) {
    const { panels, rules } = samplePanels({ configuration: 'center', seed: 8, index });
    if (rules[0][3].name !== 'Arithmetic') continue;
    const second = [1, 4].map((panel) => panels[panel].components[0].entities[0].color);
    expect(second).not.toEqual([0, 0]);
    if (second[0] === 0) seen++;
  }
  expect(seen).toBeGreaterThan(50);
});

test('wrong requests are refused in one sentence', () => {
  const request = { configuration: 'center', seed: 1, index: 0 } as const;
  const cases: [object, RegExp][] = [
    [{ configuration: 'middle' }, /unknown configuration "middle"/],
    [{ noisy: true }, /center has no noisy form/],
    [{ variant: 'x-raven' }, /unknown variant "x-raven": expected one of raven, i-raven/],
    [{ seed: 1.5 }, /seed must be an integer/],
    [{ index: -1 }, /index must be an integer of at least 0/],
  ];
  for (const [wrong, message] of cases) {
    const attempt = (): Problem => sampleProblem({ ...request, ...wrong });
    expect(attempt).toThrow(ArgumentError);
    expect(attempt).toThrow(message);
  }
});

test('constraints of another layout are refused', () => {
  const configuration: Configuration = 'grid-2x2';
  const constraints = { layout: layoutOf('grid-3x3'), components: [] };
  expect(() => sampleProblem({ configuration, seed: 1, index: 0, constraints })).toThrow(
    /constraints are for distribute_nine_uniform/,
  );
});

test('configurations of one seed do not share an answer key', () => {
  const key = (configuration: Configuration): string =>
    Array.from(
      { length: 20 },
      (_, index) => sampleProblem({ configuration, seed: 1, index }).target,
    ).join();
  const keys = CONFIGURATIONS.map(key);
  expect(new Set(keys).size).toBe(CONFIGURATIONS.length);
});
