/** What a configuration changes of its preset, so that it can be told and made again in few words. */
import { isRecord } from '../../base/index.js';
import type { DeepPartial } from '../deep-partial.js';
import type { CrabConfig } from './config.js';
import { crabConfig } from './presets.js';

/** The parts of `changed` that `base` has otherwise; undefined where there are none. Lists are told whole. */
function differences(base: unknown, changed: unknown): unknown {
  if (!isRecord(base) || !isRecord(changed)) {
    return JSON.stringify(base) === JSON.stringify(changed) ? undefined : changed;
  }
  const entries = Object.entries(changed)
    .map(([key, value]): [string, unknown] => [key, differences(base[key], value)])
    .filter(([, value]) => value !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** The overrides with which `crabConfig` makes this configuration of its preset. */
export function overridesOf(config: CrabConfig): DeepPartial<CrabConfig> {
  const { preset, configuration, noisy } = config;
  const plain = crabConfig(preset, configuration, { noisy });
  return differences(plain, config) ?? {};
}
