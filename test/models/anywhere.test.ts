/** The systems that answer for any panel: their sizes, what they may look at, and how they learn. */
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  contextOf,
  StepRandom,
  systemNamed,
  type SystemConfig,
  type SystemModel,
} from '../../src/models/index.js';
import { CONFIGURATIONS, type Configuration } from '../../src/matrix/index.js';
import {
  Generator,
  isTorchAvailable,
  noGrad,
  ones,
  optim,
  rand,
  randn,
} from '../../src/torch/index.js';
import { scope, tensor, zeros, type Tensor } from '../../src/torch/index.js';
import { openRun, train, type NewRunOptions } from '../../src/training/index.js';
import type { Anp } from '../../src/models/anp/system.js';
import type { ClapNp } from '../../src/models/clap-np/system.js';
import type { Lgpp } from '../../src/models/lgpp/system.js';
import type { Gaussian } from '../../src/models/index.js';
import type { ForetellingModel } from '../../src/models/parts/concept-model.js';
import type { GenerativeConfig, Objective } from '../../src/models/parts/generative.js';
import { scratchFolder } from '../scratch-folder.js';
import { contentOf } from '../training/run-files.js';
import { damagedPanels, integratedKl, largestGap, noisePanels } from './tiny.js';

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
const F32: 'f32' | 'f64' = 'f32';

interface Changes {
  readonly objective?: object;
  readonly targets?: object;
  readonly optimizer?: object;
}

const tinyConfig = (given: Case, preset: string, changes: Changes = {}): SystemConfig =>
  systemNamed(given.name).config(preset, 'center', {
    overrides: {
      network: given.network,
      data: { problems: preset === 'paper' ? 24 : null },
      targets: changes.targets,
      objective: changes.objective,
      optimizer: { batchSize: BATCH, ...changes.optimizer },
    },
  });

const tinyModel = (given: Case, random?: StepRandom): SystemModel =>
  systemNamed(given.name).create(tinyConfig(given, 'paper'), {
    generator: new Generator('cpu', 1),
    random,
  });

interface Step {
  readonly model: SystemModel;
  /** Pixels [N, 9, 64, 64], and context [N, S, 9], 0 at targets. */
  readonly panels: Tensor;
  readonly context: Tensor;
  /** The loss of one and the same batch of noise, with its terms. */
  readonly evaluate: () => { readonly loss: Tensor; readonly terms: readonly Tensor[] };
}

