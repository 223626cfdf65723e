/** Candidates that their descriptions cannot tell apart are painted, and nothing else is. */
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { encodeRavenNpz, panelsOf, renderProblem, sampleProblem } from '../../src/matrix/index.js';
import { answerDistances, generatedSource, openBundleSubject } from '../../src/lab/index.js';
import { nearest, paintTies, Solver, tiedForBest, zooFolder } from '../../src/solver/node.js';
import { crabInProcess as crab } from '../cli/crab-in-process.js';
import { scratchFolder } from '../scratch-folder.js';

/** A picture of 4096 equal values. */
const grey = (value: number): Float32Array => new Float32Array(4096).fill(value);

/** An offer of grey pictures; each is described, and so painted, by a grey of its own. */
const offer = (tied: number[], greys: readonly (readonly [given: number, painted: number])[]) => ({
  tied,
  scale: 2,
  picture: (candidate: number) => [grey(greys[candidate][0])],
  concepts: (candidate: number) => [[Float32Array.of(greys[candidate][1])]],
});

const paint = vi.fn((all: readonly (readonly Float32Array[])[]) =>
  Promise.resolve(all.map(([[value]]) => grey(value))),
);

describe('ties', () => {
  test('are candidates at least a tenth as likely as the nearest', () => {
    expect(tiedForBest([9, 5, 5.1, 9.7], 2)).toEqual([0, 1, 2]);
    expect(tiedForBest([9.7, 5, 12], 2)).toEqual([1]);
  });

  test('are broken by how much worse one is painted than another', async () => {
    const greys = [
      [1, 1],
      [0.5, 0.75],
      [0.5, 0.25],
    ] as const;
    const [added, none] = await paintTies([offer([1, 0], greys), offer([2], greys)], paint);
    expect([...added]).toEqual([
      [1, 2 * 4096 * 0.25 ** 2],
      [0, 0],
    ]);
    expect(none.size).toBe(0);
    expect(paint.mock.lastCall?.[0]).toHaveLength(2);
  });

  test('are not painted if there are none, nor if all are the same picture', async () => {
    paint.mockClear();
    const twins = [
      [1, 1],
      [1, 0.5],
      [0.5, 0.5],
    ] as const;
    const found = await paintTies([offer([0], twins), offer([0, 1], twins), offer([], [])], paint);
    expect(found.map(({ size }) => size)).toEqual([0, 0, 0]);
    expect(paint).not.toHaveBeenCalled();
    // Beside a third the same pictures count the same, however they are painted.
    const [added] = await paintTies([offer([0, 1, 2], twins)], paint);
    expect(added.get(0)).toBe(added.get(1));
  });
});

/** Of a validation seed: about as close are the answer and a candidate with figures unlike each other. */
const SEED = 31_415_926;
const TIES = [
  { model: 'grid-3x3', index: 515, like: 6 },
  { model: 'grid-2x2', index: 252, like: 0 },
  { model: 'transformer/grid-3x3', index: 314, like: 6 },
].filter(({ model }) => existsSync(path.join(zooFolder(), model, 'bundle.json')));

