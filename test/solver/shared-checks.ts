/**
 * What a solver must do, the same in Node and in a browser: run by solver.test.ts in Node and, bundled
 * for a page, in Chromium. Nothing here may import a test framework or a Node module.
 */
import { ArgumentError } from '../../src/base/index.js';
import { encodePng, layoutOf, sampleProblem } from '../../src/matrix/index.js';
import type { Answer, LoadOptions } from '../../src/solver/index.js';
import { SolverError } from '../../src/solver/index.js';
import type { SolverCore } from '../../src/solver/solver.js';
import { pixelsOf } from '../matrix/pixels.js';

/** Something that loads a solver of the bundle under test. */
export type Load = (options?: LoadOptions) => Promise<SolverCore>;

export interface Check {
  readonly name: string;
  readonly run: (load: Load) => Promise<void>;
}

function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

function equal(actual: unknown, expected: unknown, what: string): void {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  assert(a === b, `${what}: ${a} instead of ${b}`);
}

function close(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  within: number,
  what: string,
) {
  equal(actual.length, expected.length, `${what}, length`);
  for (let i = 0; i < actual.length; i++) {
    const gap = Math.abs(actual[i] - expected[i]);
    assert(gap <= within, `${what}: ${actual[i]} instead of ${expected[i]} at ${i}`);
  }
}

async function rejects(
  action: () => Promise<unknown>,
  kind: new (message: string) => Error,
  pattern: RegExp,
): Promise<void> {
  try {
    await action();
  } catch (error) {
    assert(error instanceof kind, `expected ${kind.name}, got ${String(error)}`);
    assert(pattern.test(error.message), `${error.message} does not match ${String(pattern)}`);
    return;
  }
  throw new Error(`expected an error like ${String(pattern)}`);
}

/** Panels and candidates of a generated problem. */
export function problem(index: number) {
  const request = {
    configuration: 'center',
    noisy: false,
    variant: 'raven',
    seed: 11,
    index,
  } as const;
  const { context, candidates, target } = sampleProblem(request);
  const layout = layoutOf('center');
  const draw = (panel: (typeof context)[number]): Float32Array => pixelsOf(layout, panel);
  const offered = candidates.map(({ panel }) => draw(panel));
  return { panels: [...context.map(draw), offered[target]], candidates: offered, target };
}

async function using(load: Load, use: (solver: SolverCore) => Promise<void>): Promise<void> {
  const solver = await load();
  try {
    await use(solver);
  } finally {
    await solver.dispose();
  }
}

const flat = (answer: Answer): number[] => answer.concepts.flat().flatMap((means) => [...means]);

