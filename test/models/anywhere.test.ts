/** The systems that answer for any panel: their sizes, what they may look at, and how they learn. */
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  StepRandom,
  systemNamed,
  type SystemConfig,
  type SystemModel,
} from '../../src/models/index.js';
import { CONFIGURATIONS, type Configuration } from '../../src/matrix/index.js';
import {
  eye,
  Generator,
  isTorchAvailable,
  nn,
  noGrad,
  ones,
  rand,
  randn,
} from '../../src/torch/index.js';
import { scope, tensor, type Tensor } from '../../src/torch/index.js';
import { train, type NewRunOptions } from '../../src/training/index.js';
import { Attention } from '../../src/models/parts/attention.js';
import type { ForetellingModel } from '../../src/models/parts/concept-model.js';
import { inverseOf, regress, squaredExponential } from '../../src/models/parts/gaussian-process.js';
import { totalCorrelation } from '../../src/models/parts/total-correlation.js';
import { scratchFolder } from '../scratch-folder.js';
import { contentOf } from '../training/run-files.js';
import { largestGap, noisePanels } from './tiny.js';

interface Case {
  readonly name: string;
  /** Millions of parameters in the specification, which rounds, by configuration. */
  readonly millions: Partial<Record<Configuration, number>>;
  /** Concepts of a panel and their size in a tiny model. */
  readonly concepts: readonly [number, number];
  /** A network small enough for tests. */
  readonly network: object;
  readonly terms: readonly string[];
}

const TINY_CODER = { encoder: [4, 4, 8, 8, 8], decoder: [8, 8, 4, 4, 4] };

const CASES: readonly Case[] = [
  {
    name: 'transformer',
    millions: { center: 6.4, 'grid-3x3': 6.4 },
    concepts: [1, 16],
    network: { coder: TINY_CODER, width: 16, blocks: 2, heads: 2, hidden: 32 },
    terms: ['reconstruction', 'targetRegularizer'],
  },
  {
    name: 'anp',
    millions: { center: 5.3, 'grid-3x3': 5.3 },
    concepts: [1, 16],
    network: { coder: TINY_CODER, represented: 16, width: 8, heads: 2, latent: 6 },
    terms: ['reconstruction', 'autoencoding', 'functionRegularizer'],
  },
  {
    name: 'lgpp',
    millions: { center: 1.6, 'grid-3x3': 2.0 },
    concepts: [3, 1],
    network: {
      coder: TINY_CODER,
      concepts: 3,
      axisEncoder: [4, 4, 4, 8, 8],
      axisHidden: 8,
      coordinate: 2,
      coordinateHidden: [4],
      featureHidden: [8, 8],
    },
    terms: ['reconstruction', 'conceptRegularizer', 'axisRegularizer'],
  },
  {
    name: 'clap-np',
    millions: { center: 1.9, 'out-in-center': 2.1, 'grid-2x2': 2.4, 'grid-3x3': 2.8 },
    concepts: [3, 2],
    network: {
      coder: TINY_CODER,
      encoded: 16,
      concepts: 3,
      conceptSize: 2,
      functionSize: 4,
      embedding: [4, 4],
      aggregation: [8, 8],
      functionHidden: [8],
      valueHidden: [8],
    },
    terms: ['reconstruction', 'targetRegularizer', 'functionRegularizer', 'totalCorrelation'],
  },
];

const BATCH = 8;

const tinyConfig = (
  { name, network }: Case,
  preset: string,
  overrides: object = {},
): SystemConfig =>
  systemNamed(name).config(preset, 'center', {
    overrides: {
      network,
      data: { problems: preset === 'paper' ? 24 : null },
      ...overrides,
      optimizer: { batchSize: BATCH },
    },
  });

const tinyModel = (given: Case, random?: StepRandom): SystemModel =>
  systemNamed(given.name).create(tinyConfig(given, 'paper'), {
    generator: new Generator('cpu', 1),
    random,
  });

