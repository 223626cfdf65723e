/** A stored set as a feed: read once, checked against what the run was started with, kept as bytes. */
import { createHash } from 'node:crypto';
import { ArgumentError } from '../../base/index.js';
import { batches, MATRIX_PIXELS, type Configuration } from '../../matrix/index.js';
import { openProblems } from '../../matrix/node.js';
import { keep, type Device, type Tensor } from '../../torch/index.js';
import type { StoredData } from '../options.js';
import { deviceTensor } from '../tensors.js';
import type { Feed, FeedState } from './feed.js';

/** The panels of a stored set in memory. */
export interface StoredPanels {
  readonly data: StoredData;
  /** u8 [problems, 9, 64, 64] */
  readonly panels: Uint8Array;
}

const BATCH = 256;

/**
 * Reads the panels of a set file, or of the train split of a RAVEN folder.
 * @param file absolute
 */
export async function readStoredPanels(
  file: string,
  configuration: Configuration,
  noisy: boolean,
): Promise<StoredPanels> {
  const source = await openProblems(file, { configuration, noisy, part: 'train' });
  try {
    if (source.count === 0) throw new ArgumentError(`${file} holds no training problems`);
    const panels = new Uint8Array(source.count * MATRIX_PIXELS);
    let at = 0;
    for await (const batch of batches(source, BATCH)) {
      panels.set(batch.panel, at);
      at += batch.panel.length;
    }
    const sha256 = createHash('sha256').update(panels).digest('hex');
    return { data: { kind: 'set', path: file, problems: source.count, sha256 }, panels };
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
  readonly panels: Tensor;

  constructor(stored: StoredPanels, device: Device) {
    this.size = stored.data.problems;
    // [problems, 9, 64, 64]
    this.panels = keep(deviceTensor(stored.panels, [this.size, 9, 64, 64], device));
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
    this.panels.dispose();
    return Promise.resolve();
  }
}
