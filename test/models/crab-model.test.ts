/** What must hold for CRAB's networks whatever their weights: gates, masks, symmetry of concepts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  contextOf,
  gatesOf,
  hostTargets,
  targetTensors,
  type CrabModel,
} from '../../src/models/index.js';
import {
  grad,
  isTorchAvailable,
  noGrad,
  scope,
  tensor,
  type Tensor,
} from '../../src/torch/index.js';
import { largestGap, noisePanels, targetsAt, tinyConfig, tinyModel } from './tiny.js';

/** Positions of 1 to 8 targets. */
const positions = fc
  .shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7, 8], { minLength: 1, maxLength: 8 })
  .map((list) => [...list].sort((a, b) => a - b));

test('impossible targets are refused', () => {
  expect(() => hostTargets([[[9]]])).toThrow(/position 9/);
  expect(() => hostTargets([[[]]])).toThrow(/1 to 8 different/);
  expect(() => hostTargets([[[1, 1]]])).toThrow(/1 to 8 different/);
  expect(() => hostTargets([[[0, 1, 2, 3, 4, 5, 6, 7, 8]]])).toThrow(/1 to 8 different/);
});

describe.skipIf(!isTorchAvailable())('with libtorch', () => {
  test('context and gates follow from the targets', () => {
    fc.assert(
      fc.property(fc.array(positions, { minLength: 1, maxLength: 4 }), (problems) =>
        scope(() => {
          const context = contextOf(targetTensors(hostTargets([problems])));
          const gates = gatesOf(context).toArray();
          const expected = problems.flatMap((targets) =>
            Array.from({ length: 81 }, (_, pair) =>
              targets.includes(Math.floor(pair / 9)) || targets.includes(pair % 9) ? 0 : 1,
            ),
          );
          expect(gates).toEqual(expected);
        }),
      ),
      { seed: 1, numRuns: 50 },
    );
  });

  test('shapes', () => {
    scope(() => {
      const model = tinyModel();
      const concepts = model.encode(noisePanels(2));
      expect(concepts.shape).toEqual([3, 2, 9, 5]);
      expect(model.decode(concepts).shape).toEqual([2, 9, 64, 64]);
      const context = contextOf(targetsAt([8], [0, 4]));
      const { parsed, predicted } = model.reason(concepts, context);
      expect(parsed.mean.shape).toEqual([3, 1, 2, 2]);
      expect(predicted.shape).toEqual([3, 1, 2, 9, 5]);
      expect(parsed.deviation.max().item()).toBeLessThanOrEqual(0.05);
      expect(parsed.deviation.min().item()).toBeGreaterThan(0);
    });
  });

  test("in use, a target's pixels have exactly no influence on predictions, context pixels have", () => {
    const model = tinyModel(4).eval();
    fc.assert(
      fc.property(positions, (targets) =>
        scope(() => {
          const panels = noisePanels(1).requiresGrad_();
          const context = contextOf(targetsAt(targets));
          const { predicted, parsed } = model.reason(model.encode(panels), context);
          const atTargets = predicted.mul(context.rsub(1).reshape([1, 1, 1, 9, 1])).sum();
          const total = atTargets.add(parsed.mean.sum()).add(parsed.deviation.sum());
          const influence = grad([total], [panels])[0].abs().sum([0, 2, 3]).toArray();
          influence.forEach((value, position) => {
            if (targets.includes(position)) expect(value).toBe(0);
            else expect(value).toBeGreaterThan(0);
          });
        }),
      ),
      { seed: 2, numRuns: 12 },
    );
  });

  test("in training, a target reaches its prediction only through the batch's statistics", () => {
    scope(() => {
      const model = tinyModel(4).train();
      const context = contextOf(targetsAt([4], [4]));
      const outcome = (panels: Tensor): Tensor =>
        model.reason(model.encode(panels), context).parsed.mean;
      const panels = noisePanels(2).requiresGrad_();
      const through = grad([outcome(panels).sum()], [panels])[0]
        .narrow(1, 4, 1)
        .abs()
        .max()
        .item();
      expect(through).toBeGreaterThan(0);
      // With the statistics held fixed the path is closed.
      model.encoder.eval();
      const closed = grad([outcome(panels).sum()], [panels])[0]
        .narrow(1, 4, 1)
        .abs()
        .max()
        .item();
      expect(closed).toBe(0);
    });
  });

  test('permuting concepts with their weights permutes what comes out', () => {
    scope(() => {
      const order = [2, 0, 1];
      const model = tinyModel(5).eval();
      const other = tinyModel(6).eval();
      copyPermuted(model, other, order);
      const panels = noisePanels(2);
      const context = contextOf(targetsAt([8], [2, 3]));
      const index = tensor(order, { dtype: 'i64' });
      const [ours, theirs] = [model, other].map((each) => {
        const concepts = each.encode(panels);
        return {
          concepts,
          drawn: each.decode(concepts),
          ...each.reason(concepts, context),
        };
      });
      expect(largestGap(ours.concepts.indexSelect(0, index), theirs.concepts)).toBeLessThan(1e-6);
      expect(largestGap(ours.parsed.mean.indexSelect(0, index), theirs.parsed.mean)).toBeLessThan(
        1e-6,
      );
      expect(largestGap(ours.predicted.indexSelect(0, index), theirs.predicted)).toBeLessThan(1e-6);
      expect(largestGap(ours.drawn, theirs.drawn)).toBeLessThan(1e-5);
      expect(largestGap(ours.concepts, theirs.concepts)).toBeGreaterThan(1e-3);
    });
  });

  test('paper: softplus deviations and a ReLU on predicted concepts', () => {
    scope(() => {
      const config = tinyConfig();
      const network = { ...config.network, ruleDeviationMax: null, targetOutputRelu: true };
      const model = tinyModel(9, { ...config, network }).eval();
      const concepts = model.encode(noisePanels(2));
      const { parsed, predicted } = model.reason(concepts, contextOf(targetsAt([1], [2])));
      expect(parsed.deviation.min().item()).toBeGreaterThan(0.05);
      expect(predicted.min().item()).toBe(0);
    });
  });

  test('wrong shapes are refused by name', () => {
    expect(() => tinyModel().encode(tensor([0]))).toThrow(/encode: panels \[1\]/);
  });
});

/** Copies `from` into `to` with its concepts reordered. */
function copyPermuted(from: CrabModel, to: CrabModel, order: number[]): void {
  const { concepts: m, conceptSize: d } = from.config;
  const target = to.stateDict();
  const index = tensor(order, { dtype: 'i64' });
  noGrad(() => {
    for (const [name, value] of from.stateDict()) {
      target.get(name)?.copy_(reordered(name, value, index, m, d));
    }
  });
}

function reordered(name: string, value: Tensor, index: Tensor, m: number, d: number): Tensor {
  const leading = (groups: number): Tensor =>
    value
      .reshape([groups, value.shape[0] / groups, ...value.shape.slice(1)])
      .indexSelect(0, index)
      .reshape(value.shape);
  if (name.startsWith('rule_parser.')) return value.indexSelect(0, index);
  if (name.startsWith('target_predictor.layers.')) return leading(m);
  if (name.startsWith('encoder.head.')) return leading(m);
  // The decoder's first kernel is [M * d_z, channels, 1, 1].
  if (name === 'decoder.stages.0.conv.weight' && value.shape[0] === m * d) return leading(m);
  return value;
}
