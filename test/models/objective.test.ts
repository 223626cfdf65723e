/** The terms of the objective against values computed independently. */
import { describe, expect, test } from 'vitest';
import {
  drawNoise,
  evaluateObjective,
  explain,
  fitMixtures,
  logRulePrior,
  lossWeightsAt,
  mixturesOf,
  pointsOf,
  RulePrior,
  weightedLoss,
  type ObjectiveInputs,
} from '../../src/models/index.js';
import {
  equalDeviationKl,
  fixedLogLikelihood,
  gaussianKl,
  minibatchWeightedEntropy,
} from '../../src/models/crab/distributions.js';
import { Random } from '../../src/matrix/index.js';
import { Generator, grad, isTorchAvailable, randn, scope, tensor } from '../../src/torch/index.js';
import type { Tensor } from '../../src/torch/index.js';
import { ReferenceCrab } from '../../bench/model/reference.js';
import {
  density,
  integratedKl,
  largestGap,
  noisePanels,
  randomTargets,
  targetsAt,
  tinyConfig,
  tinyModel,
} from './tiny.js';

const close = (actual: number, expected: number, tolerance = 1e-5): void => {
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(
    tolerance * Math.max(1, Math.abs(expected)),
  );
};

describe.skipIf(!isTorchAvailable())('divergences and densities', () => {
  test('closed-form KL equals numerical integration', () => {
    const random = new Random(1);
    for (let i = 0; i < 30; i++) {
      const q: [number, number] = [random.uniform() - 0.5, 0.02 + random.uniform()];
      const p: [number, number] = [random.uniform() - 0.5, 0.05 + random.uniform()];
      const gaussian = ([mean, deviation]: [number, number]) => ({
        mean: tensor([mean], { dtype: 'f64' }),
        deviation: tensor([deviation], { dtype: 'f64' }),
      });
      close(gaussianKl(gaussian(q), gaussian(p)).item(), integratedKl(q, p), 1e-6);
      const [a, b] = [q[0], p[0]].map((mean) => tensor([mean], { dtype: 'f64' }));
      close(equalDeviationKl(a, b, 0.3).item(), integratedKl([q[0], 0.3], [p[0], 0.3]), 1e-6);
    }
  });

  test('log likelihood of pixels equals the sum of log densities', () => {
    const x = [0.1, 0.9, 0.4, 0.5];
    const mean = [0.2, 0.8, 0.45, 0.1];
    const shape = [1, 2, 2];
    const actual = fixedLogLikelihood(tensor(x, { shape }), tensor(mean, { shape }), 0.1, 2);
    expect(actual.shape).toEqual([1]);
    close(
      actual.item(),
      x.reduce((sum, value, i) => sum + Math.log(density(value, mean[i], 0.1)), 0),
    );
  });

  test('minibatch weighted sampling equals the direct double sum', () => {
    const [m, n, d, size] = [2, 7, 2, 6000];
    const generator = new Generator('cpu', 4);
    const mean = randn([m, n, d], { generator });
    const deviation = randn([m, n, d], { generator }).abs().add(0.05);
    const samples = randn([m, n, d], { generator });
    const [r, mu, sd] = [samples, mean, deviation].map((t) => t.toArray());
    const expected = Array.from({ length: m }, (_, c) => {
      let total = 0;
      for (let i = 0; i < n; i++) {
        let inner = 0;
        for (let j = 0; j < n; j++) {
          let product = 1;
          for (let k = 0; k < d; k++) {
            const at = (c * n + j) * d + k;
            product *= density(r[(c * n + i) * d + k], mu[at], sd[at]);
          }
          inner += product;
        }
        total += Math.log(inner / (size * n));
      }
      return total / n;
    });
    const actual = minibatchWeightedEntropy(samples, { mean, deviation }, size).toArray();
    actual.forEach((value, c) => close(value, expected[c], 1e-4));
  });
});

