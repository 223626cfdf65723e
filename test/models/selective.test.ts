/** What must hold for every system that chooses among eight candidates, whatever its weights. */
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { StepRandom, SYSTEMS, systemNamed, type SystemModel } from '../../src/models/index.js';
import { drawOrders, inNewOrder, ORDER } from '../../src/models/parts/reordering.js';
import { SelectiveModel } from '../../src/models/parts/selective.js';
import {
  cat,
  Generator,
  isTorchAvailable,
  noGrad,
  rand,
  scope,
  tensor,
  type Tensor,
} from '../../src/torch/index.js';
import { train } from '../../src/training/index.js';
import { scratchFolder } from '../scratch-folder.js';
import { largestGap } from './tiny.js';

const N = 2;

interface Row {
  /** Calculated by hand from the layers that the papers and released codes describe. */
  readonly parameters: number;
  /** Sizes for quick tests. */
  readonly small: object;
  /** Whether candidates in another order have their scores in that order. */
  readonly isFair: boolean;
}

const ROWS: Readonly<Record<string, Row>> = {
  lstm: { parameters: 92_912, small: {}, isFair: false },
  cnn: { parameters: 299_400, small: { hidden: 16 }, isFair: false },
  resnet: { parameters: 24_601_992, small: { channels: 4, hidden: 16 }, isFair: false },
  'lstm-drt': { parameters: 804_628, small: { channels: 4, hidden: 8 }, isFair: false },
  'cnn-drt': { parameters: 2_054_724, small: { channels: 4, hidden: 16 }, isFair: false },
  'resnet-drt': { parameters: 13_254_754, small: { channels: 4, hidden: 16 }, isFair: false },
  wren: {
    parameters: 1_213_089,
    small: { channels: 4, panel: 16, pair: 16, pairHidden: [16] },
    isFair: true,
  },
  sran: { parameters: 44_030_217, small: { channels: 4 }, isFair: true },
  len: {
    parameters: 6_585_633,
    small: { channels: 4, panel: 16, triple: [16, 16], judge: [16] },
    isFair: false,
  },
  copinet: { parameters: 1_685_949, small: { channels: 8 }, isFair: true },
  scl: { parameters: 137_251, small: { channels: [4, 4, 4, 8] }, isFair: true },
};

const selective = SYSTEMS.filter(({ positions }) => positions === 'last').map(({ name }) => name);

const sideOf = (name: string): number => {
  const system = systemNamed(name);
  return system.needs(system.config('paper', 'center')).imageSize;
};

function made(name: string, network: object, random?: StepRandom): SelectiveModel {
  const system = systemNamed(name);
  const config = system.config('paper', 'left-right', { overrides: { network } });
  const model: SystemModel = system.create(config, { generator: new Generator('cpu', 1), random });
  if (!(model instanceof SelectiveModel)) throw new Error(`${name} is no selective system`);
  return model;
}

const pictures = (side: number, seed: number): Tensor =>
  rand([N, 8, side, side], { generator: new Generator('cpu', seed) });

test('every selective system is in the table', () => {
  expect(Object.keys(ROWS).sort()).toEqual([...selective].sort());
});

describe('settings', () => {
  test('SCL decays its weights apart from the gradient', () => {
    expect(systemNamed('scl').config('paper', 'center').optimizer).toMatchObject({
      algorithm: 'adamw',
      weightDecay: 0.01,
      batchSize: 128,
    });
  });

  test('joint training takes problems of all configurations, and DRT has none', () => {
    const needs = systemNamed('scl').needs(systemNamed('scl').config('joint', 'center'));
    expect(needs).toMatchObject({ problems: 42_000, mixed: true, candidates: 'raven' });
    expect(systemNamed('cnn-drt').presets).not.toContain('joint');
    expect(() => systemNamed('cnn-drt').config('joint', 'center')).toThrow(/one configuration/);
  });

  test('joint training takes no data of one configuration', async () => {
    const request = {
      out: path.join(scratchFolder(), 'joint'),
      system: 'scl',
      model: systemNamed('scl').config('joint', 'center'),
      budget: { kind: 'steps', steps: 1 },
      seed: 1,
      data: 'center.npz',
    } as const;
    await expect(train(request)).rejects.toThrow(/center\.npz holds one configuration/);
  });

  test('annotations are asked for only if their losses count', () => {
    const system = systemNamed('resnet-drt');
    const needs = (network: object): boolean =>
      system.needs(system.config('paper', 'center', { overrides: { network } })).rules;
    expect(needs({})).toBe(false);
    expect(needs({ metaStructure: 1 })).toBe(true);
  });
});

