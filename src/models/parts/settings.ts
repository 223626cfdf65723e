/** Settings that systems share, as fields of their configurations. */
import { boolean, integer, oneOf, type Given } from '../../base/index.js';
import { CONFIGURATIONS, hasGrid } from '../../matrix/index.js';
import { ConfigurationError } from '../errors.js';
import { merged } from '../deep-partial.js';
import { schedule } from '../schedule.js';
import type { ConfigOptions, SystemConfig } from '../system.js';

/** Which problems a model is for. */
export const problemFields = { configuration: oneOf(CONFIGURATIONS), noisy: boolean };

export const optimizerFields = {
  algorithm: oneOf(['rmsprop', 'adam', 'adamw', 'sgd']),
  learningRate: schedule,
  batchSize: integer({ min: 2, max: 65536 }),
};

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