/** The loss of a batch of noise by the system's own learner, with its terms. */
function lossOf(
  given: Case,
  preset: string,
  use: (model: SystemModel, loss: Tensor, terms: Tensor[]) => void,
) {
  scope(() => {
    const system = systemNamed(given.name);
    const config = tinyConfig(given, preset);
    const part = { first: 0, count: BATCH };
    const random = new StepRandom(part, 'cpu');
    const model = tinyModel(given, random);
    const learner = system.learner(model, {
      config,
      seed: 4,
      device: 'cpu',
      dtype: 'f32',
      part,
      datasetSize: 100,
      stepsAhead: 0,
      random,
      gather: (own) => own,
      ranks: 1,
    });
    const { integers, floats } = learner.sizes;
    const [index, weight] = [new BigInt64Array(integers), new Float32Array(floats)];
    learner.draw?.(3, index, weight);
    const { weights } = learner.begin(3, 100);
    random.begin(tensor(BigInt64Array.of(77n)));
    expect(learner.terms).toEqual(given.terms);
    const { loss, terms } = learner.loss(
      { panels: noisePanels(BATCH), choice: null, labels: null },
      {
        integers: tensor(index),
        floats: tensor(weight),
        weights: weights.map((each) => tensor(each)),
      },
    );
    use(model, loss, [...terms]);
    learner.dispose();
    random.dispose();
    model.dispose();
  });
}

const positions = fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7, 8], { minLength: 1, maxLength: 8 });

describe.each(CASES)('the settings of $name', (given) => {
  const system = systemNamed(given.name);

  test('exist for every configuration, and unknown keys are errors', () => {
    for (const configuration of CONFIGURATIONS) {
      const [paper, ours] = ['paper', 'ours'].map((preset) => system.config(preset, configuration));
      expect(system.needs(paper)).toEqual({
        imageSize: 64,
        candidates: null,
        rules: false,
        problems: 6000,
      });
      expect(system.needs(ours).problems).toBeNull();
      expect(paper).toMatchObject({ targets: { max: 1, setsPerProblem: 1 } });
      expect(ours).toMatchObject({
        targets: { max: 3, setsPerProblem: 4, smallestSets: 3 },
        optimizer: { algorithm: 'adam', batchSize: 128 },
      });
    }
    expect(system.presets[0]).toBe('paper');
    expect(system.criterion(system.config('paper', 'center'))).toBe('selection-accuracy');
    const wrong = { overrides: { network: { depth: 3 } } };
    expect(() => system.config('paper', 'center', wrong)).toThrow(/unknown key "depth"/);
    expect(() => system.config('paper', 'center', { noisy: true })).toThrow(/no noisy form/);
  });
});

