/**
 * `metrics.jsonl`: one JSON object a line, each with the number of steps done when it was written.
 * After a crash the last line may be cut off; it is dropped on opening. A run resumed at step s
 * drops the lines after s, since it will write them again. What can differ between two otherwise
 * identical runs (seconds, rates) is under `wall`, and nowhere else.
 */
import { integer, objectWith, oneOf, parseJson, read } from '../../base/index.js';
import { RunFormatError } from '../errors.js';
import { AppendFile } from './append-file.js';
import type { RunFiles } from './files.js';

export interface WallClock {
  /** Seconds of training so far, over all processes that worked on the run. */
  readonly seconds: number;
  readonly problemsPerSecond?: number;
  /** Milliseconds a step spent on the feed, and their share of the step. */
  readonly feedMilliseconds?: number;
  readonly feedShare?: number;
  /** How often a problem was used so far; differs between runs where the pool is refilled freely. */
  readonly uses?: number;
}

/** Means of the loss terms since the line before. */
export interface TrainMetrics {
  readonly kind: 'train';
  readonly step: number;
  readonly epoch: number;
  readonly learningRate: number;
  readonly terms: Readonly<Record<string, number>>;
  readonly wall: WallClock;
}

export interface ValidationMetrics {
  readonly kind: 'validation';
  readonly step: number;
  /** Selection accuracy on candidates, by variant. */
  readonly selectionAccuracy: Readonly<Record<string, number>>;
  /** In-batch selection accuracy: 8 candidates, one target at a random position; null if only the last can be. */
  readonly globalSelectionAccuracy: number | null;
  /** Whether this is the best so far by the preset's criterion. */
  readonly best: boolean;
  readonly wall: WallClock;
}

export type MetricsLine = TrainMetrics | ValidationMetrics;

export const METRICS_FILE = 'metrics.jsonl';
const NEWLINE = 10;

const head = objectWith({ kind: oneOf(['train', 'validation']), step: integer() });

function parseLine(text: string, number: number, path: string): MetricsLine {
  const name = `${path}: line ${number}`;
  const line = parseJson(text, RunFormatError, name);
  read(head, line, RunFormatError, name);
  return line as MetricsLine;
}

/** The complete lines of a metrics file; a last line without its newline was cut off and is dropped. */
export function parseMetrics(bytes: Uint8Array, path = METRICS_FILE): MetricsLine[] {
  const complete = Buffer.from(bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1)).toString('utf8');
  return complete
    .split('\n')
    .slice(0, -1)
    .map((text, index) => parseLine(text, index + 1, path));
}

/** Number of leading bytes that hold the lines up to and including step `step`. */
function bytesUpTo(bytes: Uint8Array, step: number, path: string): number {
  const lines = parseMetrics(bytes, path);
  let end = 0;
  for (const line of lines) {
    if (line.step > step) break;
    end = bytes.indexOf(NEWLINE, end) + 1;
  }
  return end;
}

export class MetricsLog {
  readonly #file: AppendFile;

  private constructor(file: AppendFile) {
    this.#file = file;
  }

  static create(path: string, files: RunFiles): MetricsLog {
    return new MetricsLog(new AppendFile(path, files));
  }

  /** Opens the log of a run that continues after `step` steps. */
  static async resume(path: string, files: RunFiles, step: number): Promise<MetricsLog> {
    if ((await files.size(path)) === null) return MetricsLog.create(path, files);
    const bytes = await files.read(path);
    const end = bytesUpTo(bytes, step, path);
    if (end < bytes.length) await files.writeTail(path, end, new Uint8Array(0));
    return new MetricsLog(new AppendFile(path, files, bytes.slice(0, end)));
  }

  add(line: MetricsLine): void {
    this.#file.add(Buffer.from(`${JSON.stringify(line)}\n`));
  }

  flush(): Promise<void> {
    return this.#file.flush();
  }
}
