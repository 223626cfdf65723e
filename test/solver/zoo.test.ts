/** Published bundles: how weights are stored does not change what is chosen. Needs the zoo. */
import { describe, expect, test } from 'vitest';
import { layoutOf, renderPanel64, sampleProblem } from '../../src/matrix/index.js';
import {
  folderSource,
  listZoo,
  openBundle,
  Solver,
  zooFolder,
  type BundleManifest,
  type SolverCore,
} from '../../src/solver/node.js';
import { otherSolver, type OtherWeights } from './other-weights.js';

const PROBLEMS = process.env.CRAB_TEST_LONG ? 1000 : 20;
const SLICE = 20;
const AGREEMENT = 0.997;

const FORMS: Readonly<Record<string, OtherWeights>> = {
  f16: 'f16',
  'before rounding': { beforeRounding: 3 },
};

const names = await listZoo(zooFolder());

/** Bytes of context and candidates. */
function problem({ configuration, noisy }: BundleManifest, index: number) {
  const request = { configuration, noisy, variant: 'i-raven', seed: 4_004, index } as const;
  const { context, candidates, target } = sampleProblem(request);
  const layout = layoutOf(configuration, noisy);
  return {
    panels: context.map((panel) => renderPanel64(layout, panel)),
    candidates: candidates.map(({ panel }) => renderPanel64(layout, panel)),
    target,
  };
}

async function choices(
  solver: SolverCore,
  problems: readonly ReturnType<typeof problem>[],
): Promise<number[]> {
  const answers = await solver.solveAll(problems, { images: false });
  const asked = answers.map((answer, n) => ({ answer, candidates: problems[n].candidates }));
  return (await solver.chooseAll(asked)).map(({ index }) => index);
}

describe.skipIf(names.length === 0)('bundles of the zoo', () => {
  const agreed = new Map<string, number>();
  let asked = 0;

  for (const name of names) {
    test(`${name} opens, verified, and solves most problems`, async () => {
      const bundle = await openBundle(folderSource(`${zooFolder()}/${name}`));
      const { manifest } = bundle;
      expect(manifest.name).toBe(name);
      const published = await Solver.of(bundle);
      const others = new Map<string, Solver>();
      for (const [form, weights] of Object.entries(FORMS)) {
        others.set(form, await otherSolver(bundle, weights));
      }
      let right = 0;
      for (let first = 0; first < PROBLEMS; first += SLICE) {
        const problems = Array.from({ length: SLICE }, (_, i) => problem(manifest, first + i));
        const chosen = await choices(published, problems);
        right += chosen.filter((index, n) => index === problems[n].target).length;
        for (const [form, other] of others) {
          const same = (await choices(other, problems)).filter((index, n) => index === chosen[n]);
          agreed.set(form, (agreed.get(form) ?? 0) + same.length);
        }
      }
      asked += PROBLEMS;
      await Promise.all([published, ...others.values()].map((solver) => solver.dispose()));
      // Chance is one in eight; what each model is measured to reach is in its manifest.
      expect(right / PROBLEMS).toBeGreaterThan(0.5);
    }, 600_000);
  }

  for (const form of Object.keys(FORMS)) {
    test(`weights ${form} and as published choose the same`, () => {
      expect(asked).toBe(PROBLEMS * names.length);
      // Few problems get the two standard errors by which they may miss the share by chance.
      const error = Math.sqrt((AGREEMENT * (1 - AGREEMENT)) / asked);
      const least = process.env.CRAB_TEST_LONG ? AGREEMENT : AGREEMENT - 2 * error;
      expect((agreed.get(form) ?? 0) / asked).toBeGreaterThanOrEqual(least);
    });
  }
});