/** Steps of the system's own learner, all with the same targets and random numbers. */
function withLearner(
  given: Case,
  preset: string,
  use: (step: Step) => void,
  { dtype = F32, objective }: { dtype?: 'f32' | 'f64'; objective?: object } = {},
): void {
  scope(() => {
    const part = { first: 0, count: BATCH };
    const random = new StepRandom(part, 'cpu');
    const model = tinyModel(given, random).to({ dtype });
    const learner = systemNamed(given.name).learner(model, {
      config: tinyConfig(given, preset, { objective }),
      seed: 4,
      device: 'cpu',
      dtype,
      part,
      datasetSize: 100,
      stepsAhead: 0,
      random,
      gather: (own) => own,
      ranks: 1,
    });
    const { sizes } = learner;
    const [index, weight] = [new BigInt64Array(sizes.integers), new Float32Array(sizes.floats)];
    learner.draw?.(3, index, weight);
    const { weights } = learner.begin(3, 100);
    expect(learner.terms).toEqual(given.terms);
    const values = {
      integers: tensor(index),
      floats: tensor(weight),
      weights: weights.map((each) => tensor(each)),
    };
    const panels = noisePanels(BATCH).to({ dtype });
    const key = tensor(BigInt64Array.of(77n));
    const evaluate = () => {
      random.begin(key);
      return learner.loss({ panels, choice: null, labels: null }, values);
    };
    const { targets } = tinyConfig(given, preset) as GenerativeConfig<unknown, Objective>;
    const shape = [targets.setsPerProblem, BATCH, targets.max]; // [S, N, T]
    const sets = { index: values.integers.reshape(shape), weight: values.floats.reshape(shape) };
    const context = contextOf(sets).transpose(0, 1).to({ dtype });
    use({ model, evaluate, panels, context });
    for (const each of [learner, random, model]) each.dispose();
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
          const [panels, damaged] = damagedPanels(first, second, junk);
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

  test('no derivative leads from what it foretells to the pixels of missing panels', () => {
    scope(() => {
      const model = tinyModel(given).eval() as ForetellingModel;
      for (const missing of [[8], [2, 5], [0, 1, 2, 3, 4, 6, 7, 8]]) {
        const panels = noisePanels(1).requiresGrad_();
        const context = ones([1, 9]);
        for (const position of missing) context.select(1, position).fill_(0);
        const places = tensor(missing, { dtype: 'i64' });
        const foretold = model.foretell(panels, context).indexSelect(1, places);
        model.paint(foretold).square().sum().add(foretold.square().sum()).backward();
        const steepest = panels.grad?.abs().amax([2, 3]).toArray() ?? []; // [1, 9]
        steepest.forEach((slope, position) => {
          if (missing.includes(position)) expect(slope).toBe(0);
          else expect(slope).toBeGreaterThan(0);
        });
        expect(steepest).toHaveLength(9);
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
    withLearner(given, preset, ({ model, evaluate }) => {
      const { loss, terms } = evaluate();
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
    withLearner(given, 'paper', ({ evaluate }) => {
      const { loss, terms } = evaluate();
      const { objective } = tinyConfig(given, 'paper') as GenerativeConfig<unknown, Objective>;
      const weights = Object.values(objective.weights).map(({ points }) => points[0][1]);
      const likelihoods = terms.length - weights.length;
      const factors = terms.map((_, i) => (i < likelihoods ? -1 : weights[i - likelihoods]));
      const sum = terms.reduce((total, term, i) => total + term.item() * factors[i], 0);
      expect(loss.item() / sum).toBeCloseTo(1, 4);
    });
  });

  test('steps of Adam lower the loss', () => {
    // With a large deviation the loss is mostly the constant of a Gaussian, which no step changes.
    const options = { objective: { sigmaX: 0.1 } };
    const learns = ({ model, evaluate }: Step): void => {
      const before = evaluate().loss.item();
      const optimizer = new optim.Adam(model.parameters(), { learningRate: 3e-3 });
      for (let step = 0; step < 15; step++) {
        scope(() => {
          optimizer.zeroGrad();
          evaluate().loss.backward();
          optimizer.step();
        });
      }
      const after = evaluate().loss.item();
      expect(after).toBeLessThan(before - 0.1 * Math.abs(before));
    };
    withLearner(given, 'ours', learns, options);
  });

  test('in double precision the loss is the same, in doubles', () => {
    const losses = ([F32, 'f64'] as const).map((dtype) => {
      let value = NaN;
      const keepLoss = ({ evaluate }: Step): void => {
        const { loss, terms } = evaluate();
        expect([loss, ...terms].map((each) => each.dtype)).toEqual(
          [loss, ...terms].map(() => dtype),
        );
        value = loss.item();
      };
      withLearner(given, 'ours', keepLoss, { dtype });
      return value;
    });
    expect(losses[0] / losses[1]).toBeCloseTo(1, 3);
  });

  test('stopped and continued, it is the same bit by bit', async () => {
    const settings = {
      ...runOf(given, { targets: { setsPerProblem: 2, smallestSets: 1 } }),
      budget: { kind: 'steps', steps: 12 },
      validation: { every: 6, problems: 10 },
      checkpoints: { seconds: 1e6, steps: 6 },
      logEvery: 3,
    } as const;
    const [out, resumed] = ['whole', 'resumed'].map((name) => path.join(scratchFolder(), name));
    await train({ ...settings, out, workers: 1 });
    const stop = new AbortController();
    const watching = { checkpoint: () => stop.abort() };
    const first = await train({ ...settings, out: resumed, workers: 1 }, watching, stop.signal);
    expect(first.finished).toBe(false);
    expect((await train({ resume: resumed, workers: 1 })).finished).toBe(true);
    expect(await contentOf(resumed)).toEqual(await contentOf(out));
  }, 300_000);
});

/** Sum of the divergences of Gaussians, each by numerical integration. */
function integrated(q: Gaussian, p: Gaussian): number {
  const [means, deviations] = [q.mean, q.deviation].map((each) => each.toArray());
  const [towards, widths] = [p.mean, p.deviation].map((each) =>
    each.expand(q.mean.shape).toArray(),
  );
  return means.reduce(
    (sum, mean, i) => sum + integratedKl([mean, deviations[i]], [towards[i], widths[i]]),
    0,
  );
}

/** The divergences that a term sums, from the model's own Gaussians, and over how many sets it is a mean. */
const DIVERGENCES = [
  {
    name: 'anp',
    term: 'functionRegularizer',
    ofModel: (model: Anp, panels: Tensor, context: Tensor) => {
      const all = [ones([BATCH, 1, 9], { dtype: 'f64' }), context];
      const vectors = model.coder.encode(panels);
      return all.map((open) => model.latents(vectors, open)) as [Gaussian, Gaussian];
    },
  },
  {
    name: 'clap-np',
    term: 'functionRegularizer',
    ofModel: (model: ClapNp, panels: Tensor, context: Tensor) => {
      const all = [ones([BATCH, 1, 9], { dtype: 'f64' }), context];
      const concepts = model.encode(panels);
      return all.map((open) => model.functions(concepts, open)) as [Gaussian, Gaussian];
    },
  },
  {
    name: 'lgpp',
    term: 'axisRegularizer',
    ofModel: (model: Lgpp, panels: Tensor, context: Tensor): [Gaussian, Gaussian] => {
      const unit = { mean: zeros([1], { dtype: 'f64' }), deviation: ones([1], { dtype: 'f64' }) };
      return [model.axes(panels, context), unit];
    },
  },
];

describe.skipIf(!isTorchAvailable()).each(DIVERGENCES)('the ELBO of $name', (asked) => {
  test('has divergences that numerical integration gives as well', () => {
    const given = CASES.find(({ name }) => name === asked.name);
    if (given === undefined) throw new Error('no such system');
    // Concepts without noise, so that the Gaussians can be computed again.
    const objective = asked.name === 'clap-np' ? { sigmaZ: 1e-6 } : undefined;
    const compare = ({ model, evaluate, panels, context }: Step): void => {
      // Heads as lively as after training: those of fresh weights hardly tell sets of panels apart.
      noGrad(() => {
        for (const [name, weight] of model.namedParameters()) {
          if (/latent_head/.test(name)) weight.mul_(30);
          if (/function_head/.test(name)) weight.mul_(5);
        }
      });
      const found = evaluate().terms[given.terms.indexOf(asked.term)].item();
      const [q, p] = noGrad(() => asked.ofModel(model as never, panels, context));
      const expected = integrated(q, p) / BATCH;
      expect(Math.abs(expected)).toBeGreaterThan(1e-3);
      expect(Math.abs(found / expected - 1)).toBeLessThan(1e-5);
    };
    withLearner(given, 'paper', compare, { dtype: 'f64', objective });
  });
});

/** A run of one step on a few problems. */
function runOf(given: Case, changes: Changes = {}): Omit<NewRunOptions, 'out'> {
  return {
    system: given.name,
    model: tinyConfig(given, 'ours', changes),
    budget: { kind: 'steps', steps: 1 },
    seed: 5,
    pool: 24,
    refresh: 3,
    threads: 1,
  };
}

test.skipIf(!isTorchAvailable())(
  'a limit of the gradient bounds what a step changes',
  async () => {
    const LIMIT = 0.01;
    const weightsAfter = async (learningRate: number): Promise<number[]> => {
      const out = path.join(scratchFolder(), `rate-${learningRate}`);
      const optimizer = {
        algorithm: 'sgd',
        learningRate: { unit: 'steps', shape: 'linear', points: [[0, learningRate]] },
        gradientLimit: LIMIT,
      };
      await train({ ...runOf(CASES[0], { optimizer }), out, workers: 1 });
      const loaded = await (await openRun(out)).loadModel('latest');
      const weights = loaded.model.parameters().flatMap((each) => each.toArray());
      loaded.dispose();
      return weights;
    };
    const [still, moved] = [await weightsAfter(0), await weightsAfter(1)];
    const squares = moved.map((weight, i) => (weight - still[i]) ** 2);
    const distance = Math.sqrt(squares.reduce((sum, each) => sum + each, 0));
    expect(distance / LIMIT).toBeCloseTo(1, 2);
  },
  300_000,
);

test.skipIf(!isTorchAvailable())("CLAP-NP's laws tell matrices apart before any training", () => {
  const system = systemNamed('clap-np');
  const model = system.create(system.config('paper', 'center'), {
    generator: new Generator('cpu', 1),
  }) as ClapNp;
  const spread = 1;
  scope(() =>
    noGrad(() => {
      const concepts = rand([5, 32, 9, 8], { generator: new Generator('cpu', 7) }).mul(spread);
      const { mean, deviation } = model.functions(concepts, ones([32, 1, 9]));
      const laws = mean.squeeze(2);
      const values = model.values(laws);
      const moved = (by: Tensor): number =>
        model.values(by).sub(values).square().mean().sqrt().item();
      const noise = randn(laws.shape, { generator: new Generator('cpu', 8) });
      const gap = moved(laws.roll(7, 1)); // each matrix has another's law
      const noisy = moved(laws.add(noise.mul(deviation.squeeze(2))));
      expect(noisy / gap).toBeLessThan(20); // near 60 if the noise began at 1
      expect(gap).toBeGreaterThan(spread / 1000);
    }),
  );
  model.dispose();
});

/** Concepts foretold at every position of one problem, [1, 9, M, d], from panels as they are. */
function foretoldBy(model: SystemModel, panels: Tensor, missing: readonly number[]): Tensor {
  const context = ones([1, 9]);
  for (const position of missing) context.select(1, position).fill_(0);
  return noGrad(() => (model as ForetellingModel).foretell(panels, context));
}