export const CHECKS: readonly Check[] = [
  {
    name: 'any missing set is imagined, and present panels keep their concepts',
    run: (load) =>
      using(load, async (solver) => {
        const { panels } = problem(0);
        const encoded = await solver.encode(panels);
        for (const missing of [[9], [1], [5, 2], [1, 2, 3, 4, 5, 6, 7, 8]]) {
          const answer = await solver.solve(panels, { missing });
          equal(
            answer.missing,
            [...missing].sort((a, b) => a - b),
            'missing',
          );
          equal(answer.images.length, missing.length, 'images');
          assert(
            answer.images.every((image) => image.every((value) => value >= 0 && value <= 1)),
            'pixels lie in 0..1',
          );
          answer.concepts.forEach((means, i) => {
            if (missing.includes(i + 1)) return;
            means.forEach((values, m) => close(values, encoded[i][m], 1e-6, `panel ${i + 1}`));
          });
        }
      }),
  },
  {
    name: 'what stands at a missing position never matters',
    run: (load) =>
      using(load, async (solver) => {
        const { panels } = problem(1);
        const full = await solver.solve(panels, { missing: [9, 4] });
        const changed = panels.map((panel, i) => (i === 3 || i === 8 ? null : panel));
        const blank = await solver.solve(changed, { missing: [4, 9] });
        const only = await solver.solve(
          panels.filter((_, i) => i !== 3 && i !== 8),
          { missing: [9, 4] },
        );
        equal(flat(blank), flat(full), 'with nothing there');
        equal(flat(only), flat(full), 'with the present panels alone');
      }),
  },
  {
    name: 'many at once give the same as one at a time',
    run: (load) =>
      using(load, async (solver) => {
        const all = Array.from({ length: 70 }, (_, i) => problem(i % 7));
        const answers = await solver.solveAll(
          all.map(({ panels }, i) => ({ panels, missing: [1 + (i % 9)] })),
          { images: false },
        );
        for (const n of [0, 33, 69]) {
          const alone = await solver.solve(all[n].panels, { missing: [1 + (n % 9)] });
          close(flat(answers[n]), flat(alone), 1e-5, `problem ${n}`);
        }
        const choices = await solver.chooseAll(
          answers.map((answer, n) => ({ answer, candidates: all[n].candidates })),
        );
        const one = await solver.choose(answers[40], all[40].candidates);
        equal(choices[40].index, one.index, 'choice');
      }),
  },
  {
    name: 'an imposed rule is used in place of the parsed one, for its concept alone',
    run: (load) =>
      using(load, async (solver) => {
        const { panels } = problem(2);
        const free = await solver.solve(panels);
        const same = await solver.solve(panels, { rules: { 2: free.rules[1].vector } });
        close(flat(same), flat(free), 1e-6, 'the parsed rule imposed');
        const bent = await solver.solve(panels, { rules: { Size: [4, -4] } });
        equal(bent.rules[0].vector, [4, -4], 'rule used');
        equal(bent.rules[0].parsed, free.rules[0].parsed, 'rule parsed');
        equal(
          bent.rules.map((rule) => rule.imposed),
          [true, ...free.rules.slice(1).map(() => false)],
          'imposed',
        );
        const [before, after] = [free, bent].map((answer) => answer.concepts[8]);
        assert(
          before[0].some((value, k) => Math.abs(value - after[0][k]) > 1e-3),
          'concept 1 moves',
        );
        before
          .slice(1)
          .forEach((values, m) => close(after[m + 1], values, 1e-6, `concept ${m + 2}`));
      }),
  },
  {
    name: 'rules carry names and probabilities of categories',
    run: (load) =>
      using(load, async (solver) => {
        const { rules } = await solver.solve(problem(3).panels, { images: false });
        equal(rules[0].name, 'Size', 'name');
        equal(rules[1].name, null, 'no name');
        for (const { categories } of rules) {
          const sum = (categories ?? []).reduce((total, share) => total + share, 0);
          assert(Math.abs(sum - 1) < 1e-9, `probabilities add up to ${sum}`);
        }
      }),
  },
  {
    name: 'samples differ, follow from their seed, and lie around the answer',
    run: (load) =>
      using(load, async (solver) => {
        const { panels } = problem(4);
        const options = { missing: [9, 5], count: 64, seed: 3, images: false };
        const [first, again] = [
          await solver.sample(panels, options),
          await solver.sample(panels, options),
        ];
        equal(first.map(flat), again.map(flat), 'same seed');
        const other = await solver.sample(panels, { ...options, seed: 4, count: 1 });
        assert(
          flat(other[0]).some((value, i) => value !== flat(first[0])[i]),
          'another seed',
        );
        const mean = await solver.solve(panels, { missing: [9, 5], images: false });
        const gaps = first.map((sample) => sample.concepts[8][0][0] - mean.concepts[8][0][0]);
        const average = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
        const deviation = Math.sqrt(gaps.reduce((sum, gap) => sum + gap * gap, 0) / gaps.length);
        const { sigmaZ } = solver.manifest;
        assert(Math.abs(average) < sigmaZ, `mean of samples off by ${average}`);
        assert(deviation > 0.6 * sigmaZ && deviation < 3 * sigmaZ, `deviation ${deviation}`);
        const drawn = await solver.sample(panels, { ...options, count: 2, images: true });
        equal(
          drawn.map(({ images }) => images.length),
          [2, 2],
          'images',
        );
      }),
  },
  {
    name: 'a choice reports both distances, whose shares add up, and finds an exact candidate',
    run: (load) =>
      using(load, async (solver) => {
        const { panels, candidates } = problem(5);
        const answer = await solver.solve(panels);
        const choice = await solver.choose(answer, candidates);
        equal(choice.distance, 'calibrated', 'distance');
        for (const { l2, l2Shares, calibrated, calibratedShares } of choice.candidates) {
          const add = (values: readonly number[] | null): number =>
            (values ?? []).reduce((sum, value) => sum + value, 0);
          close([add(l2Shares), add(calibratedShares)], [l2, calibrated ?? NaN], 1e-6, 'shares');
        }
        const total = choice.candidates.reduce((sum, each) => sum + each.probability, 0);
        close([total], [1], 1e-9, 'probabilities');
        const whole = choice.candidates.map((c) => (c.calibrated ?? NaN) + (c.painted ?? 0));
        equal(choice.index, whole.indexOf(Math.min(...whole)), 'the smallest distance is chosen');
        const byL2 = await solver.choose(answer, candidates, { distance: 'l2' });
        const least = Math.min(...byL2.candidates.map(({ l2 }) => l2));
        equal(
          byL2.index,
          byL2.candidates.findIndex(({ l2 }) => l2 === least),
          'by L2',
        );
        const encoded = await solver.encode([candidates[2]]);
        const perfect = { ...answer, concepts: [...answer.concepts.slice(0, 8), encoded[0]] };
        const exact = await solver.choose(perfect, candidates, { distance: 'l2' });
        equal(exact.index, 2, 'exact candidate');
      }),
  },
  {
    name: 'sets of candidates for several missing panels',
    run: (load) =>
      using(load, async (solver) => {
        const { panels, candidates } = problem(6);
        const answer = await solver.solve(panels, { missing: [2, 9], images: false });
        const sets = candidates.slice(0, 3).map((candidate) => [panels[1], candidate]);
        const choice = await solver.choose(answer, sets);
        equal(choice.candidates.length, 3, 'candidates');
        await rejects(
          () => solver.choose(answer, candidates),
          ArgumentError,
          /candidate 1 has 1 panels for 2/,
        );
      }),
  },
  {
    name: 'candidates that are about as close are painted, also for several missing panels',
    run: (load) =>
      using(load, async (solver) => {
        const { panels, candidates } = problem(6);
        // One pixel more is another picture of nearly the same description.
        const other = candidates[0].map((value, i) => (i === 0 ? 1 - value : value));
        const answer = await solver.solve(panels, { missing: [2, 9], images: false });
        const sets = [candidates[0], other].map((candidate) => [panels[1], candidate]);
        const { candidates: found } = await solver.choose(answer, sets);
        const errors: number[] = [];
        for (const set of sets) {
          const drawn = await solver.decode(await solver.encode(set));
          const off = drawn.flatMap((panel, t) => [...panel].map((v, i) => (v - set[t][i]) ** 2));
          errors.push(off.reduce((sum, value) => sum + value, 0));
        }
        const temperature = solver.metrics?.for([2, 9])?.statistics.temperature ?? NaN;
        const expected = errors.map((error) => 2 * temperature * (error - Math.min(...errors)));
        const painted = found.map((each) => each.painted ?? NaN);
        close(painted, expected, 1e-3 * Math.max(...expected), 'what painting adds');
        const byL2 = await solver.choose(answer, sets, { distance: 'l2' });
        equal(byL2.candidates[0].painted, null, 'by L2');
      }),
  },
  {
    name: 'interpolation begins and ends where it should and moves one concept only',
    run: (load) =>
      using(load, async (solver) => {
        const { panels } = problem(7);
        const [from, to] = await solver.encode([panels[0], panels[4]]);
        const images = await solver.interpolate(2, panels[0], panels[4], 5);
        equal(images.length, 5, 'steps');
        const end = from.map((values, m) => (m === 1 ? to[1] : values));
        const [first, last] = await solver.decode([from, end]);
        close(images[0], first, 1e-5, 'first');
        close(images[4], last, 1e-5, 'last');
      }),
  },
  {
    name: 'PNG bytes and ImageData say the same as values',
    run: (load) =>
      using(load, async (solver) => {
        const { panels } = problem(8);
        const bytes = Uint8Array.from(panels[0], (value) => Math.round(255 * value));
        const png = encodePng({ width: 64, height: 64, channels: 1, data: bytes });
        const rgba = Uint8ClampedArray.from({ length: 4 * 4096 }, (_, i) =>
          i % 4 === 3 ? 255 : bytes[i >> 2],
        );
        const inputs = [panels[0], png, bytes, { width: 64, height: 64, data: rgba }];
        const [plain, ...others] = await solver.encode(inputs);
        for (const other of others) {
          other.forEach((values, m) => close(values, plain[m], 1e-5, 'concepts'));
        }
      }),
  },
  {
    name: 'wrong questions are told as such',
    run: (load) =>
      using(load, async (solver) => {
        const { panels, candidates } = problem(9);
        const wrong = [[], [0], [10], [1.5], [9, 9], [1, 2, 3, 4, 5, 6, 7, 8, 9], [NaN]];
        for (const missing of wrong) {
          await rejects(() => solver.solve(panels, { missing }), ArgumentError, /missing/);
        }
        await rejects(() => solver.solve(panels.slice(0, 5)), ArgumentError, /5 panels/);
        await rejects(
          () => solver.solve([null, ...panels.slice(1)]),
          ArgumentError,
          /panel 1 is not/,
        );
        const short = new Float32Array(100);
        await rejects(
          () => solver.solve([short, ...panels.slice(1)]),
          ArgumentError,
          /panel 1: 100/,
        );
        const wild = panels[0].map(() => 7);
        await rejects(() => solver.encode([wild]), ArgumentError, /value 0 is 7/);
        await rejects(() => solver.encode([panels[0].map(() => NaN)]), ArgumentError, /NaN/);
        await rejects(
          () => solver.solve(panels, { rules: { 99: [0, 0] } }),
          ArgumentError,
          /concept/,
        );
        await rejects(
          () => solver.solve(panels, { rules: { 1: [0] } }),
          ArgumentError,
          /2 numbers/,
        );
        const answer = await solver.solve(panels);
        await rejects(() => solver.choose(answer, []), ArgumentError, /no candidates/);
        await rejects(() => solver.sample(panels, { count: 0, seed: 1 }), ArgumentError, /count/);
        await rejects(
          () => solver.interpolate(1, candidates[0], candidates[1], 1),
          ArgumentError,
          /steps/,
        );
      }),
  },
  {
    name: 'work can be cancelled, and a disposed solver says so',
    run: async (load) => {
      const solver = await load();
      const { panels } = problem(10);
      const controller = new AbortController();
      const questions = Array.from({ length: 400 }, () => ({ panels }));
      const running = solver.solveAll(questions, { signal: controller.signal });
      controller.abort();
      const outcome = await running.then(
        () => 'finished',
        (error: unknown) => (error instanceof Error ? error.name : 'other'),
      );
      equal(outcome, 'AbortError', 'aborted');
      const after = await solver.solve(panels, { images: false });
      equal(after.missing, [9], 'the solver works on');
      await solver.dispose();
      await solver.dispose();
      await rejects(() => solver.solve(panels), SolverError, /disposed/);
    },
  },
];

