/**
 * What a run's configuration says of how its model came about, in the few words that go with the model when
 * the run stays behind: enough to train it again by the same command.
 */
import type { RunConfig } from './config.js';
import { isCuda } from './options.js';

/** Facts by name; those that do not apply are absent. */
export type TrainingFacts = Readonly<Record<string, string | number>>;

function dataFacts({ data }: RunConfig): TrainingFacts {
  if (data.kind === 'set') return { data: data.kind, problems: data.problems };
  const { kind, pool, refresh } = data;
  // Where problems are replaced as fast as they are made, no number says how many.
  return refresh === null ? { data: kind, pool } : { data: kind, pool, refresh };
}

/**
 * @param step steps that the weights were trained for, of the run's `runSteps`
 * @param seconds the time these took
 */
export function trainingFacts(config: RunConfig, step: number, seconds: number): TrainingFacts {
  const { model, seed, device, precision, deterministic, totalSteps, validation } = config;
  return {
    preset: model.preset,
    // Whole: what a preset gives may change with the package.
    config: JSON.stringify(model),
    steps: step,
    ...(totalSteps === null ? {} : { runSteps: totalSteps }),
    seconds,
    batch: model.optimizer.batchSize,
    seed,
    device,
    precision,
    ...(isCuda(device) && deterministic ? { deterministic: 'yes' } : {}),
    ...dataFacts(config),
    // The weights are those that did best at one of these moments.
    validateEvery: validation.every,
    ...(validation.patience === undefined ? {} : { patience: validation.patience }),
    ...config.software,
  };
}
