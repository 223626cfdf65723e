/**
 * A ring of chunks in shared memory through which worker threads hand over problems in order. Chunk k
 * holds problems first + k * chunkProblems onward and always lies in place k mod places; whichever
 * worker is free takes the next chunk number, so the content never depends on their speed. A worker
 * waits while its place still holds a chunk that has not been taken.
 */
import { MATRIX_PIXELS } from '../../matrix/index.js';

/** What a worker needs to join a ring; every field can be sent to a thread. */
export interface RingMemory {
  readonly control: SharedArrayBuffer;
  readonly data: SharedArrayBuffer;
  readonly chunkProblems: number;
  readonly places: number;
}

/** Words of the control block before the marks of the places. */
const NEXT = 0;
const TAKEN = 1;
const STOPPED = 2;
const WAITING = 3;
const MARKS = 4;

export function createRing(chunkProblems: number, places: number): RingMemory {
  return {
    control: new SharedArrayBuffer((MARKS + places) * Int32Array.BYTES_PER_ELEMENT),
    data: new SharedArrayBuffer(places * chunkProblems * MATRIX_PIXELS),
    chunkProblems,
    places,
  };
}

/** What both sides share. */
class RingSide {
  protected readonly control: Int32Array;

  constructor(readonly memory: RingMemory) {
    this.control = new Int32Array(memory.control);
  }

  /** The bytes of a chunk, in place. */
  bytesOf(chunk: number): Uint8Array {
    const length = this.memory.chunkProblems * MATRIX_PIXELS;
    return new Uint8Array(this.memory.data, (chunk % this.memory.places) * length, length);
  }

  protected markOf(chunk: number): number {
    return MARKS + (chunk % this.memory.places);
  }
}

/** A worker's side. */
export class RingProducer extends RingSide {
  /** The number of the next chunk to make, or null once the ring is stopped. */
  claim(): number | null {
    const chunk = Atomics.add(this.control, NEXT, 1);
    for (;;) {
      if (Atomics.load(this.control, STOPPED) === 1) return null;
      const taken = Atomics.load(this.control, TAKEN);
      if (chunk < taken + this.memory.places) return chunk;
      Atomics.wait(this.control, TAKEN, taken);
    }
  }

  /** Hands a chunk over; returns whether the other side sleeps and must be woken by a message. */
  publish(chunk: number): boolean {
    Atomics.store(this.control, this.markOf(chunk), chunk + 1);
    return Atomics.load(this.control, WAITING) === 1;
  }
}

/** The side that takes chunks, strictly in order. */
export class RingConsumer extends RingSide {
  isReady(chunk: number): boolean {
    return Atomics.load(this.control, this.markOf(chunk)) === chunk + 1;
  }

  /** Says that the oldest chunk is no longer needed; its place is free for another. */
  release(): void {
    Atomics.add(this.control, TAKEN, 1);
    Atomics.notify(this.control, TAKEN);
  }

  /** Asks producers to send a message with each chunk from now on, or no more. */
  setWaiting(waiting: boolean): void {
    Atomics.store(this.control, WAITING, waiting ? 1 : 0);
  }

  stop(): void {
    Atomics.store(this.control, STOPPED, 1);
    // Changes the word producers wait on, so that one about to sleep does not.
    Atomics.add(this.control, TAKEN, 1);
    Atomics.notify(this.control, TAKEN);
  }
}
