/** The TensorBoard side of a run: one event file for each process that works on it. */
import path from 'node:path';
import { AppendFile } from './append-file.js';
import { eventFileName, scalarsRecord, sessionStartRecord, versionRecord } from './event-file.js';
import type { RunFiles } from './files.js';
import type { MetricsLine } from './metrics-log.js';

/** Tags under which a line's values appear in TensorBoard. */
export function scalarsOf(line: MetricsLine): Map<string, number> {
  const scalars = new Map<string, number>();
  if (line.kind === 'train') {
    for (const [term, value] of Object.entries(line.terms)) scalars.set(`loss/${term}`, value);
    scalars.set('train/learning-rate', line.learningRate);
    scalars.set('train/epoch', line.epoch);
    if (line.wall.problemsPerSecond !== undefined) {
      scalars.set('speed/problems-per-second', line.wall.problemsPerSecond);
    }
    if (line.wall.feedShare !== undefined) scalars.set('speed/feed-share', line.wall.feedShare);
    if (line.wall.uses !== undefined) scalars.set('train/uses-per-problem', line.wall.uses);
  } else {
    for (const [variant, value] of Object.entries(line.selectionAccuracy)) {
      scalars.set(`validation/selection-accuracy-${variant}`, value);
    }
    if (line.globalSelectionAccuracy !== null) {
      scalars.set('validation/global-selection-accuracy', line.globalSelectionAccuracy);
    }
  }
  return scalars;
}

export class EventLog {
  readonly #file: AppendFile;
  readonly #now: () => number;

  /** @param firstStep the first step this process will do; what others wrote from there on is void */
  constructor(folder: string, files: RunFiles, firstStep: number, now = () => Date.now() / 1000) {
    this.#now = now;
    this.#file = new AppendFile(path.join(folder, eventFileName(now(), process.pid)), files);
    this.#file.add(versionRecord(now()));
    // At step 0 too: a process that died before its first checkpoint may have logged steps.
    this.#file.add(sessionStartRecord(now(), firstStep + 1));
  }

  add(line: MetricsLine): void {
    this.#file.add(scalarsRecord(this.#now(), line.step, scalarsOf(line)));
  }

  flush(): Promise<void> {
    return this.#file.flush();
  }
}
