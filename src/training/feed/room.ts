/**
 * Whether the memory of this machine can hold the problems of a run. If it cannot, the system would kill the
 * process without a word after minutes of drawing problems.
 */
import { totalmem } from 'node:os';
import { counted, gibibytes } from '../../base/index.js';
import { TrainingError } from '../errors.js';
import type { RecordLayout } from './record.js';

/** The rest is for the network, its gradients and validation. */
const SHARE_OF_PROBLEMS = 3 / 4;

/**
 * Memory that this process may have, also in a container with less than the machine. Not what is free at the
 * moment: in a container files that were read lately count as taken, and others may be done soon.
 */
function memoryLimit(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** Refuses more problems than fit into memory; `advice` says how to have fewer. */
export function requireRoom(
  problems: number,
  { bytes, pictures, imageSize }: Pick<RecordLayout, 'bytes' | 'pictures' | 'imageSize'>,
  advice: string,
  memory = memoryLimit(),
): void {
  const most = Math.floor((SHARE_OF_PROBLEMS * memory) / bytes);
  if (problems <= most) return;
  throw new TrainingError(
    `${counted(problems, 'problem')} of ${pictures} pictures of ${imageSize}x${imageSize} take ${gibibytes(problems * bytes)} GiB of the ${gibibytes(memory)} GiB of memory here, which the network needs too: ${advice.replace('FEWER', String(most))}`,
  );
}
