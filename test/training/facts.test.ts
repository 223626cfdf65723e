/** The facts of a training that go with a model: whoever has them can train it again. */
import { expect, test } from 'vitest';
import { CONFIGURATIONS } from '../../src/matrix/index.js';
import { crabConfig, parseCrabConfig, PRESETS } from '../../src/models/index.js';
import { formatManifest, parseManifest } from '../../src/solver/bundle.js';
import { trainingFacts } from '../../src/training/index.js';
import { runConfigOf, type NewRunOptions } from '../../src/training/options.js';
import { randomBundle, tinyConfig } from '../solver/random-model.js';

const ENVIRONMENT = { software: { 'crab-raven': '1.2.3', libtorch: '2.0.0' }, threads: 2 };

function factsOf(changes: Partial<NewRunOptions> = {}) {
  const options = {
    out: 'run',
    model: crabConfig('crab', 'center'),
    budget: { kind: 'steps', steps: 900 } as const,
    seed: 3,
    ...changes,
  };
  const config = { ...runConfigOf(options, ENVIRONMENT, null), totalSteps: 900 };
  return { options, facts: trainingFacts(config, 700, 55) };
}

test('of a run on a CPU', () => {
  expect(factsOf({ pool: 3000, refresh: 4 }).facts).toEqual({
    preset: 'crab',
    config: JSON.stringify(crabConfig('crab', 'center')),
    steps: 700,
    runSteps: 900,
    seconds: 55,
    batch: crabConfig('crab', 'center').optimizer.batchSize,
    seed: 3,
    device: 'cpu',
    precision: 'f32',
    data: 'stream',
    pool: 3000,
    refresh: 4,
    validateEvery: 500,
    'crab-raven': '1.2.3',
    libtorch: '2.0.0',
  });
});

test('of one on a GPU that replaces problems as fast as they come', () => {
  const { facts } = factsOf({ device: 'cuda', validation: { every: 50 } });
  expect(facts).toMatchObject({
    device: 'cuda',
    precision: 'bf16',
    pool: 20_000,
    validateEvery: 50,
  });
  expect(facts).not.toHaveProperty('refresh');
  expect(facts).not.toHaveProperty('deterministic');
  expect(factsOf({ device: 'cuda', deterministic: true }).facts.deterministic).toBe('yes');
});

test('the configuration is there as a whole, whatever the preset gives later', () => {
  const overrides = { network: { concepts: 7 }, optimizer: { batchSize: 24 } };
  const model = crabConfig('small', 'grid-3x3', { overrides });
  const { facts } = factsOf({ model });
  expect(parseCrabConfig(JSON.parse(String(facts.config)))).toEqual(model);
});

test.each(PRESETS)('those of the preset %s come through a manifest', async (preset) => {
  const { manifest, files } = randomBundle(tinyConfig());
  for (const configuration of CONFIGURATIONS) {
    const { facts } = factsOf({ model: crabConfig(preset, configuration) });
    const bytes = await formatManifest({ ...manifest, training: facts }, files);
    expect(parseManifest(bytes).training).toEqual(facts);
  }
});
