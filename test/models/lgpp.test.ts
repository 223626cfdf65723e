/** LGPP with several target sets paints every panel as few times as it can, and its loss stays what it was. */
import { describe, expect, test } from 'vitest';
import {
  contextOf,
  hostTargets,
  systemNamed,
  targetTensors,
  type SystemConfig,
} from '../../src/models/index.js';
import { fixedLogLikelihood, sampled } from '../../src/models/crab/distributions.js';
import { evaluate, paintedContext, type Lgpp } from '../../src/models/lgpp/system.js';
import type { TargetBatch } from '../../src/models/parts/generative.js';
import {
  Generator,
  isTorchAvailable,
  randn,
  scope,
  where,
  type Tensor,
} from '../../src/torch/index.js';
import { largestGap, noisePanels } from './tiny.js';

const SIGMA = 0.2;

function tinyModel(): Lgpp {
  const overrides = {
    network: {
      coder: { encoder: [4, 4, 8, 8, 8], decoder: [8, 8, 4, 4, 4] },
      concepts: 3,
      axisEncoder: [4, 4, 4, 8, 8],
      axisHidden: 16,
      coordinate: 2,
      coordinateHidden: [8],
      featureHidden: [8],
    },
  };
  const system = systemNamed('lgpp');
  const config: SystemConfig = system.config('ours', 'center', { overrides });
  return system.create(config, { generator: new Generator('cpu', 1) }) as Lgpp;
}

/** A batch with target sets [S][N][..], always with the same noise. */
function batchOf(sets: readonly (readonly (readonly number[])[])[], decoded: number): TargetBatch {
  const targets = targetTensors(hostTargets(sets));
  const count = sets[0].length;
  const generator = new Generator('cpu', 5);
  return {
    panels: noisePanels(count),
    index: targets.index.transpose(0, 1),
    weight: targets.weight.transpose(0, 1),
    context: contextOf(targets).transpose(0, 1),
    decoded,
    noise: (...shape) => randn([count, ...shape], { generator }),
    gather: (own) => own,
  };
}

const reconstruction = (model: Lgpp, batch: TargetBatch): Tensor =>
  evaluate(model, batch, { sigmaX: SIGMA, paintedContext: 9 } as never).reconstruction;

/** The likelihood with all nine panels painted anew for every target set. */
function paintedForEverySet(model: Lgpp, batch: TargetBatch): Tensor {
  const { panels, context } = batch;
  const s = context.shape[1];
  const { concepts: m, coordinate } = model.sizes;
  const encoded = model.encode(panels);
  const axes = model.axes(panels, context);
  const axisNoise = batch.noise(s, 2, m, 3, coordinate);
  const known = sampled(encoded.mean, encoded.deviation, batch.noise(9, m));
  const places = sampled(axes.mean, axes.deviation, axisNoise);
  const foretold = model.regress(known, context, places);
  const guesses = sampled(foretold.mean, foretold.deviation, batch.noise(s, 9, m));
  const concepts = where(context.eq(0).unsqueeze(3), guesses, known.unsqueeze(1));
  return fixedLogLikelihood(panels.unsqueeze(1), model.coder.decode(concepts), SIGMA, 2).mean();
}

const SETS = [
  [[0], [3]],
  [[8], [1]],
  [
    [2, 5, 7],
    [0, 4],
  ],
];

describe.skipIf(!isTorchAvailable())('LGPP', () => {
  // Normalisations that depend on the batch would see other panels: here they are fixed.
  test.each([
    ['several sets', SETS],
    ['one set', SETS.slice(2)],
  ] as const)(
    'with %s has the likelihood and the gradients of painting all panels for every set',
    (_, sets) => {
      scope(() => {
        const [ours, former] = [reconstruction, paintedForEverySet].map((form) => {
          const model = tinyModel().eval();
          const value = form(model, batchOf(sets, 3));
          value.backward();
          return {
            value: value.item(),
            slopes: model.parameters().map((each) => each.grad?.clone()),
          };
        });
        expect(ours.value / former.value).toBeCloseTo(1, 5);
        ours.slopes.forEach((slope, i) => {
          const other = former.slopes[i];
          if (slope === undefined || other === undefined) return expect(slope).toBe(other);
          const most = other.abs().amax().item();
          expect(largestGap(slope, other)).toBeLessThanOrEqual(1e-4 * most + 1e-6);
        });
      });
    },
  );

  test('panels that stand for the context stand for each other on average, and never for a target alone', () => {
    scope(() => {
      const turned = (by: number): (readonly (readonly number[])[])[] =>
        SETS.map((set) => set.map((targets) => targets.map((at) => (at + by) % 9)));
      const [stoodFor, meant] = [new Float64Array(9), new Float64Array(9)];
      for (let by = 0; by < 9; by++) {
        const batch = batchOf(turned(by), 1);
        const { positions, counts } = paintedContext(batch, 2);
        expect(positions.shape).toEqual([2, 2]);
        const weights = counts.flatten().toArray();
        positions
          .flatten()
          .toArray()
          .forEach((at, i) => (stoodFor[Number(at)] += weights[i]));
        batch.context
          .sum([0, 1])
          .toArray()
          .forEach((count, at) => (meant[at] += count));
      }
      stoodFor.forEach((count, at) => expect(count).toBeCloseTo(meant[at], 3));

      const lone = batchOf([[[0, 1]]], 1);
      const { positions, counts } = paintedContext(lone, 2);
      expect(positions.flatten().toArray().map(Number)).toEqual([1, 2]);
      expect(counts.flatten().toArray()).toEqual([0, 7]);
    });
  });

  test('painting one target of a set is the same on average over their order', () => {
    scope(() => {
      const model = tinyModel().eval();
      const turned = [0, 1, 2].map((by) =>
        SETS.map((set) =>
          set.map((targets) =>
            targets.length < 3 ? targets : [...targets.slice(by), ...targets.slice(0, by)],
          ),
        ),
      );
      // The second problem's two targets are in both orders as often.
      const orders = turned.flatMap((sets) => [
        sets,
        sets.map(([first, second]) => [first, second.toReversed()]),
      ]);
      const values = orders.map((sets) => reconstruction(model, batchOf(sets, 1)).item());
      expect(new Set(values).size).toBeGreaterThan(3);
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      expect(mean / reconstruction(model, batchOf(SETS, 3)).item()).toBeCloseTo(1, 5);
      model.dispose();
    });
  });
});