describe.skipIf(!isTorchAvailable()).each(CASES)('$name', (given) => {
  const system = systemNamed(given.name);

  test('has the size of its specification', () => {
    for (const [configuration, millions] of Object.entries(given.millions)) {
      const config = system.config('paper', configuration as Configuration);
      const model = system.create(config, { generator: new Generator('cpu', 1) });
      const share = model.parameterCount() / (millions * 1e6);
      expect(Math.abs(share - 1), configuration).toBeLessThan(0.04);
      model.dispose();
    }
  });

  test('describes, foretells, paints and chooses in the shapes of a system', () => {
    scope(() => {
      const model = tinyModel(given).eval();
      const panels = noisePanels(2);
      const [m, d] = given.concepts;
      const concepts = model.conceptsOf?.(panels);
      if (concepts === undefined) throw new Error('no concepts');
      expect(concepts.shape).toEqual([2, 9, m, d]);
      expect(model.paint?.(concepts).shape).toEqual([2, 9, 64, 64]);
      const candidates = rand([2, 5, 2, 64, 64], { generator: new Generator('cpu', 4) });
      const missing = [
        [3, 8],
        [0, 1],
      ];
      expect(model.score(panels, missing, candidates).shape).toEqual([2, 5]);
      expect(model.impute?.(panels, missing).shape).toEqual([2, 9, 64, 64]);
      expect(system.can).toContain('impute');
      expect(() => model.train().score(panels, missing, candidates)).toThrow(/call eval\(\) first/);
      model.dispose();
    });
  });

  test('chooses the candidate whose concepts are nearest to the foretold ones', () => {
    scope(() => {
      const model = tinyModel(given).eval();
      const panels = noisePanels(1);
      const candidates = noisePanels(1, 9).unsqueeze(2); // [1, 9, 1, 64, 64]
      const scores = model.score(panels, [[4]], candidates);
      const foretold = foretoldBy(model, panels, [4]);
      const offered = model.conceptsOf?.(candidates.squeeze(2)) ?? panels;
      const gaps = offered
        .sub(foretold.narrow(1, 4, 1))
        .square()
        .sum([2, 3]);
      expect(largestGap(scores, gaps.neg())).toBeLessThan(1e-4);
      model.dispose();
    });
  });

  test('the content of missing panels does not matter, not even if it is no number', () => {
    const model = tinyModel(given).eval();
    fc.assert(
      fc.property(positions, positions, fc.constantFrom(0, 7, NaN), (first, second, junk) =>
        scope(() => {
          const panels = noisePanels(2);
          const damaged = panels.clone();
          for (const position of first) damaged.select(0, 0).select(0, position).fill_(junk);
          for (const position of second) damaged.select(0, 1).select(0, position).fill_(junk);
          const [a, b] = [panels, damaged].map((each) => model.impute?.(each, [first, second]));
          if (a === undefined || b === undefined) throw new Error('nothing painted');
          expect(a.equal(b)).toBe(true);
          for (let position = 0; position < 9; position++) {
            const [shown, shownBefore] = [a, panels].map((x) => x.select(0, 0).select(0, position));
            expect(shown.equal(shownBefore)).toBe(!first.includes(position));
          }
        }),
      ),
      { seed: 3, numRuns: 8 },
    );
    model.dispose();
  });

  test('what it foretells depends on the context, not on the concepts of missing panels', () => {
    scope(() => {
      const model = tinyModel(given).eval();
      const panels = noisePanels(1);
      const expected = foretoldBy(model, panels, [2, 5]);
      const other = panels.clone();
      other.select(0, 0).select(0, 7).fill_(0.5);
      expect(largestGap(foretoldBy(model, other, [2, 5]), expected)).toBeGreaterThan(0);
      for (const junk of [3, NaN]) {
        const damaged = panels.clone();
        for (const position of [2, 5]) damaged.select(0, 0).select(0, position).fill_(junk);
        const again = foretoldBy(model, damaged, [2, 5]);
        const gap = again.sub(expected).abs().sum([2, 3]); // [1, 9]
        for (const position of [2, 5]) expect(gap.select(1, position).item()).toBe(0);
      }
      model.dispose();
    });
  });

  test('used twice it gives the same, and no noise', () => {
    scope(() => {
      const model = tinyModel(given, new StepRandom({ first: 0, count: 1 }, 'cpu')).eval();
      const [a, b] = [0, 1].map(() => model.impute?.(noisePanels(1), [[0, 4]]));
      if (a === undefined || b === undefined) throw new Error('nothing painted');
      expect(a.equal(b)).toBe(true);
      model.dispose();
    });
  });

  test.each(['paper', 'ours'])('gradients of the loss reach every parameter (%s)', (preset) => {
    lossOf(given, preset, (model, loss, terms) => {
      expect(Number.isFinite(loss.item())).toBe(true);
      expect(terms.every((term) => term.numel === 1)).toBe(true);
      loss.backward();
      for (const [name, parameter] of model.namedParameters()) {
        expect(parameter.grad, name).not.toBeNull();
        // The same number added to all scores of a query changes nothing.
        if (name.endsWith('keys.bias')) continue;
        expect(parameter.grad?.abs().sum().item(), name).toBeGreaterThan(0);
      }
    });
  });

  test('the loss is the weighted regularisers less the likelihoods', () => {
    lossOf(given, 'paper', (_, loss, terms) => {
      const weights = Object.values(
        (tinyConfig(given, 'paper') as unknown as { objective: { weights: object } }).objective
          .weights,
      ).map(({ points }: { points: [number, number][] }) => points[0][1]);
      const likelihoods = terms.length - weights.length;
      const sum = terms.reduce(
        (total, term, i) => total + term.item() * (i < likelihoods ? -1 : weights[i - likelihoods]),
        0,
      );
      expect(loss.item() / sum).toBeCloseTo(1, 4);
    });
  });

  test('stopped and continued, it is the same bit by bit', async () => {
    const settings = (out: string): NewRunOptions => ({
      out,
      system: given.name,
      model: tinyConfig(given, 'ours', { targets: { setsPerProblem: 2, smallestSets: 1 } }),
      budget: { kind: 'steps', steps: 12 },
      seed: 5,
      pool: 24,
      refresh: 3,
      threads: 1,
      logEvery: 3,
      validation: { every: 6, problems: 10 },
      checkpoints: { seconds: 1e6, steps: 6 },
    });
    const [whole, resumed] = ['whole', 'resumed'].map((name) => path.join(scratchFolder(), name));
    await train({ ...settings(whole), workers: 1 });
    const stop = new AbortController();
    const first = await train(
      { ...settings(resumed), workers: 1 },
      { checkpoint: () => stop.abort() },
      stop.signal,
    );
    expect(first.finished).toBe(false);
    expect((await train({ resume: resumed, workers: 1 })).finished).toBe(true);
    expect(await contentOf(resumed)).toEqual(await contentOf(whole));
  }, 300_000);
});