/** What a solver of a Transformer must do: no concepts, no rules, else the same. */
export const TRANSFORMER_CHECKS: readonly Check[] = [
  {
    name: 'a Transformer imagines at any position, from the others alone',
    run: async (load) => {
      const solver = await load();
      equal(solver.manifest.system, 'transformer', 'system');
      const { panels } = problem(1);
      const one = await solver.solve(panels, { missing: [2, 7] });
      equal(one.images.length, 2, 'images');
      const black = panels.map((panel, i) => ([1, 6].includes(i) ? new Uint8Array(4096) : panel));
      const two = await solver.solve(black, { missing: [2, 7] });
      equal([...two.images[1]], [...one.images[1]], 'pixels without the missing panels');
      const three = await solver.solve(black, { missing: [2, 8] });
      const gap = three.concepts[1][0].map((value, i) => Math.abs(value - one.concepts[1][0][i]));
      assert(Math.max(...gap) > 1e-6, 'the context does not matter');
      equal(one.rules, [], 'rules');
      await solver.dispose();
    },
  },
  {
    name: 'a Transformer chooses by both distances',
    run: async (load) => {
      const solver = await load();
      const { panels, candidates } = problem(2);
      const answer = await solver.solve(panels, { images: false });
      for (const distance of ['l2', 'calibrated'] as const) {
        const choice = await solver.choose(answer, candidates, { distance });
        const found = choice.candidates.map(
          (each) => (each[distance] ?? NaN) + (each.painted ?? 0),
        );
        equal(choice.index, found.indexOf(Math.min(...found)), distance);
      }
      await solver.dispose();
    },
  },
  {
    name: 'a Transformer refuses what needs concepts or rules',
    run: async (load) => {
      const solver = await load();
      const { panels } = problem(3);
      const answer = await solver.solve(panels, { images: false });
      equal(solver.nameRules(answer), null, 'named rules');
      const imposed = () => solver.solve(panels, { rules: { 1: [0, 0] } });
      await rejects(imposed, ArgumentError, /has none, so none can be imposed/);
      await rejects(() => solver.sample(panels, { count: 2, seed: 1 }), SolverError, /one answer/);
      await rejects(() => solver.parseRules([answer.concepts]), SolverError, /parses none/);
      await rejects(() => solver.alternatives(answer, 2), SolverError, /no vocabulary/);
      await solver.dispose();
    },
  },
];
