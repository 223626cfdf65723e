/**
 * Whether the memory of this machine can hold the problems of a run. If it cannot, the system would kill the
 * process without a word after minutes of drawing problems.
 */
import { freemem, totalmem } from 'node:os';
import { counted } from '../../base/index.js';
import { TrainingError } from '../errors.js';
import type { RecordLayout } from './record.js';

/** The rest is for the network, its gradients and validation. */
const SHARE_OF_PROBLEMS = 3 / 4;

/** Memory that a process can still get. Other systems than Linux tell only of memory that nothing uses. */
function availableBytes(): number {
  if (process.platform !== 'linux') return totalmem();
  return 'availableMemory' in process ? process.availableMemory() : freemem();
}

const gibibytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

/** Refuses more problems than fit into memory; `advice` says how to have fewer. */
export function requireRoom(
  problems: number,
  { bytes, pictures, imageSize }: Pick<RecordLayout, 'bytes' | 'pictures' | 'imageSize'>,
  advice: string,
  available = availableBytes(),
): void {
  const most = Math.floor((SHARE_OF_PROBLEMS * available) / bytes);
  if (problems <= most) return;
  throw new TrainingError(
    `${counted(problems, 'problem')} of ${pictures} pictures of ${imageSize}x${imageSize} take ${gibibytes(problems * bytes)} of memory, and ${gibibytes(available)} are free here, which the network needs too: ${advice.replace('FEWER', String(most))}`,
  );
}
