/** Settings that systems share, as fields of their configurations. */
import { boolean, integer, list, oneOf, type Given } from '../../base/index.js';
import { CONFIGURATIONS, hasGrid } from '../../matrix/index.js';
import { ConfigurationError } from '../errors.js';
import { merged } from '../deep-partial.js';
import { between, schedule } from '../schedule.js';
import type { ConfigOptions, SystemConfig } from '../system.js';

/** The width of a layer, or how many channels it has; and several. */
export const width = integer({ min: 1, max: 16384 });
export const widths = list(width, { min: 1, max: 16 });

/** Which problems a model is for. */
export const problemFields = { configuration: oneOf(CONFIGURATIONS), noisy: boolean };

export const optimizerFields = {
  algorithm: oneOf(['rmsprop', 'adam', 'adamw', 'sgd']),
  learningRate: schedule,
  batchSize: integer({ min: 2, max: 65536 }),
};

/** Problems that CRAB's authors trained every system on. */
export const PAPER_PROBLEMS = 6000;

/** Adam's rate in our own presets: high for two thirds of a training, then falling. */
export const FALLING_RATE = between([0, 1e-4], [0.02, 1e-3], [0.65, 1e-3], [1, 1e-5]);

/** Refuses noise of a configuration that has none. */
export function requireNoisyForm(
  given: Given,
  { noisy, configuration }: Pick<SystemConfig, 'noisy' | 'configuration'>,
): void {
  if (noisy && !hasGrid(configuration)) {
    given.member('noisy').fail(`${configuration} has no noisy form`);
  }
}

/** A preset's settings, layer upon layer, with the changes that were asked for; to be parsed. */
export function presetSettings(
  chosen: Pick<SystemConfig, 'preset' | 'configuration'>,
  layers: readonly object[],
  { noisy = false, overrides = {} }: ConfigOptions = {},
): unknown {
  const base = { ...chosen, noisy };
  const misplaced = Object.keys(overrides).find((key) => key in base);
  if (misplaced !== undefined) {
    throw new ConfigurationError(
      `config: "${misplaced}" is chosen beside the overrides, not by them`,
    );
  }
  return [...layers, overrides].reduce<unknown>(merged, base);
}
