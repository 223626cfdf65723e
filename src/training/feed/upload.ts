/**
 * Moves problems from the threads that made them into the pool on the device. On CUDA the bytes go
 * through pinned memory and the copy is left to the device's queue, behind the step that runs, so
 * that neither side waits.
 */
import { MATRIX_PIXELS } from '../../matrix/index.js';
import {
  copyLater,
  keep,
  pinned,
  scope,
  zeros,
  type Device,
  type Tensor,
} from '../../torch/index.js';

export interface Uploader {
  /** Puts `count` problems into slots from `slot` on; `bytes` may be overwritten afterwards. */
  upload(bytes: Uint8Array, slot: number, count: number): void;
  close(): void;
}

/** [slots, 9, 64, 64] of bytes. */
export const emptyPool = (slots: number, device: Device): Tensor =>
  keep(zeros([slots, 9, 64, 64], { dtype: 'u8', device }));

class DirectUploader implements Uploader {
  constructor(readonly pool: Tensor) {}

  upload(bytes: Uint8Array, slot: number, count: number): void {
    // Memory shared between threads cannot be handed to libtorch: one copy makes it ours.
    const own = bytes.slice();
    scope(() => this.pool.narrow(0, slot, count).copyFrom_(own));
  }

  close(): void {}
}

class PinnedUploader implements Uploader {
  readonly #buffers: Tensor[];
  #next = 0;

  /** @param copiesInFlight how many uploads may be under way before a buffer is used again */
  constructor(
    readonly pool: Tensor,
    readonly mostProblems: number,
    copiesInFlight: number,
  ) {
    this.#buffers = Array.from({ length: copiesInFlight }, () =>
      pinned([mostProblems, 9, 64, 64], 'u8'),
    );
  }

  upload(bytes: Uint8Array, slot: number, count: number): void {
    for (let done = 0; done < count; done += this.mostProblems) {
      const part = Math.min(this.mostProblems, count - done);
      const own = bytes.slice(done * MATRIX_PIXELS, (done + part) * MATRIX_PIXELS);
      const buffer = this.#buffers[this.#next++ % this.#buffers.length];
      scope(() => {
        const staged = buffer.narrow(0, 0, part).copyFrom_(own);
        copyLater(this.pool.narrow(0, slot + done, part), staged);
      });
    }
  }

  close(): void {
    for (const buffer of this.#buffers) buffer.dispose();
  }
}

/** The way that suits the pool's device. */
export function uploaderFor(pool: Tensor, mostProblems: number, copiesInFlight: number): Uploader {
  return pool.device === 'cpu'
    ? new DirectUploader(pool)
    : new PinnedUploader(pool, mostProblems, copiesInFlight);
}
