/** Every system, by name. A new one is a folder beside this file and a line here. */
import { ConfigurationError } from './errors.js';
import { anp } from './anp/system.js';
import { clapNp } from './clap-np/system.js';
import { cnn } from './cnn/system.js';
import { cnnDrt } from './cnn-drt/system.js';
import { copinet } from './copinet/system.js';
import { crab } from './crab/system.js';
import { len } from './len/system.js';
import { lgpp } from './lgpp/system.js';
import { lstm } from './lstm/system.js';
import { lstmDrt } from './lstm-drt/system.js';
import { resnet } from './resnet/system.js';
import { resnetDrt } from './resnet-drt/system.js';
import { scl } from './scl/system.js';
import { sran } from './sran/system.js';
import type { System } from './system.js';
import { transformer } from './transformer/system.js';
import { wren } from './wren/system.js';

export const SYSTEMS: readonly System[] = [
  crab,
  ...[transformer, anp, lgpp, clapNp],
  ...[lstm, cnn, resnet, lstmDrt, cnnDrt, resnetDrt, wren, sran, len, copinet, scl],
];

export const SYSTEM_NAMES: readonly string[] = SYSTEMS.map(({ name }) => name);

/** A system by its name. */
export function systemNamed(name: string): System {
  const system = SYSTEMS.find((each) => each.name === name);
  if (system) return system;
  throw new ConfigurationError(`system "${name}": expected one of ${SYSTEM_NAMES.join(', ')}`);
}
