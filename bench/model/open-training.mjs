/**
 * A training as `crab train` does it, for benches that want its steps and nothing around them: no validation,
 * no checkpoints. Problems are made once and stay on the device. Reads the built package.
 */
import { systemNamed } from '../../dist/models/index.js';
import { prepareTorch, readEnvironment } from '../../dist/training/environment.js';
import { runConfigOf } from '../../dist/training/options.js';
import { TrainingSession } from '../../dist/training/session.js';

/**
 * @param batch problems of a step; absent: those of the preset
 * @param prepare called when libtorch has been set up for the training
 * @returns its batch, the seconds that some more steps take, and how to end it
 */
export async function openTraining({
  system,
  preset,
  configuration,
  batch,
  device,
  precision,
  cudaGraph,
  prepare,
}) {
  const overrides = batch === undefined ? {} : { optimizer: { batchSize: batch } };
  const model = systemNamed(system).config(preset, configuration, { overrides });
  const { batchSize } = model.optimizer;
  const asked = {
    ...{ out: 'none', system, model, budget: { kind: 'steps', steps: 1e9 }, seed: 1 },
    ...{ device, precision, threads: 1, pool: 4 * batchSize, refresh: 0 },
    validation: { problems: 2 },
  };
  const config = runConfigOf(asked, readEnvironment(), null);
  prepareTorch(config);
  prepare?.();
  const session = await TrainingSession.open({
    ...{ config, storedConfig: config, checkpoint: null, stored: null, workers: 2, cudaGraph },
    ...{ observer: {}, now: () => performance.now() / 1e3, startedAt: 0 },
  });
  const { stepper } = session;
  let next = 0;
  return {
    batchSize,
    async seconds(count) {
      const start = performance.now();
      for (let left = count; left > 0;) {
        const block = Math.min(left, stepper.blockSteps);
        stepper.begin(next, null);
        for (let n = 0; n < block; n++) await stepper.step(next++);
        await stepper.finish(block);
        left -= block;
      }
      return (performance.now() - start) / 1e3;
    },
    close: () => session.close(),
  };
}
