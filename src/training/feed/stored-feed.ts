/** A stored set as a feed: read once, checked against what the run was started with, kept as bytes. */
import { createHash } from 'node:crypto';
import { ArgumentError, batches, layoutOf, type Configuration } from '../../matrix/index.js';
import { checkData, openProblems } from '../../matrix/node.js';
import { keep, tensor, type Device, type Tensor } from '../../torch/index.js';
import type { StoredData } from '../options.js';
import type { Feed, FeedState } from './feed.js';
import { storeRecord, type RecordLayout } from './record.js';
import { requireRoom } from './room.js';

/** The records of a stored set in memory. */
export interface StoredRecords {
  readonly data: StoredData;
  /** u8 [problems, bytes] */
  readonly records: Uint8Array;
  /** In what its problems differ from those of the model's configuration, to follow its name; empty if in nothing. */
  readonly differences: string;
}

const BATCH = 256;

/**
 * Reads the problems of a set file, or of the train split of a RAVEN folder.
 * @param file absolute
 */
export async function readStored(
  file: string,
  record: RecordLayout,
  configuration: Configuration,
  noisy: boolean,
): Promise<StoredRecords> {
  const side = record.imageSize;
  const source = await openProblems(file, { configuration, noisy, part: 'train', side });
  try {
    const { count } = source;
    if (count === 0) throw new ArgumentError(`${file} holds no training problems`);
    const { inWords } = await checkData(file, source, { configuration, noisy });
    requireRoom(count, record, `${file} must have FEWER or less`);
    const layout = layoutOf(configuration, noisy);
    const records = new Uint8Array(count * record.bytes);
    let at = 0;
    for await (const batch of batches(source, BATCH)) {
      for (let n = 0; n < batch.count; n++, at += record.bytes) {
        storeRecord(record, batch, n, layout, records, at);
      }
    }
    const sha256 = createHash('sha256').update(records).digest('hex');
    const data = { kind: 'set', path: file, problems: count, sha256 } as const;
    return { data, records, differences: inWords };
  } finally {
    await source.close();
  }
}

/** Refuses a set that is not the one a run was started with. */
export function requireSameData(found: StoredData, expected: StoredData): void {
  if (found.sha256 === expected.sha256) return;
  throw new ArgumentError(
    `${expected.path} has changed since the run was started: ${found.problems} problems now, ${expected.problems} then`,
  );
}

export class StoredFeed implements Feed {
  readonly size: number;
  readonly slots = 'shared';
  readonly records: Tensor;

  constructor({ data, records }: StoredRecords, device: Device) {
    this.size = data.problems;
    this.records = keep(
      tensor(records, { shape: [this.size, records.length / this.size], device }),
    );
  }

  get problems(): number {
    return this.size;
  }

  prepare(): Promise<void> {
    return Promise.resolve();
  }

  takeMilliseconds(): number {
    return 0;
  }

  state(): FeedState {
    return { kind: 'set' };
  }

  close(): Promise<void> {
    this.records.dispose();
    return Promise.resolve();
  }
}
