/** The answer-set report: what candidates give away without the context. */
import { expect, test } from 'vitest';
import { BlindNetwork, type BlindProblem } from '../../src/lab/answer-sets/blind-network.js';
import { blindFeatures, majorityHit, sharedValues } from '../../src/lab/answer-sets/features.js';
import { answerSetReport } from '../../src/lab/index.js';
import { Random, sampleProblem, type Panel } from '../../src/matrix/index.js';
import { crabInProcess } from '../cli/crab-in-process.js';

const one = (type: number, size: number, color: number): Panel => ({
  components: [{ uniformity: 3, entities: [{ slot: 0, type, size, color, angle: 3 }] }],
});

test('shares of values, and the candidate with the most common ones', () => {
  const candidates = [one(1, 1, 1), one(2, 1, 1), one(1, 2, 1), one(1, 1, 2)];
  // Number, Position, Type, Size, Color.
  expect(sharedValues(candidates)).toEqual([
    [1, 1, 0.75, 0.75, 0.75],
    [1, 1, 0.25, 0.75, 0.75],
    [1, 1, 0.75, 0.25, 0.75],
    [1, 1, 0.75, 0.75, 0.25],
  ]);
  expect(majorityHit(candidates, 0)).toBe(1);
  expect(majorityHit(candidates, 1)).toBe(0);
  expect(majorityHit([one(1, 1, 1), one(2, 1, 1)], 1)).toBe(0.5);
});

test('the network learns what features tell, and nothing from noise; a seed repeats it', () => {
  const random = new Random(5);
  const problems = (tells: boolean, count: number): BlindProblem[] =>
    Array.from({ length: count }, () => {
      const target = random.below(8);
      const features = Array.from({ length: 8 }, (_, c) => {
        const noise = [random.below(100) / 100, random.below(100) / 100];
        return tells && c === target ? [noise[0], 1 + noise[1]] : noise;
      });
      return { features, target };
    });
  const accuracy = (network: BlindNetwork, tests: readonly BlindProblem[]): number =>
    tests.filter(({ features, target }) => network.choose(features) === target).length /
    tests.length;
  const lessons = problems(true, 400);
  const tests = problems(true, 200);
  const learned = BlindNetwork.train(lessons, 2);
  expect(accuracy(learned, tests)).toBeGreaterThan(0.95);
  const again = BlindNetwork.train(lessons, 2);
  expect(tests.map(({ features }) => again.choose(features))).toEqual(
    tests.map(({ features }) => learned.choose(features)),
  );
  const blind = BlindNetwork.train(problems(false, 400), 2);
  expect(accuracy(blind, problems(false, 800))).toBeLessThan(0.2);
});

test('RAVEN gives its answers away, I-RAVEN does not', async () => {
  const results = await answerSetReport({
    configurations: [{ configuration: 'center', noisy: false }],
    variants: ['raven', 'i-raven'],
    trained: 800,
    tested: 600,
  });
  const [raven, iRaven] = results;
  expect(raven.majority).toBeGreaterThan(0.9);
  expect(raven.network).toBeGreaterThan(0.9);
  expect(Math.abs(iRaven.majority - 0.125)).toBeLessThan(0.05);
  expect(Math.abs(iRaven.network - 0.125)).toBeLessThan(0.05);
});

test('features are the same whatever the context', () => {
  const problem = sampleProblem({ configuration: 'left-right', seed: 1, index: 0 });
  const features = blindFeatures(problem.candidates.map(({ panel }) => panel));
  expect(new Set(features.map((each) => each.length)).size).toBe(1);
  expect(features).toHaveLength(8);
});

test('crab report --answer-sets refuses a configuration it does not know', async () => {
  await expect(crabInProcess('report', '--answer-sets', 'middle')).rejects.toThrow(
    /unknown configuration "middle"/,
  );
});