describe.skipIf(!isTorchAvailable())('rule prior', () => {
  const config = tinyConfig();
  const random = new Random(3);
  const rules = Float32Array.from(
    { length: 3 * 80 * 2 },
    (_, i) => ((i >> 1) % 4) + 0.1 * random.uniform(),
  );

  test('log p(r) equals the mixture, and with "component" its most likely Gaussian', () => {
    const prior = new RulePrior(3, 2, config.rulePrior);
    prior.refit(rules, 7);
    const samples = tensor(rules, { shape: [3, 80, 2] });
    const whole = logRulePrior(samples, prior.tensors, 'mixture').toArray();
    const single = logRulePrior(samples, prior.tensors, 'component').toArray();
    prior.mixtures.forEach((mixture, c) => {
      const points = pointsOf(rules.subarray(c * 160, (c + 1) * 160), 2);
      const { logDensity, responsibilities } = explain(mixture, points);
      logDensity.forEach((expected, i) => {
        close(whole[c * 80 + i], expected, 2e-3);
        const row = [...responsibilities.subarray(i * 4, i * 4 + 4)];
        const best = row.indexOf(Math.max(...row));
        // log w N = log p + log responsibility
        const component = expected + Math.log(row[best]) - Math.log(mixture.weights[best]);
        close(single[c * 80 + i], component, 2e-3);
      });
    });
  });

  test('a refit depends on rules and seed alone and survives JSON', () => {
    const [a, b] = [1, 2].map(() => fitMixtures(rules, 3, 2, config.rulePrior, 5));
    expect(a).toEqual(b);
    const prior = new RulePrior(3, 2, config.rulePrior);
    expect(prior.isFitted).toBe(false);
    prior.load(a);
    const again = new RulePrior(3, 2, config.rulePrior);
    again.load(mixturesOf(JSON.parse(JSON.stringify(prior)) as ReturnType<RulePrior['toJSON']>));
    expect(again.mixtures).toEqual(prior.mixtures);
    expect(again.isFitted).toBe(true);
    expect(largestGap(again.tensors.whitening, prior.tensors.whitening)).toBe(0);
  });

  test('categories have probabilities', () => {
    const prior = new RulePrior(3, 2, config.rulePrior);
    prior.refit(rules, 7);
    const { probabilities, logDensity } = prior.categories(1, [0.05, 0.05, 3.05, 3.05]);
    expect(logDensity).toHaveLength(2);
    probabilities.forEach((row) =>
      close(
        row.reduce((a, b) => a + b, 0),
        1,
        1e-9,
      ),
    );
    const tops = probabilities.map((row) => row.indexOf(Math.max(...row)));
    expect(tops[0]).not.toBe(tops[1]);
  });

  test('damaged or foreign mixtures are refused', () => {
    const prior = new RulePrior(3, 2, config.rulePrior);
    expect(() => prior.load(fitMixtures(rules, 2, 2, config.rulePrior, 5))).toThrow(
      /3 mixtures of 4/,
    );
    expect(() => mixturesOf([{ weights: [1], means: [[0, NaN]], covariances: [] }])).toThrow(
      /damaged/,
    );
  });
});

