/** Presets against the paper's and the released values, and configurations read from untrusted JSON. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CONFIGURATIONS } from '../../src/matrix/index.js';
import {
  ConfigurationError,
  constant,
  crabConfig,
  overridesOf,
  parseCrabConfig,
  PRESETS,
  risingTo,
  valueAt,
} from '../../src/models/index.js';

describe('presets', () => {
  test('all presets of all configurations survive JSON', () => {
    for (const preset of PRESETS) {
      for (const configuration of CONFIGURATIONS) {
        const config = crabConfig(preset, configuration);
        expect(parseCrabConfig(JSON.parse(JSON.stringify(config)))).toEqual(config);
      }
    }
  });

  test('overrides are told again as they were given', () => {
    const overrides = {
      network: { concepts: 5, relationHidden: [64] },
      objective: { priorWeight: constant(1e-4) },
      targets: { sharedByBatch: true },
    };
    for (const preset of PRESETS) {
      expect(overridesOf(crabConfig(preset, 'up-down'))).toEqual({});
      const config = crabConfig(preset, 'grid-2x2', { noisy: true, overrides });
      const told = JSON.parse(JSON.stringify(overridesOf(config))) as typeof overrides;
      expect(crabConfig(preset, 'grid-2x2', { noisy: true, overrides: told })).toEqual(config);
      // What the preset has anyway is no change.
      expect(told.network).toEqual(overrides.network);
      expect('configuration' in told).toBe(false);
    }
  });

  test('what could only fail in mid-training is refused', () => {
    const made = (overrides: object) => () => crabConfig('small', 'center', { overrides });
    expect(made({ optimizer: { batchSize: 3 } })).toThrow(
      /batchSize 3 is below the 4 of rulePrior/,
    );
    expect(made({ rulePrior: { covarianceFloor: 0 } })).toThrow(
      /covarianceFloor: .* at least 1e-12/,
    );
    const negative = constant(-1e-3);
    expect(made({ optimizer: { learningRate: negative } })).toThrow(
      /learningRate\.points\[0\]\[1\]: expected a number of at least 0, found -0.001/,
    );
    expect(made({ objective: { ruleWeight: negative } })).toThrow(/ruleWeight.* at least 0/);
    // A prior that never takes part is never fitted.
    const unused = { objective: { priorWeight: constant(0) }, optimizer: { batchSize: 2 } };
    expect(made(unused)).not.toThrow();
  });

  test('paper has the table of Appendix C', () => {
    const columns = CONFIGURATIONS.map((configuration) => {
      const { network, objective } = crabConfig('paper', configuration);
      const { ruleWeight, targetWeight, sigmaZ } = objective;
      return [valueAt(ruleWeight, 0, 1), valueAt(targetWeight, 0, 1), sigmaZ, network.concepts];
    });
    expect(columns).toEqual([
      [10, 10, 0.3, 4],
      [5, 5, 0.1, 8],
      [5.5, 5.5, 0.1, 8],
      [6, 3, 0.4, 6],
      [3, 3, 0.1, 8],
      [3, 3, 0.3, 8],
      [8, 8, 0.3, 10],
    ]);
    const { network, optimizer, rulePrior, objective } = crabConfig('paper', 'center');
    expect(network).toMatchObject({
      conceptSize: 32,
      ruleSize: 2,
      pairHidden: [512, 512],
      pairFeatures: 64,
      relationHidden: [2048, 1024, 512],
      targetOutputRelu: true,
      decoderSlope: 0.02,
    });
    expect(network.pairScale).toBeCloseTo(1 / 81);
    expect(optimizer).toMatchObject({ algorithm: 'rmsprop', batchSize: 512 });
    expect(valueAt(optimizer.learningRate, 5, 10)).toBe(3e-4);
    expect(rulePrior).toMatchObject({ components: 4, learner: 'em', density: 'mixture' });
    expect(valueAt(objective.priorWeight, 0, 10)).toBe(1e-5);
  });

  test('released differs where the code does', () => {
    const { network, rulePrior, targets, objective } = crabConfig('released', 'left-right');
    expect(network).toMatchObject({
      pairHidden: [256, 256],
      ruleDeviationMax: 0.05,
      targetOutputRelu: false,
      decoderSlope: 0.01,
    });
    expect(rulePrior).toMatchObject({ learner: 'bayesian', refitEvery: 1, density: 'component' });
    expect(targets.sharedByBatch).toBe(true);
    expect(valueAt(objective.priorWeight, 0, 1)).toBe(0);
    expect(valueAt(objective.priorWeight, 12_000, 1)).toBeCloseTo(5e-6, 12);
    expect(valueAt(objective.priorWeight, 99_000, 1)).toBe(1e-5);
  });

  test('crab changes the training and the relation networks, small the other networks too', () => {
    const released = crabConfig('released', 'left-right');
    const crab = crabConfig('crab', 'left-right');
    const relation = { pairFeatures: 16, relationHidden: [256, 128] };
    expect(crab.network).toEqual({ ...released.network, ...relation });
    const narrow = crabConfig('crab', 'grid-2x2').network;
    expect([narrow.encoder.at(-1), narrow.targetHidden]).toEqual([256, [96, 96, 96]]);
    const several = { min: 1, max: 3, setsPerProblem: 4, decoded: 1 };
    expect(crab.targets).toEqual({ ...several, smallestSets: 0, sharedByBatch: false });
    expect(crabConfig('crab', 'center').targets).toEqual({ ...crab.targets, smallestSets: 3 });
    expect(crabConfig('crab', 'grid-3x3').targets).toEqual({ ...crab.targets, smallestSets: 2 });
    expect(crab.rulePrior).toMatchObject({ learner: 'em', refitEvery: 12, density: 'mixture' });
    const { algorithm, batchSize, learningRate } = crab.optimizer;
    expect([algorithm, batchSize]).toEqual(['adam', 128]);
    const rates = [0, 20, 650, 1000].map((step) => valueAt(learningRate, step, 1000));
    expect(rates).toEqual([1e-4, 1e-3, 1e-3, 1e-5]);
    expect(valueAt(crab.objective.priorWeight, 300, 1000)).toBe(0);
    expect(valueAt(crab.objective.priorWeight, 600, 1000)).toBe(1e-5);
    const small = crabConfig('small', 'left-right');
    expect(small.network).toMatchObject({ ...relation, conceptSize: 16, pairHidden: [64, 64] });
    expect(small.optimizer).toEqual({ ...crab.optimizer, batchSize: 32 });
    expect(small.targets).toEqual({ ...crab.targets, max: 1 });
  });

  test('crab has other concepts than the paper for out-in-center and for grid-3x3 without noise', () => {
    const { network, objective } = crabConfig('crab', 'out-in-center');
    expect([network.concepts, network.encoder.at(-1), objective.sigmaZ]).toEqual([7, 512, 0.1]);
    const { ruleWeight, targetWeight } = crabConfig('crab', 'left-right').objective;
    expect([objective.ruleWeight, objective.targetWeight]).toEqual([ruleWeight, targetWeight]);
    const sizesOf = (noisy: boolean): (number | readonly number[])[] => {
      const { concepts, conceptSize, targetHidden } = crabConfig('crab', 'grid-3x3', {
        noisy,
      }).network;
      return [concepts, conceptSize, targetHidden];
    };
    expect(sizesOf(false)).toEqual([5, 64, [128, 128, 128]]);
    expect(sizesOf(true)).toEqual([10, 32, [96, 96, 96]]);
  });

  test('a noisy configuration uses the row of its configuration, but grid-2x2 heavier regularisers in crab', () => {
    const noisy = crabConfig('crab', 'out-in-grid', { noisy: true });
    expect(noisy).toEqual({ ...crabConfig('crab', 'out-in-grid'), noisy: true });
    const released = crabConfig('released', 'grid-2x2', { noisy: true });
    expect(released).toEqual({ ...crabConfig('released', 'grid-2x2'), noisy: true });
    const { objective, targets, ...others } = crabConfig('crab', 'grid-2x2');
    expect(crabConfig('crab', 'grid-2x2', { noisy: true })).toEqual({
      ...others,
      noisy: true,
      objective: { ...objective, ruleWeight: constant(20), targetWeight: constant(20) },
      targets: { ...targets, smallestSets: 0 },
    });
    expect(() => crabConfig('crab', 'center', { noisy: true })).toThrow(/center has no noisy form/);
  });

  test('overrides change only what they name; unknown keys are errors', () => {
    const config = crabConfig('crab', 'center', { overrides: { network: { pairFeatures: 32 } } });
    const base = crabConfig('crab', 'center');
    expect(config).toEqual({ ...base, network: { ...base.network, pairFeatures: 32 } });
    const mistyped = JSON.parse('{"network":{"pairFeature":32}}') as object;
    expect(() => crabConfig('crab', 'center', { overrides: mistyped })).toThrow(
      /config: network: unknown key "pairFeature"/,
    );
  });

  test('overrides do not change what is chosen beside them', () => {
    const overrides = JSON.parse('{"preset":"paper"}') as object;
    expect(() => crabConfig('crab', 'center', { overrides })).toThrow(
      /config: "preset" is chosen beside the overrides/,
    );
    for (const wrong of ['"abc"', '5', '[]']) {
      const odd = JSON.parse(wrong) as object;
      expect(() => crabConfig('crab', 'center', { overrides: odd })).toThrow(ConfigurationError);
    }
  });

  test('target sets: the smallest ones are none where an older file does not tell, and never too many', () => {
    const { smallestSets, ...targets } = crabConfig('released', 'center').targets;
    expect(smallestSets).toBe(0);
    const older = { ...crabConfig('released', 'center'), targets };
    expect(parseCrabConfig(older)).toEqual(crabConfig('released', 'center'));
    const overrides = { targets: { smallestSets: 5 } };
    expect(() => crabConfig('crab', 'center', { overrides })).toThrow(
      /config: targets: smallestSets 5 is above setsPerProblem 4/,
    );
  });

  test('any single damage to a configuration is an error that names the place', () => {
    const base = crabConfig('crab', 'center');
    const paths = (value: unknown, prefix: string[] = []): string[][] =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([key, entry]) => paths(entry, [...prefix, key]))
        : [prefix];
    const damage = fc.constantFrom<unknown>('?', {}, -1e9, Number.NaN, undefined, [1, 2]);
    fc.assert(
      fc.property(fc.constantFrom(...paths(base)), damage, (path, wrong) => {
        const copy = structuredClone(base) as unknown as Record<string, unknown>;
        let place = copy;
        for (const key of path.slice(0, -1)) place = place[key] as Record<string, unknown>;
        const last = path[path.length - 1];
        // The values of schedules may be any finite number.
        fc.pre(!(path.includes('points') && last === '1' && wrong === -1e9));
        // Configurations from before it existed lack this one.
        fc.pre(!(last === 'smallestSets' && wrong === undefined));
        place[last] = wrong;
        expect(() => parseCrabConfig(copy)).toThrow(/^config/);
      }),
      { seed: 5, numRuns: 300 },
    );
  });
});

test('schedules', () => {
  expect(valueAt(constant(3), 0, 10)).toBe(3);
  expect(valueAt(risingTo(4, 8), 2, 10)).toBe(1);
  const points = [
    [0, 1],
    [0.5, 1],
    [1, 0],
  ] as const;
  const cosine = { unit: 'fraction', shape: 'cosine', points } as const;
  expect(valueAt(cosine, 40, 100)).toBe(1);
  expect(valueAt(cosine, 75, 100)).toBeCloseTo(0.5, 12);
  expect(valueAt(cosine, 100, 100)).toBe(0);
  const unordered = { unit: 'steps', shape: 'linear', points: [...points].reverse() };
  const overrides = { optimizer: { learningRate: unordered } } as object;
  expect(() => crabConfig('crab', 'center', { overrides })).toThrow(/positions must rise/);
});
