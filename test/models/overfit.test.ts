/** The whole chain learns: a tiny CRAB comes to predict the targets of 64 problems. */
import { describe, expect, test } from 'vitest';
import { renderMatrix64Into, sampleProblem } from '../../src/matrix/index.js';
import {
  contextOf,
  CrabModel,
  crabConfig,
  drawNoise,
  evaluateObjective,
  hostTargets,
  targetTensors,
  weightedLoss,
} from '../../src/models/index.js';
import {
  Generator,
  isTorchAvailable,
  noGrad,
  optim,
  scope,
  tensor,
} from '../../src/torch/index.js';
import type { Tensor } from '../../src/torch/index.js';

const PROBLEMS = 64;
const STEPS = 120;
const RATE = 5e-3;

function problems(): Tensor {
  const bytes = new Uint8Array(PROBLEMS * 9 * 4096);
  for (let index = 0; index < PROBLEMS; index++) {
    const problem = sampleProblem({ configuration: 'center', seed: 1, index });
    renderMatrix64Into(problem, bytes, index * 9 * 4096);
  }
  return tensor(bytes, { shape: [PROBLEMS, 9, 64, 64] })
    .to({ dtype: 'f32' })
    .div(255);
}

const network = {
  conceptSize: 6,
  encoder: [4, 8, 12, 16, 48],
  decoder: [48, 24, 16, 8, 4],
  pairHidden: [24, 24],
  pairFeatures: 6,
  relationHidden: [64],
  targetHidden: [48, 48],
};

describe.skipIf(!isTorchAvailable())('learning', () => {
  test('64 problems are overfitted: the target regulariser falls to almost nothing', () => {
    const config = crabConfig('small', 'center', { overrides: { network } });
    const { sigmaX, sigmaZ } = config.objective;
    const model = new CrabModel(config.network, { generator: new Generator('cpu', 1) });
    const optimizer = new optim.Adam(model.parameters(), { learningRate: RATE });
    const generator = new Generator('cpu', 2);
    const panels = problems();
    const targets = targetTensors(
      hostTargets([Array.from({ length: PROBLEMS }, (_, i) => [i % 9])]),
    );
    const history: { target: number; reconstruction: number }[] = [];
    for (let step = 0; step < STEPS; step++) {
      scope(() => {
        optimizer.learningRate = RATE * Math.min(1, (2 * (STEPS - step)) / STEPS);
        const drawn = drawNoise(config.network, PROBLEMS, generator);
        // Concepts without noise: what is asked is whether the networks can fit at all.
        const noise = { concepts: drawn.concepts.mul(0), rules: drawn.rules };
        const inputs = { noise, sigmaX, sigmaZ, prior: null };
        const { terms } = evaluateObjective(model, { panels, targets }, inputs);
        optimizer.zeroGrad();
        weightedLoss(terms, { rule: 20, target: 20, prior: 0 }).backward();
        optimizer.step();
        history.push({
          target: terms.targetRegularizer.item(),
          reconstruction: terms.reconstruction.item(),
        });
      });
    }
    const last = history[STEPS - 1];
    expect(history[0].target).toBeGreaterThan(10);
    expect(last.target).toBeLessThan(0.1);
    expect(last.reconstruction).toBeGreaterThan(1500);

    // The concepts did not collapse: the predictions of other problems are far off.
    noGrad(() =>
      scope(() => {
        const means = model.encode(panels);
        const context = contextOf(targets);
        const predicted = model.reason(means, context).predicted.squeeze(1); // [M, N, 9, d_z]
        const shifted = predicted.roll(9, 1); // nine problems on: the same position is the target
        const wrong = shifted.sub(means).square().sum([0, 3]).mul(context.squeeze(0).rsub(1));
        const away = wrong.sum().item() / (2 * sigmaZ * sigmaZ * PROBLEMS);
        expect(away).toBeGreaterThan(50 * last.target);
      }),
    );
  });
});
