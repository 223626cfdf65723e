/** Settings that systems share, as fields of their configurations. */
import { CONFIGURATIONS, hasGrid } from '../../matrix/index.js';
import { ConfigurationError } from '../errors.js';
import { schedule } from '../schedule.js';
import { boolean, integer, merged, oneOf } from '../schema.js';
import type { ConfigOptions, SystemConfig } from '../system.js';

/** Which problems a model is for. */
export const problemFields = { configuration: oneOf(CONFIGURATIONS), noisy: boolean };

export const optimizerFields = {
  algorithm: oneOf(['rmsprop', 'adam', 'adamw', 'sgd']),
  learningRate: schedule,
  batchSize: integer({ min: 2, max: 65536 }),
};

/** Refuses noise of a configuration that has none. */
export function requireNoisyForm({ noisy, configuration }: SystemConfig): void {
  if (!noisy || hasGrid(configuration)) return;
  throw new ConfigurationError(`config.noisy: ${configuration} has no noisy form`);
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
