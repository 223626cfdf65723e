/**
 * The selective systems beside their twins in PyTorch (bench/peers/networks.py): the same weights and
 * pictures give the same scores in use and in training without dropout, the same loss and gradients. The
 * twins' results are in golden/selective.json; golden/make_selective_golden.py made them. Weights and pictures
 * follow from names and places by a formula that both sides have, in f64, so that rounding does not matter.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { StepRandom, SYSTEMS, systemNamed } from '../../src/models/index.js';
import { ORDER } from '../../src/models/parts/reordering.js';
import { SelectiveModel, type Verdict } from '../../src/models/parts/selective.js';
import {
  Generator,
  isTorchAvailable,
  noGrad,
  scope,
  tensor,
  zeros,
  type Tensor,
} from '../../src/torch/index.js';

interface Golden {
  readonly system: string;
  readonly configuration: 'center' | 'left-right' | 'out-in-grid';
  /** Settings of the network that differ from the paper's. */
  readonly network: Readonly<Record<string, number>>;
  readonly side: number;
  readonly problems: number;
  readonly parameters: number;
  /** Scores in use and in training, [problems][8]. */
  readonly used: readonly (readonly number[])[];
  readonly trained: readonly (readonly number[])[];
  readonly loss: number;
  /** Norm of the gradients of each part of the network. */
  readonly gradients: Readonly<Record<string, number>>;
}

const CASES = JSON.parse(
  readFileSync(new URL('golden/selective.json', import.meta.url), 'utf8'),
) as Golden[];

/** Pixels of a side of the blocks that pictures are made of. */
const BLOCK = 4;
/** Of the spread of the scores, of the loss and of a norm. */
const TOLERANCE = 1e-5;

/** Numbers in [0, 1): FNV-1a of the name, then MurmurHash3's finaliser of it and the place. */
function uniform(name: string, count: number): Float64Array {
  let seed = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(name)) seed = Math.imul(seed ^ byte, 0x01000193);
  const values = new Float64Array(count);
  for (let n = 0; n < count; n++) {
    let h = (Math.imul(n, 0x9e3779b1) + seed) | 0;
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    values[n] = ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
  }
  return values;
}

function weight(name: string, shape: readonly number[]): Tensor {
  const last = name.slice(name.lastIndexOf('.') + 1);
  const count = shape.reduce((product, size) => product * size, 1);
  const values = uniform(name, count);
  const isScale = last === 'running_var' || (last === 'weight' && shape.length === 1);
  if (isScale) {
    values.forEach((u, n) => (values[n] = 0.5 + u));
  } else if (shape.length === 1 || last === 'bias') {
    values.forEach((u, n) => (values[n] = 0.4 * u - 0.2));
  } else {
    const bound = Math.sqrt((6 * shape[0]) / count);
    values.forEach((u, n) => (values[n] = (2 * u - 1) * bound));
  }
  return tensor(values, { shape, dtype: 'f64' });
}

/** Pictures [n, 8, side, side] of random blocks. */
function pictures(name: string, n: number, side: number): Tensor {
  const blocks = side / BLOCK;
  return tensor(uniform(name, n * 8 * blocks * blocks), { dtype: 'f64' })
    .reshape([n, 8, blocks, 1, blocks, 1])
    .expand([n, 8, blocks, BLOCK, blocks, BLOCK])
    .reshape([n, 8, side, side]);
}

const bits = (name: string, n: number, count: number): Tensor =>
  tensor(
    uniform(name, n * count).map((u) => (u < 0.5 ? 1 : 0)),
    { shape: [n, count], dtype: 'f64' },
  );

/** A system's model with the formula's weights, in f64, and its learner. */
function made({ system: name, configuration, network, problems }: Golden) {
  const system = systemNamed(name);
  const config = system.config('paper', configuration, { overrides: { network } });
  const model = system.create(config, { generator: new Generator('cpu', 1) });
  if (!(model instanceof SelectiveModel)) throw new Error(`${name} is no selective system`);
  model.to({ dtype: 'f64' });
  for (const [key, value] of model.stateDict()) {
    if (value.isFloatingPoint) scope(() => noGrad(() => value.copy_(weight(key, value.shape))));
  }
  const part = { first: 0, count: problems };
  const random = new StepRandom(part, 'cpu');
  const learner = system.learner(model, {
    ...{ config, part, random, seed: 1, device: 'cpu', dtype: 'f64', ranks: 1 },
    ...{ datasetSize: problems, stepsAhead: 0, gather: (own: Tensor) => own },
  });
  return {
    model,
    learner,
    dispose: () => [random, learner, model].forEach((one) => one.dispose()),
  };
}

/** Largest difference of scores, as a share of the spread of a problem's scores. */
function gap(scores: Tensor, expected: readonly (readonly number[])[]): number {
  const twin = tensor(expected.flat(), { shape: scores.shape, dtype: 'f64' });
  return scores.sub(twin).abs().max().div(twin.std(1).min()).item();
}

function gradientNorms(model: SelectiveModel): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [name, parameter] of model.namedParameters()) {
    const [part] = name.split('.');
    sums[part] = (sums[part] ?? 0) + (parameter.grad?.square().sum().item() ?? NaN);
  }
  return Object.fromEntries(Object.entries(sums).map(([part, sum]) => [part, Math.sqrt(sum)]));
}

test('every selective system has a twin', () => {
  const selective = SYSTEMS.filter(({ positions }) => positions === 'last').map(({ name }) => name);
  expect([...new Set(CASES.map(({ system }) => system))].sort()).toEqual(selective.sort());
});

describe.skipIf(!isTorchAvailable())('beside PyTorch', () => {
  test.each(CASES)(
    '$system, $configuration $network',
    (golden) => {
      const { side, problems: n, used, trained, loss: expectedLoss, gradients } = golden;
      const { model, learner, dispose } = made(golden);
      expect(model.parameterCount()).toBe(golden.parameters);
      scope(() => {
        const [context, candidates] = [
          pictures('context', n, side),
          pictures('candidates', n, side),
        ];
        model.eval();
        expect(
          gap(
            noGrad(() => model.forward(context, candidates)),
            used,
          ),
        ).toBeLessThan(TOLERANCE);

        model.train();
        const verdict = vi.spyOn(model, 'verdict');
        const places = uniform('answer', n).map((u) => Math.floor(8 * u));
        const answer = tensor(Array.from(places), { dtype: 'i64' });
        const asTheyAre = Array.from({ length: n * ORDER }, (_, at) => at % 8);
        const labels = {
          rules: zeros([n, 2, 4, 3], { dtype: 'i64' }),
          metaTarget: bits('meta target', n, 9),
          metaStructure: bits('meta structure', n, 21),
        };
        const { loss } = learner.loss(
          { panels: context, choice: { candidates, answer }, labels },
          {
            integers: tensor(asTheyAre, { dtype: 'i64' }),
            floats: zeros([0]),
            weights: [],
          },
        );
        const { scores } = verdict.mock.results[0].value as Verdict;
        expect(gap(scores, trained)).toBeLessThan(TOLERANCE);
        expect(Math.abs(loss.item() / expectedLoss - 1)).toBeLessThan(TOLERANCE);
        loss.backward();
        const found = gradientNorms(model);
        expect(Object.keys(found).sort()).toEqual(Object.keys(gradients).sort());
        for (const [name, norm] of Object.entries(gradients)) {
          expect(Math.abs(found[name] / norm - 1), name).toBeLessThan(TOLERANCE);
        }
      });
      dispose();
    },
    300_000,
  );
});
