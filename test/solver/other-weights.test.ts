/** The other forms of weights that published bundles are compared with are what they say. */
import { expect, test } from 'vitest';
import { openBundle, memoryBundle, Solver } from '../../src/solver/node.js';
import { otherSolver, type OtherWeights } from './other-weights.js';
import { randomBundle, tinyConfig } from './random-model.js';
import { problem } from './shared-checks.js';

test('f32 gives the same, f16 and weights before rounding nearly the same', async () => {
  const { manifest, files } = randomBundle(tinyConfig(), 'int8');
  const bundle = await openBundle(await memoryBundle(manifest, files));
  const { panels } = problem(0);
  const values = async (solver: Solver): Promise<number[]> => {
    const { concepts, images } = await solver.solve(panels, { missing: [9, 3] });
    await solver.dispose();
    return [...concepts.flat(), ...images].flatMap((each) => [...each]);
  };
  const published = await values(await Solver.of(bundle));
  const largestGap = async (form: OtherWeights): Promise<number> => {
    const other = await values(await otherSolver(bundle, form));
    return Math.max(...other.map((value, i) => Math.abs(value - published[i])));
  };
  expect(await largestGap('f32')).toBeLessThan(1e-5);
  const half = await largestGap('f16');
  const before = await largestGap({ beforeRounding: 5 });
  expect(half).toBeGreaterThan(1e-6);
  expect(half).toBeLessThan(0.01);
  expect(before).toBeGreaterThan(half);
  expect(before).toBeLessThan(0.2);
});