/** Concepts foretold at every position of one problem, [1, 9, M, d], from panels as they are. */
function foretoldBy(model: SystemModel, panels: Tensor, missing: readonly number[]): Tensor {
  const context = ones([1, 9]);
  for (const position of missing) context.select(1, position).fill_(0);
  return noGrad(() => (model as ForetellingModel).foretell(panels, context));
}

describe.skipIf(!isTorchAvailable())('attention', () => {
  test('is that of torch.nn with the same weights, and closed keys do not matter', () => {
    scope(() => {
      const generator = new Generator('cpu', 1);
      const own = new Attention(12, 3, { generator });
      const theirs = new nn.MultiheadAttention(12, 3, { generator });
      const state = own.stateDict();
      const names = ['queries', 'keys', 'values'];
      const joined = (of: string): Tensor => {
        const parts = names.map((name) => state.get(`${name}.${of}`)?.toArray() ?? []);
        return tensor(parts.flat());
      };
      noGrad(() => {
        theirs.inProjWeight.copy_(joined('weight').reshape([36, 12]));
        theirs.inProjBias?.copy_(joined('bias'));
        theirs.outProj.weight.copy_(own.out.weight);
        if (own.out.bias) theirs.outProj.bias?.copy_(own.out.bias);
      });
      const [query, key, value] = [4, 6, 6].map((length) => randn([2, length, 12], { generator }));
      const open = tensor([
        [1, 1, 0, 1, 0, 1],
        [0, 0, 0, 0, 0, 1],
      ]);
      const expected = theirs.forward(query, key, value, { keyPaddingMask: open.eq(0) });
      expect(largestGap(own.forward(query, key, value, open), expected)).toBeLessThan(1e-5);
      for (const module of [own, theirs]) module.dispose();
    });
  });
});

describe.skipIf(!isTorchAvailable())('total correlation', () => {
  const SIGMA = 0.7;
  const density = (z: number[], mean: number[]): number =>
    z.reduce((product, value, i) => {
      const scaled = (value - mean[i]) / SIGMA;
      return (product * Math.exp(-0.5 * scaled * scaled)) / (SIGMA * Math.sqrt(2 * Math.PI));
    }, 1);

  test('is that of a plain double loop over samples and panels', () => {
    scope(() => {
      const generator = new Generator('cpu', 3);
      const samples = randn([3, 4, 2], { generator });
      const means = randn([3, 7, 2], { generator });
      const [z, mu] = [samples, means].map((each) => each.toNested() as number[][][]);
      let sum = 0;
      for (let i = 0; i < 4; i++) {
        const each = mu[0].map((_, j) => mu.map((of, m) => density(z[m][i], of[j]))); // [J][M]
        const mean = (values: number[]) => values.reduce((a, b) => a + b) / values.length;
        const together = Math.log(mean(each.map((row) => row.reduce((a, b) => a * b))));
        const apart = mu.map((_, m) => Math.log(mean(each.map((row) => row[m]))));
        sum += together - apart.reduce((a, b) => a + b);
      }
      expect(totalCorrelation(samples, means, SIGMA).item()).toBeCloseTo(sum / 4, 4);
    });
  });

  test('is 0 for one concept, and large for two that are always equal', () => {
    scope(() => {
      const means = randn([1, 50, 2], { generator: new Generator('cpu', 4) }).mul(1000);
      expect(totalCorrelation(means, means, 0.1).item()).toBeCloseTo(0, 4);
      const twice = means.expand([2, 50, 2]);
      expect(totalCorrelation(twice, twice, 0.1).item()).toBeCloseTo(Math.log(50), 2);
    });
  });
});

