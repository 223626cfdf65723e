/**
 * What feeds have in common whose problems threads make: room for records on the device, the stream that
 * fills it through an uploader, and the time that this takes.
 */
import type { Device, Tensor } from '../../torch/index.js';
import { STEPS_AHEAD } from '../step/stepper.js';
import type { Feed, FeedSlots, FeedState } from './feed.js';
import { ProblemStream, type StreamOptions } from './problem-stream.js';
import { requireRoom } from './room.js';
import { emptyPool, uploaderFor, type Uploader } from './upload.js';

/** Problems made and copied at a time. */
export const CHUNK_PROBLEMS = 32;

interface ThreadedFeedOptions extends StreamOptions {
  readonly chunkProblems: number;
  readonly device: Device;
  /** Records that the device holds. */
  readonly room: number;
  /** Most problems that a step puts there. */
  readonly mostPerStep: number;
}

export abstract class ThreadedFeed implements Feed {
  abstract readonly size: number;
  abstract readonly slots: FeedSlots;
  abstract readonly problems: number;
  readonly records: Tensor;
  protected readonly stream: ProblemStream;
  protected readonly uploader: Uploader;
  #milliseconds = 0;

  protected constructor(options: ThreadedFeedOptions) {
    const { record, device, room, mostPerStep, chunkProblems } = options;
    if (device === 'cpu') requireRoom(room, record, '--pool FEWER takes fewer of them');
    this.records = emptyPool(room, record.bytes, device);
    // Those of every step that the host may be ahead of the device, and of one to spare.
    const copies = (STEPS_AHEAD + 1) * (Math.ceil(mostPerStep / chunkProblems) + 2);
    this.uploader = uploaderFor(this.records, chunkProblems, copies);
    this.stream = new ProblemStream(options);
  }

  /** Puts the problems of a step in their slots. */
  protected abstract fill(step: number): Promise<void>;

  async prepare(step: number): Promise<void> {
    const start = performance.now();
    await this.fill(step);
    this.#milliseconds += performance.now() - start;
  }

  takeMilliseconds(): number {
    const spent = this.#milliseconds;
    this.#milliseconds = 0;
    return spent;
  }

  state(): FeedState {
    return { kind: 'stream', produced: this.problems };
  }

  async close(): Promise<void> {
    await this.stream.close();
    this.uploader.close();
    this.records.dispose();
  }
}
