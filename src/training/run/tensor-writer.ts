/**
 * Writes checkpoints. Small ones at once; large ones (hundreds of megabytes with many concepts) in a
 * thread of their own, so that training goes on meanwhile.
 */
import { startWorker } from '../../base/node.js';
import { writeSafetensorsFile } from '../../torch/index.js';
import { TrainingError } from '../errors.js';
import type { HostTensor } from './checkpoint.js';
import { CHECKSUM, checksumOf } from './checksum.js';

/** Up to this size a write is over before a thread would have started. */
const SMALL_BYTES = 64 << 20;

/** What the writing thread is given; the buffers are moved there and back. */
export interface WriteRequest {
  readonly file: string;
  readonly tensors: readonly HostTensor[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** What it answers: the buffers, and what went wrong if anything did. */
export interface WriteReply {
  readonly tensors: readonly HostTensor[];
  readonly failure: { readonly message: string; readonly code: string | undefined } | null;
}

/** Writes tensors with a checksum of them, which is looked at when they are read again. */
export function writeChecked({ file, tensors, metadata }: WriteRequest): void {
  const sources = tensors.map(({ bytes, ...rest }) => ({ ...rest, bytes: () => bytes }));
  writeSafetensorsFile(file, sources, { ...metadata, [CHECKSUM]: checksumOf(sources) });
}

export const buffersOf = (tensors: readonly HostTensor[]): ArrayBuffer[] =>
  tensors.map(({ bytes }) => bytes.buffer);

/** A set of tensors that can be written as often as it takes. */
export class PendingTensors {
  #tensors: readonly HostTensor[];

  constructor(tensors: readonly HostTensor[]) {
    this.#tensors = tensors;
  }

  async write(file: string, metadata: Readonly<Record<string, string>>): Promise<void> {
    const bytes = this.#tensors.reduce((sum, tensor) => sum + tensor.bytes.length, 0);
    if (bytes <= SMALL_BYTES) writeChecked({ file, tensors: this.#tensors, metadata });
    else await this.#writeInThread(file, metadata);
  }

  async #writeInThread(file: string, metadata: Readonly<Record<string, string>>): Promise<void> {
    const worker = startWorker(new URL('./tensor-writer-worker.js', import.meta.url));
    try {
      const answer = new Promise<WriteReply>((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
      });
      const request: WriteRequest = { file, tensors: this.#tensors, metadata };
      worker.postMessage(request, buffersOf(this.#tensors));
      const { tensors, failure } = await answer;
      this.#tensors = tensors;
      if (failure !== null) {
        throw Object.assign(new TrainingError(failure.message), { code: failure.code });
      }
    } finally {
      await worker.terminate();
    }
  }
}