describe.skipIf(!isTorchAvailable())('regression with a Gaussian process', () => {
  const JITTER = 1e-4;
  const kernelOf = (seed: number): Tensor =>
    squaredExponential(
      randn([2, 3, 9, 4], { generator: new Generator('cpu', seed), dtype: 'f64' }).mul(0.7),
    );

  test('is that of the known values alone, solved directly, for any that are missing', () => {
    scope(() => {
      const kernel = kernelOf(1); // [2, 3, 9, 9]
      const values = randn([2, 3, 9], { generator: new Generator('cpu', 2), dtype: 'f64' });
      for (const missing of [[8], [0, 4], [0, 1, 2, 3, 4, 5, 6, 7]]) {
        const known = [0, 1, 2, 3, 4, 5, 6, 7, 8].filter((at) => !missing.includes(at));
        const mask = ones([9], { dtype: 'f64' });
        for (const at of missing) mask.select(0, at).fill_(0);
        const junk = values.clone();
        for (const at of missing) junk.select(2, at).fill_(NaN);
        const { mean, variance } = regress(kernel, junk, mask);
        const at = tensor(known, { dtype: 'i64' });
        const among = kernel.indexSelect(2, at).indexSelect(3, at);
        const jitter = eye(known.length, undefined, { dtype: 'f64' }).mul(JITTER);
        const towards = kernel.indexSelect(3, at); // [2, 3, 9, k]
        const weights = among.add(jitter).solve(towards.transpose(2, 3)).transpose(2, 3);
        const direct = weights.mul(values.indexSelect(2, at).unsqueeze(2)).sum(3);
        const left = weights.mul(towards).sum(3).rsub(1).clamp(1e-6);
        expect(largestGap(mean, direct)).toBeLessThan(1e-7);
        expect(largestGap(variance, left)).toBeLessThan(1e-7);
      }
    });
  });

  test('in single precision it stays finite if all positions are equal', () => {
    scope(() => {
      const { mean, variance } = regress(ones([1, 9, 9]), ones([1, 9]), ones([1, 9]));
      expect(mean.isfinite().all().item()).toBe(1);
      expect(largestGap(mean, ones([1, 9]))).toBeLessThan(1e-3);
      expect(variance.isfinite().all().item()).toBe(1);
    });
  });

  test('its derivatives are those of finite differences', () => {
    scope(() => {
      const features = randn([1, 9, 2], { generator: new Generator('cpu', 5), dtype: 'f64' });
      const values = randn([1, 9], { generator: new Generator('cpu', 6), dtype: 'f64' });
      const mask = tensor([[1, 0, 1, 1, 1, 0, 1, 1, 1]], { dtype: 'f64' });
      const measured = (x: Tensor, z: Tensor): Tensor => {
        const { mean, variance } = regress(squaredExponential(x), z, mask);
        return mean.sin().add(variance.sqrt()).mul(mask.rsub(1)).sum();
      };
      const [x, z] = [features, values].map((each) => each.clone().requiresGrad_());
      measured(x, z).backward();
      const step = 1e-6;
      for (const [given, leaf] of [
        [features, x],
        [values, z],
      ]) {
        for (let at = 0; at < given.numel; at++) {
          const [up, down] = [step, -step].map((by) => {
            const moved = given.clone();
            moved.reshape([-1]).select(0, at).add_(by);
            return (
              given === features ? measured(moved, values) : measured(features, moved)
            ).item();
          });
          const slope = leaf.grad?.reshape([-1]).select(0, at).item() ?? NaN;
          expect(slope).toBeCloseTo((up - down) / (2 * step), 4);
        }
      }
    });
  });

  test('the inverse is that of libtorch', () => {
    scope(() => {
      const matrix = kernelOf(7).add(eye(9, undefined, { dtype: 'f64' }).mul(1e-3));
      const product = inverseOf(matrix).matmul(matrix);
      expect(largestGap(product, eye(9, undefined, { dtype: 'f64' }))).toBeLessThan(1e-8);
      expect(largestGap(inverseOf(matrix), matrix.inverse())).toBeLessThan(1e-6);
    });
  });
});
