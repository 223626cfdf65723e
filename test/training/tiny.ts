/** A model and a run so small that hundreds of steps take seconds, with every part of the real ones. */
import { crabConfig, type CrabConfig } from '../../src/models/index.js';
import type { NewRunOptions } from '../../src/training/index.js';

export const tinyModel = (overrides: object = {}): CrabConfig =>
  crabConfig('small', 'center', {
    overrides: {
      network: {
        concepts: 2,
        conceptSize: 4,
        encoder: [4, 4, 8, 8, 8],
        decoder: [8, 8, 4, 4, 4],
        pairHidden: [8, 8],
        pairFeatures: 4,
        relationHidden: [16],
        targetHidden: [8],
      },
      rulePrior: { components: 2, refitEvery: 5 },
      targets: { max: 3 },
      optimizer: { batchSize: 8 },
      ...overrides,
    },
  });

export const tinyRun = (out: string, changes: Partial<NewRunOptions> = {}): NewRunOptions => ({
  out,
  model: tinyModel(),
  budget: { kind: 'steps', steps: 40 },
  seed: 3,
  pool: 24,
  refresh: 3,
  threads: 1,
  logEvery: 10,
  validation: { every: 15, problems: 10 },
  checkpoints: { seconds: 1e6, steps: 10 },
  snapshots: { problems: 5, moments: [0.3], steps: [0, 3] },
  ...changes,
});
