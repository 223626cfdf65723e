/** CRAB as one of the systems: what it needs and can do. */
import type { System } from '../system.js';
import { crabConfigReader, PRESETS, type CrabConfig, type PresetName } from './config.js';
import { crabExport } from './export.js';
import { CrabLearner } from './learner.js';
import { CrabModel } from './model.js';
import { crabConfig } from './presets.js';

export const crab: System<CrabConfig> = {
  name: 'crab',
  title: 'Concept-changing Rule ABstraction (Shi, Li and Xue)',
  presets: PRESETS,
  positions: 'any',
  can: ['impute', 'concepts', 'rules'],
  config: (preset, configuration, options) =>
    crabConfig(preset as PresetName, configuration, options),
  reader: crabConfigReader,
  needs: () => ({ imageSize: 64, candidates: null, rules: false, problems: null }),
  // The authors keep the best weights by candidates; our own presets by what needs none.
  criterion: ({ preset }) =>
    preset === 'paper' || preset === 'released'
      ? 'selection-accuracy'
      : 'global-selection-accuracy',
  create: ({ network }, options) => new CrabModel(network, options),
  learner: (model, context) => new CrabLearner(model as CrabModel, context),
  exports: crabExport,
};
