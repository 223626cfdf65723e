/** Whether all ranks still hold the same model, bit for bit: nothing else would notice if they did not. */
import { createHash } from 'node:crypto';
import type { nn } from '../../torch/index.js';
import { TrainingError } from '../errors.js';
import type { Team } from './team.js';

/** SHA-256 over all state of a module. */
export function fingerprintOf(module: nn.Module): Buffer {
  const hash = createHash('sha256');
  for (const [name, tensor] of module.stateDict()) {
    const bits = tensor.bits();
    hash.update(name).update(new Uint8Array(bits.buffer, bits.byteOffset, bits.byteLength));
  }
  return hash.digest();
}

/** Throws on every rank if any holds another model than the first. */
export function requireSameModel(module: nn.Module, team: Team): void {
  if (team.size === 1) return;
  const own = fingerprintOf(module).readUIntBE(0, 6);
  if (team.anyOf(own !== team.firstOf(own))) {
    throw new TrainingError(
      'the ranks no longer hold the same weights; the last checkpoint is kept',
    );
  }
}
