/** Training so small that a run takes seconds, with every part of the real one. */
import { constant } from '../../src/models/index.js';
import type { TrainingSettings } from '../../src/server/index.js';
import { tinyModel } from '../training/tiny.js';

const { network, rulePrior, optimizer } = tinyModel();

export const TINY_TRAINING: TrainingSettings = {
  // The prior from the first step on; otherwise it begins late in a run.
  overrides: { network, rulePrior, optimizer, objective: { priorWeight: constant(1e-5) } },
  pool: 32,
  threads: 1,
  workers: 1,
  validation: { every: 10, problems: 16 },
  checkpointSeconds: 0.3,
  logEvery: 5,
  shownRules: 40,
  shownMatrices: 2,
  exported: { problems: 128, validation: 64, judged: 20, named: 64 },
};
