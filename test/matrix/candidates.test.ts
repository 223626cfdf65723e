/** The candidates of RAVEN-FAIR, and RAVEN's without twins: what each promises, and their statistics. */
import { describe, expect, test } from 'vitest';
import {
  answerOf,
  decodeRavenNpz,
  encodeRavenNpz,
  layoutOf,
  NpzFile,
  memorySource,
  renderPanel,
  renderProblem,
  ruleHolds,
  sampleProblem,
  type Panel,
  type Problem,
} from '../../src/matrix/index.js';
import { KINDS } from './arbitrary.js';
import { homogeneity, tally } from './chi-square.js';

/** How many of its rules a matrix satisfies with a candidate in the last place. */
function satisfied({ configuration, noisy, context, rules }: Problem, panel: Panel): number {
  const layout = layoutOf(configuration, noisy);
  return rules
    .flatMap((own, c) => {
      const panels = [...context, panel].map(({ components }) => components[c]);
      return own.map((rule) => ruleHolds(layout.components[c], rule, own[0], panels));
    })
    .filter(Boolean).length;
}

const NEW_KINDS = KINDS.filter(([, , variant]) => variant.startsWith('raven-'));

describe.each(NEW_KINDS)('%s', (_, layout, variant) => {
  const { configuration, noisy } = layout;
  const problems = Array.from({ length: 60 }, (_, index) =>
    sampleProblem({ configuration, noisy, variant, seed: 31, index }),
  );

  test('no wrong candidate satisfies as many rules as the answer', () => {
    for (const problem of problems) {
      const most = satisfied(problem, answerOf(problem));
      expect(most).toBe(4 * problem.rules.length);
      problem.candidates.forEach(({ panel }, index) => {
        if (index !== problem.target) expect(satisfied(problem, panel)).toBeLessThan(most);
      });
    }
  });

  test('no two candidates look the same, pixel for pixel', () => {
    for (const { candidates } of problems) {
      const pictures = candidates.map(({ panel }) =>
        Buffer.from(renderPanel(layout, panel)).toString('latin1'),
      );
      expect(new Set(pictures).size).toBe(8);
    }
  });
});

test('RAVEN has candidates that look the same in out-in-grid; raven-unique draws only those again', () => {
  const { configuration, noisy } = layoutOf('out-in-grid');
  const layout = layoutOf(configuration, noisy);
  let twins = 0;
  let same = 0;
  for (let index = 0; index < 400; index++) {
    const [raven, unique] = (['raven', 'raven-unique'] as const).map((variant) =>
      sampleProblem({ configuration, noisy, variant, seed: 5, index }),
    );
    const looks = raven.candidates.map(({ panel }) => renderPanel(layout, panel).join());
    const hasTwins = new Set(looks).size < 8;
    if (hasTwins) twins++;
    else {
      expect(unique.candidates).toEqual(raven.candidates);
      same++;
    }
  }
  expect(twins).toBeGreaterThan(0);
  expect(same).toBeGreaterThan(350);
});

test('no attribute name is changed twice on the way to a RAVEN-FAIR candidate', () => {
  let deepest = 0;
  for (const [, { configuration, noisy }, variant] of NEW_KINDS) {
    if (variant !== 'raven-fair') continue;
    for (let index = 0; index < 50; index++) {
      const problem = sampleProblem({ configuration, noisy, variant, seed: 6, index });
      for (const { changes } of problem.candidates) {
        const names = changes.map(({ attribute }) => attribute);
        expect(new Set(names).size).toBe(names.length);
        deepest = Math.max(deepest, names.length);
      }
    }
  }
  expect(deepest).toBe(5);
});

/** Math.random must not be used in tests: a small generator, good enough for a simulation. */
function dice(seed: number): (count: number) => number {
  let state = seed;
  return (count) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
}

/**
 * RAVEN-FAIR for one figure, as its description says and independent of our code: three attributes
 * with 5, 6 and 10 levels. The numbers of changes of the eight candidates, sorted.
 */