describe.skipIf(!isTorchAvailable())('selective systems', () => {
  describe.each(selective)('%s', (name) => {
    const { parameters, small, isFair } = ROWS[name];
    const side = sideOf(name);

    test('has the size of its paper', () => {
      const model = made(name, {});
      expect(model.parameterCount()).toBe(parameters);
      model.dispose();
    });

    test('scores eight candidates, the same every time it is used', () => {
      // In f64: at first scores differ so little that a processor's rounding would count.
      const model = made(name, small).to({ dtype: 'f64' });
      model.eval();
      scope(() =>
        noGrad(() => {
          const [context, candidates] = [2, 3].map((seed) =>
            pictures(side, seed).to({ dtype: 'f64' }),
          );
          const scores = model.forward(context, candidates);
          expect(scores.shape).toEqual([N, 8]);
          expect(largestGap(scores, model.forward(context, candidates))).toBe(0);
          expect(scores.std(1).min().item()).toBeGreaterThan(0);
          const order = [3, 1, 0, 7, 5, 6, 2, 4];
          const places = tensor(order, { dtype: 'i64' });
          const moved = model.forward(context, candidates.indexSelect(1, places));
          const gap = largestGap(moved, scores.indexSelect(1, places));
          const spread = scores.std(1).min().item();
          if (isFair) expect(gap / spread).toBeLessThan(1e-2);
          else expect(gap / spread).toBeGreaterThan(1e-2);
        }),
      );
      model.dispose();
    });

    test('learns with all its weights', () => {
      const random = new StepRandom({ first: 0, count: N }, 'cpu');
      const model = made(name, small, random);
      scope(() => {
        random.begin(tensor([7], { dtype: 'i64' }));
        const { scores, ...annotations } = model.verdict(pictures(side, 2), pictures(side, 3));
        const outputs = [scores, ...Object.values<Tensor>(annotations)];
        const loss = outputs.map((each) => each.square().mean()).reduce((a, b) => a.add(b));
        loss.backward();
        // A bias before a batch normalisation cannot matter, so that only matrices must have gradients.
        const without = [...model.namedParameters()].filter(([, { grad, ndim }]) => {
          const total = grad?.abs().sum().item() ?? 0;
          return !(Number.isFinite(total) && (total > 0 || (ndim < 2 && grad !== null)));
        });
        expect(without.map(([weight]) => weight)).toEqual([]);
      });
      model.dispose();
      random.dispose();
    });
  });

  /** Scores and loss of CNN for a context by this seed, always with the same candidates. */
  function judged(context: 'shown' | 'white', seed: number) {
    const system = systemNamed('cnn');
    const overrides = { network: { channels: 4, hidden: 16 }, data: { context } };
    const config = system.config('paper', 'center', { overrides });
    const random = new StepRandom({ first: 0, count: N }, 'cpu');
    const model = system.create(config, { generator: new Generator('cpu', 1), random });
    const learner = system.learner(model, {
      ...{ config, seed: 1, device: 'cpu', dtype: 'f32', datasetSize: 8, ranks: 1, random },
      ...{ part: { first: 0, count: N }, stepsAhead: 0, gather: (own) => own },
    });
    const side = sideOf('cnn');
    const values = { integers: tensor([0]), floats: tensor([0]), weights: [] };
    const score = (panels: Tensor, candidates: Tensor): number[] => {
      const nine = cat([panels, panels.narrow(1, 0, 1)], 1);
      const missing = Array.from({ length: N }, () => [8]);
      return model.eval().score(nine, missing, candidates.unsqueeze(2)).toArray();
    };
    const loss = (panels: Tensor, candidates: Tensor): number => {
      random.begin(tensor([7], { dtype: 'i64' }));
      model.train();
      const choice = { candidates, answer: tensor([1, 6], { dtype: 'i64' }) };
      return learner.loss({ panels, choice, labels: null }, values).loss.item();
    };
    const found = scope(() => {
      const [panels, candidates] = [pictures(side, seed), pictures(side, 3)];
      return { scores: score(panels, candidates), loss: loss(panels, candidates) };
    });
    for (const each of [model, random]) each.dispose();
    return found;
  }

  test('a blind one sees no context, neither as it learns nor as it chooses', () => {
    const [blind, sighted] = (['white', 'shown'] as const).map((context) =>
      [4, 5].map((seed) => judged(context, seed)),
    );
    expect(blind[0]).toEqual(blind[1]);
    expect(sighted[0].scores).not.toEqual(sighted[1].scores);
    expect(sighted[0].loss).not.toBe(sighted[1].loss);
  });

  test('SCL begins to learn', async () => {
    const losses: number[] = [];
    const network = { ...ROWS.scl.small, parts: 4, attributes: 4 };
    const learningRate = { unit: 'steps', shape: 'linear', points: [[0, 0.005]] };
    const overrides = { data: { problems: 8 }, network, optimizer: { batchSize: 8, learningRate } };
    await train(
      {
        out: path.join(scratchFolder(), 'scl'),
        system: 'scl',
        model: systemNamed('scl').config('paper', 'center', { overrides }),
        budget: { kind: 'steps', steps: 16 },
        seed: 3,
        threads: 1,
        workers: 1,
        logEvery: 1,
        validation: { every: 16, problems: 2 },
      },
      { step: ({ terms }) => losses.push(terms.loss) },
    );
    const mean = (values: readonly number[]): number =>
      values.reduce((sum, value) => sum + value) / values.length;
    expect(mean(losses.slice(-5))).toBeLessThan(0.8 * mean(losses.slice(0, 5)));
  });

  test('problems in a new order keep their answer', () => {
    scope(() => {
      const orders = new BigInt64Array(N * ORDER);
      drawOrders(11, 40, orders);
      const again = new BigInt64Array(N * ORDER);
      drawOrders(11, 40, again);
      expect(again).toEqual(orders);
      const [panels, candidates] = [pictures(4, 2), pictures(4, 3)];
      const answer = tensor([2, 5], { dtype: 'i64' });
      const batch = inNewOrder(
        { panels, choice: { candidates, answer }, labels: null },
        tensor(orders),
      );
      const right = (pictures: Tensor, at: Tensor): number[] =>
        [0, 1].flatMap((n) => pictures.select(0, n).select(0, at.toArray()[n]).toArray());
      expect(batch.choice?.answer.toArray()).not.toEqual([2, 5]);
      if (batch.choice === null) throw new Error('no candidates');
      expect(right(batch.choice.candidates, batch.choice.answer)).toEqual(
        right(candidates, answer),
      );
      const firsts = Array.from({ length: 200 }, (_, n) => {
        const one = new BigInt64Array(ORDER);
        drawOrders(11, n, one);
        return Number(one[0]);
      });
      const exchanged = firsts.filter((first) => first === 3).length;
      expect(exchanged).toBeGreaterThan(70);
      expect(exchanged).toBeLessThan(130);
    });
  });
});