describe.each(TIES)('$model', ({ model, index, like }) => {
  const configuration = model === 'grid-2x2' ? 'grid-2x2' : 'grid-3x3';
  const problem = sampleProblem({ configuration, variant: 'raven', seed: SEED, index });
  const { panels, missing, candidates, answer } = panelsOf(problem);

  test('chooses the answer that by its description alone would be missed', async () => {
    const solver = await Solver.load(model);
    const decode = vi.spyOn(solver, 'decode');
    const given = await solver.solve(panels, { missing, images: false });
    decode.mockClear();
    const choice = await solver.choose(given, candidates);
    const described = choice.candidates.map(({ calibrated }) => calibrated ?? NaN);
    expect(nearest(described)).toBe(like);
    expect(choice.index).toBe(answer);
    expect(choice.confidence).toBeGreaterThan(0.99);
    expect(choice.candidates[answer].painted).toBe(0);
    expect(choice.candidates[like].painted).toBeGreaterThan(50);
    const painted = choice.candidates.filter((each) => each.painted !== null);
    expect(painted.length).toBeLessThan(4);
    expect(decode.mock.calls.map(([concepts]) => concepts.length)).toEqual([painted.length]);
    expect(await solver.choose(given, candidates)).toEqual(choice);

    decode.mockClear();
    const byL2 = await solver.choose(given, candidates, { distance: 'l2' });
    expect(byL2.index).toBe(nearest(byL2.candidates.map(({ l2 }) => l2)));
    expect(byL2.candidates.map(({ l2 }) => l2)).toEqual(choice.candidates.map(({ l2 }) => l2));
    expect(byL2.candidates.every((each) => each.painted === null)).toBe(true);
    expect(decode).not.toHaveBeenCalled();

    // The same pictures for two missing panels: what is added is added for both.
    const two = await solver.solve(panels, { missing: [8, 9], images: false });
    const eighth = panels[7] ?? candidates[0];
    const sets = [answer, like].map((i) => [eighth, candidates[i]]);
    const both = await solver.choose(two, sets);
    expect(both.index).toBe(0);
    expect(both.candidates.map((each) => each.painted)).toEqual([0, expect.any(Number)]);
    await solver.dispose();
  });

  test('is measured as it chooses', async () => {
    const subject = await openBundleSubject(model);
    const source = generatedSource(
      { configuration, noisy: false, variant: 'raven', seed: SEED },
      index + 1,
    );
    const batch = await source.read(index, 1);
    const [{ own, l2, painted }] = await answerDistances(subject, batch);
    expect(nearest(own)).toBe(answer);
    expect(painted?.get(answer)).toBe(0);
    const { solver } = subject;
    const given = await solver.solve(panels, { missing, images: false });
    const choice = await solver.choose(given, candidates);
    choice.candidates.forEach((each, i) => {
      expect(own[i] / ((each.calibrated ?? NaN) + (each.painted ?? 0))).toBeCloseTo(1, 2);
      expect(l2?.[i]).toBeCloseTo(each.l2, 3);
    });

    // If the answer is not offered, nothing ties with it: the other is nearest, and not painted.
    const offered = [...candidates.keys()].filter((i) => i !== answer).reverse();
    const [fewer] = await answerDistances(subject, batch, undefined, [offered]);
    expect(offered[nearest(fewer.own)]).toBe(like);
    expect([...(fewer.painted ?? [])].filter(([, added]) => added > 0)).toEqual([]);
    expect(fewer.l2).toEqual(offered.map((i) => l2?.[i]));
    await subject.dispose();
  });

  test('says in words that it painted', async () => {
    const file = path.join(scratchFolder(), 'RAVEN_0_test.npz');
    writeFileSync(file, encodeRavenNpz(problem, renderProblem(problem).images));
    const told = await crab('solve', file, '--model', model, '--explain');
    expect(told).toContain(`candidate ${answer + 1} (`);
    const names = [answer, like].sort((a, b) => a - b).map((i) => String(i + 1));
    expect(told).toMatch(new RegExp(`Candidates .*${names.join('.*')}.* are about as close`));
    expect(told).toMatch(/distance +L2 +painting/);
  });
});

test.skipIf(TIES.length === 0)('most problems have no ties, and nothing is painted', async () => {
  const solver = await Solver.load('grid-3x3');
  const decode = vi.spyOn(solver, 'decode');
  const problems = Array.from({ length: 8 }, (_, index) =>
    panelsOf(sampleProblem({ configuration: 'grid-3x3', variant: 'i-raven', seed: SEED, index })),
  );
  const answers = await solver.solveAll(problems, { images: false });
  decode.mockClear();
  const asked = answers.map((answer, n) => ({ answer, candidates: problems[n].candidates }));
  for (const { candidates } of await solver.chooseAll(asked)) {
    expect(candidates.every(({ painted }) => painted === null)).toBe(true);
  }
  expect(decode).not.toHaveBeenCalled();
  await solver.dispose();
});
