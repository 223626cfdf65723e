/** Made-up trainings for tests of tables and figures, all of their figures told by one. */
import {
  formatTraining,
  parseTraining,
  TRAINING_FORMAT,
  TRAINING_VERSION,
  trainingName,
  type MeasuredTraining,
  type WrittenTraining,
} from '../../src/lab/index.js';
import { systemNamed } from '../../src/models/index.js';

const share = (value: number) => ({
  value,
  low: Math.max(0, value - 0.01),
  high: Math.min(1, value + 0.01),
});
const error = (value: number) => ({
  meanSquared: { value, low: value, high: value },
  meanAbsolute: { value, low: value, high: value },
});

export type MadeTraining = Pick<MeasuredTraining, 'system' | 'preset' | 'configuration'> &
  Partial<MeasuredTraining> & { readonly raven?: number; readonly iRaven?: number };

/** A training with an accuracy on RAVEN and on I-RAVEN, and what a system of its kind is measured by. */
export function madeTraining(told: MadeTraining): WrittenTraining {
  const { raven = 0.5, iRaven = 0.25, ...given } = told;
  const answersAnywhere = systemNamed(given.system).positions === 'any';
  const gsa = [1, 2, 3].flatMap((targets) =>
    [2, 4, 8, 16].map((candidates) => {
      const accuracy = raven ** (targets * (candidates / 16));
      return { targets, candidates, accuracy, low: accuracy, high: accuracy };
    }),
  );
  const problems = { fromData: 0, generated: 500, seed: 1 };
  const painted = {
    gsa,
    errors: {
      problems,
      reconstruction: error(0.002),
      prediction: error(0.01),
      predictionAnywhere: error(0.02),
      meanPanel: error(0.05),
    },
    readback: {
      ...{ problems: 500, seed: 1, byAttribute: [], agrees: share(raven) },
      obeys: share(raven),
      unreadable: share(0.1),
      reconstructedObeys: share(0.9),
      missing: [{ targets: 2, problems: 50, obeys: share(raven / 2) }],
    },
  };
  const set = (variant: 'raven' | 'i-raven', value: number) => ({
    ...{ data: 'fresh problems', variant, count: 2000, seed: 7, sa: share(value) },
    ...(answersAnywhere ? { saL2: share(Math.max(0, value - 0.1)) } : {}),
  });
  return {
    format: TRAINING_FORMAT,
    version: TRAINING_VERSION,
    tag: null,
    command: `crab train --system ${given.system}`,
    seed: 1,
    steps: 20_000,
    bestStep: 15_000,
    seconds: 120,
    beside: 5,
    device: 'NVIDIA H200',
    parameters: 137_251,
    problems: 6000,
    overrides: {},
    curve: [0, 1, 2, 3].map((i) => ({
      step: 5000 * (i + 1),
      raven: (raven * (i + 1)) / 4,
      iRaven: (iRaven * (i + 1)) / 4,
      gsa: answersAnywhere ? 0.5 : null,
    })),
    evaluation: {
      ...{ model: 'made', data: null, count: null, sets: [], seconds: {} },
      system: given.system,
      preset: given.preset,
      conditions: {
        ...{
          bundle: null,
          metrics: ['sa'],
          problems: 2000,
          repeats: 5,
          panels: 1024,
          pictures: 500,
        },
      },
      sa: raven,
      selection: [set('raven', raven), set('i-raven', iRaven)],
      ...(answersAnywhere ? painted : {}),
    },
    ...given,
  } as WrittenTraining;
}

/** The same as it is read from its file. */
export function readTraining(told: MadeTraining): MeasuredTraining {
  const made = madeTraining(told);
  return parseTraining(formatTraining(made), `${trainingName(made)}.json`);
}
