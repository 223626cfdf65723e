/** Every system, by name. A new one is a folder beside this file and a line here. */
import { ConfigurationError } from './errors.js';
import { cnn } from './cnn/system.js';
import { crab } from './crab/system.js';
import type { System } from './system.js';

export const SYSTEMS: readonly System[] = [crab, cnn];

export const SYSTEM_NAMES: readonly string[] = SYSTEMS.map(({ name }) => name);

/** A system by its name. */
export function systemNamed(name: string): System {
  const system = SYSTEMS.find((each) => each.name === name);
  if (system) return system;
  throw new ConfigurationError(`system "${name}": expected one of ${SYSTEM_NAMES.join(', ')}`);
}