describe.skipIf(!isTorchAvailable())('the whole objective', () => {
  const config = tinyConfig();
  const inputs = (problems: number, seed = 6): ObjectiveInputs => ({
    noise: drawNoise(config.network, problems, new Generator('cpu', seed)),
    sigmaX: config.objective.sigmaX,
    sigmaZ: config.objective.sigmaZ,
    prior: null,
  });

  test.each([
    ['one target each', [[8], [0], [4], [5]]],
    ['different numbers of targets', [[8], [0, 1], [4, 7, 2], [5]]],
  ])(
    "equals the authors' structure with the same weights, values and gradients: %s",
    (_, positions) => {
      scope(() => {
        // In double precision: a ReLU that flips by rounding would change a gradient visibly.
        const model = tinyModel(3).to({ dtype: 'f64' });
        const reference = new ReferenceCrab(model, { generator: new Generator('cpu', 9) });
        reference.to({ dtype: 'f64' }).copyWeights();
        const batch = {
          panels: noisePanels(4).to({ dtype: 'f64' }),
          targets: targetsAt(...positions),
        };
        const given = inputs(4);
        const ours = evaluateObjective(model, batch, given).terms;
        const theirs = reference.evaluate(batch, given.noise, given.sigmaX, given.sigmaZ);
        close(ours.reconstruction.item(), theirs.reconstruction.item(), 1e-10);
        close(ours.ruleRegularizer.item(), theirs.ruleRegularizer.item(), 1e-10);
        close(ours.targetRegularizer.item(), theirs.targetRegularizer.item(), 1e-10);

        const weights = { rule: 3, target: 2, prior: 0 };
        weightedLoss(ours, weights).backward();
        const near = (mine: Tensor, other: Tensor): void =>
          expect(largestGap(mine, other)).toBeLessThanOrEqual(
            1e-9 * (1 + other.abs().max().item()),
          );
        const decoder = model.decoder.parameters();
        const once = decoder.map((parameter) => gradientOf(parameter).clone());
        weightedLoss(theirs, weights).backward();
        for (const { own, batched } of reference.correspondence(gradientOf)) near(batched, own);
        // The decoder is shared, so its gradients have added up.
        decoder.forEach((parameter, i) => near(once[i].mul(2), gradientOf(parameter)));
      });
    },
  );

  test('several target sets average the regularisers of each', () => {
    scope(() => {
      const model = tinyModel(3);
      const targets = randomTargets(
        { ...config, targets: { ...config.targets, setsPerProblem: 3 } },
        4,
      );
      const given = inputs(4);
      const panels = noisePanels(4);
      const all = evaluateObjective(model, { panels, targets }, given).terms;
      const each = [0, 1, 2].map((s) => {
        const one = {
          index: targets.index.narrow(0, s, 1),
          weight: targets.weight.narrow(0, s, 1),
        };
        return evaluateObjective(model, { panels, targets: one }, given).terms;
      });
      const mean = (choose: (terms: typeof all) => Tensor): number =>
        each.reduce((sum, terms) => sum + choose(terms).item(), 0) / 3;
      close(
        all.ruleRegularizer.item(),
        mean((terms) => terms.ruleRegularizer),
      );
      close(
        all.targetRegularizer.item(),
        mean((terms) => terms.targetRegularizer),
      );
      close(all.reconstruction.item(), each[0].reconstruction.item());
    });
  });

  test('one decoded target stands for all: over their orders its average is the sum', () => {
    scope(() => {
      const model = tinyModel(3);
      model.eval(); // statistics of a batch would depend on who is decoded
      const given = inputs(2);
      const panels = noisePanels(2);
      const lossOf = (positions: number[][], decoded?: number): number =>
        evaluateObjective(
          model,
          { panels, targets: targetsAt(...positions) },
          { ...given, decoded },
        ).terms.reconstruction.item();
      const orders = [
        [4, 7, 2],
        [7, 2, 4],
        [2, 4, 7],
      ];
      const mean = orders.reduce((sum, order) => sum + lossOf([order, [5]], 1), 0) / 3;
      close(mean, lossOf([orders[0], [5]]), 1e-4);
    });
  });

  test('the rule prior term is the KL estimate, and N_D only shifts it', () => {
    scope(() => {
      const model = tinyModel(3).eval();
      const prior = new RulePrior(3, 2, config.rulePrior);
      const batch = { panels: noisePanels(12), targets: randomTargets(config, 12) };
      const base = inputs(12);
      const withPrior = (datasetSize: number) =>
        evaluateObjective(model, batch, {
          ...base,
          prior: { tensors: prior.tensors, density: 'mixture', datasetSize },
        });
      const { rules } = withPrior(1);
      prior.refit(rules.data() as Float32Array, 1);
      const [small, large] = [100, 6000].map(
        (size) => withPrior(size).terms.rulePrior?.item() ?? NaN,
      );
      close(small - large, 3 * Math.log(60), 1e-3);
      const term = withPrior(100).terms;
      const loss = weightedLoss(term, { rule: 1, target: 1, prior: 1e-5 });
      const gradients = grad([loss], model.ruleParser.parameters());
      expect(gradients.every((g) => g.isfinite().all().item() === 1)).toBe(true);
      expect(rules.requiresGrad).toBe(false);
    });
  });

  test('weights follow their schedules and may be tensors', () => {
    scope(() => {
      const { objective } = tinyConfig();
      expect(lossWeightsAt(objective, 0, 10)).toEqual({ rule: 10, target: 10, prior: 0 });
      const model = tinyModel(3);
      const batch = { panels: noisePanels(2), targets: targetsAt([1], [2]) };
      const { terms } = evaluateObjective(model, batch, inputs(2));
      const numbers = { rule: 2, target: 3, prior: 0 };
      const tensors = { rule: tensor([2]), target: tensor([3]), prior: tensor([0]) };
      close(weightedLoss(terms, tensors).item(), weightedLoss(terms, numbers).item());
    });
  });
});

function gradientOf(parameter: Tensor): Tensor {
  const gradient = parameter.grad;
  if (gradient === null) throw new Error('no gradient');
  return gradient;
}
