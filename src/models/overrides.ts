/** What a configuration changes of its preset, so that it can be told and made again in few words. */
import { isRecord } from '../base/index.js';
import { systemNamed } from './registry.js';
import type { SystemConfig } from './system.js';

/** The parts of `changed` that `base` has otherwise; undefined if there are none. Lists are told whole. */
function differences(base: unknown, changed: unknown): unknown {
  if (!isRecord(base) || !isRecord(changed)) {
    return JSON.stringify(base) === JSON.stringify(changed) ? undefined : changed;
  }
  const entries = Object.entries(changed)
    .map(([key, value]): [string, unknown] => [key, differences(base[key], value)])
    .filter(([, value]) => value !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** The overrides with which a system makes this configuration of its preset. */
export function overridesOf(config: SystemConfig, system = 'crab'): object {
  const { preset, configuration, noisy } = config;
  const plain = systemNamed(system).config(preset, configuration, { noisy });
  return (differences(plain, config) as object | undefined) ?? {};
}