function simulatedDepths(below: (count: number) => number): string {
  const levels = [5, 6, 10];
  const fresh = (path: number[]) =>
    [0, 1, 2].filter((a) => !path.includes(a)).map((a) => ({ a, budget: levels[a] - 1 }));
  const nodes = [
    {
      value: levels.map((n) => below(n)),
      path: [] as number[],
      open: fresh([]),
      used: ['', '', ''],
    },
  ];
  while (nodes.length < 8) {
    const parents = nodes.filter(({ open }) => open.length > 0);
    const parent = parents[below(parents.length)];
    const entry = parent.open[below(parent.open.length)];
    if (--entry.budget === 0) parent.open.splice(parent.open.indexOf(entry), 1);
    const { a } = entry;
    const used = [...parent.used];
    const free = Array.from({ length: levels[a] }, (_, n) => n).filter(
      (n) => n !== parent.value[a] && !parent.used[a].includes(String(n)),
    );
    if (free.length === 0) continue;
    const drawn = free[below(free.length)];
    parent.used[a] += String(drawn);
    const value = parent.value.map((v, i) => (i === a ? drawn : v));
    if (nodes.some((node) => node.value.join() === value.join())) continue;
    const path = [...parent.path, a];
    nodes.push({ value, path, open: fresh(path), used });
  }
  return nodes
    .map(({ path }) => path.length)
    .sort()
    .join('');
}

test('RAVEN-FAIR grows its tree as described: changes of all candidates against a simulation', () => {
  const count = 2000;
  const made = tally(
    Array.from({ length: count }, (_, index) =>
      sampleProblem({ configuration: 'center', variant: 'raven-fair', seed: 9, index })
        .candidates.map(({ changes }) => changes.length)
        .sort()
        .join(''),
    ),
  );
  const below = dice(17);
  const expected = tally(Array.from({ length: count }, () => simulatedDepths(below)));
  expect(homogeneity(made, expected)).toBeGreaterThan(0.001);
  expect(made.size).toBeGreaterThan(10);
});

test('each attribute is as likely to be changed first, and each level to be taken', () => {
  const firsts: string[] = [];
  const levels: number[] = [];
  for (let index = 0; index < 2000; index++) {
    const problem = sampleProblem({
      configuration: 'center',
      variant: 'raven-fair',
      seed: 10,
      index,
    });
    const single = problem.candidates.filter(({ changes }) => changes.length === 1);
    const one = single[index % single.length];
    firsts.push(one.changes[0].attribute);
    if (one.changes[0].attribute !== 'Color') continue;
    const [own, other] = [answerOf(problem), one.panel].map(
      ({ components }) => components[0].entities[0].color,
    );
    levels.push((other - own + 10) % 10);
  }
  const even = (keys: readonly (string | number)[]) =>
    homogeneity(tally(keys), new Map([...new Set(keys)].map((key) => [String(key), 100_000])));
  expect(even(levels)).toBeGreaterThan(0.001);
  expect(tally(firsts).size).toBe(3);
  // Type has four other levels and runs out first, if at all.
  const counts = tally(firsts);
  expect(counts.get('Type')!).toBeLessThan(counts.get('Color')!);
});

test('predict is a list in RAVEN-FAIR files, and reads back', async () => {
  const shapes = await Promise.all(
    (['raven', 'raven-fair'] as const).map(async (variant) => {
      const problem = sampleProblem({ configuration: 'center', variant, seed: 1, index: 0 });
      const bytes = encodeRavenNpz(problem, renderProblem(problem).images);
      expect((await decodeRavenNpz(bytes)).predict).toBe(problem.target);
      const file = await NpzFile.open(memorySource(bytes, 'problem'));
      return (await file.read('predict', 1024)).shape;
    }),
  );
  expect(shapes).toEqual([[], [1]]);
});
