/**
 * A checksum over all tensors of a checkpoint, kept in its metadata: a damaged weight is a number like any
 * other, and training would go on from it. Of 300 MB it takes a fifth of a second, in the writing thread.
 */
import { createHash } from 'node:crypto';
import { SafetensorsFile, type TensorSource } from '../../torch/index.js';
import { RunFormatError } from '../errors.js';

/** Where the metadata of a file has it. */
export const CHECKSUM = 'sha256';

/** Over names, kinds and bytes, in the order of the names. */
export function checksumOf(tensors: readonly TensorSource[]): string {
  const hash = createHash('sha256');
  const sorted = [...tensors].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, dtype, shape, bytes } of sorted) {
    hash.update(`${JSON.stringify([name, dtype, shape])}\n`).update(bytes());
  }
  return hash.digest('hex');
}

/** Refuses a file whose tensors are not those that were written; one without a checksum is believed. */
export function requireIntact(path: string): void {
  const file = SafetensorsFile.open(path);
  try {
    const expected = file.metadata[CHECKSUM];
    if (expected === undefined) return;
    const tensors = file.names.map((name) => ({
      ...file.describe(name),
      bytes: () => file.readBytes(name),
    }));
    if (checksumOf(tensors) === expected) return;
  } finally {
    file.close();
  }
  throw new RunFormatError(`${path}: its weights are not those that were written`);
}
