/**
 * The logs of a run, which only grow: `metrics.jsonl` and TensorBoard's event files.
 *
 * `metrics.jsonl` holds one JSON object a line, each with the number of steps done when it was written.
 * After a crash the last line may be cut off; it is dropped on opening. A run resumed at step s drops
 * the lines after s, since it will write them again. What can differ between two otherwise identical
 * runs (seconds, rates) is under `wall`, and nowhere else.
 *
 * Every process that works on a run writes an event file of its own, which begins with a session START:
 * on that, TensorBoard drops what earlier processes wrote at that step or later. An event file is a
 * sequence of TFRecords (length, masked CRC-32C, bytes, masked CRC-32C) of `Event` messages.
 */
import { truncate } from 'node:fs/promises';
import path from 'node:path';
import protobuf from 'protobufjs';
import { RunFormatError } from '../errors.js';
import { METRICS_FILE, readRunFile, readText, type RunFiles, sizeOf } from './folder.js';

interface WallClock {
  /** Seconds of training so far, over all processes that worked on the run. */
  readonly seconds: number;
  readonly problemsPerSecond?: number;
  /** Milliseconds a step spent on the feed, and their share of the step. */
  readonly feedMilliseconds?: number;
  readonly feedShare?: number;
  /** How often a problem was used so far; differs between runs if the pool is refilled freely. */
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
  /** In-batch selection accuracy: 8 candidates, one target at a random position. */
  readonly globalSelectionAccuracy: number | null;
  /** Whether this is the best so far by the preset's criterion. */
  readonly best: boolean;
  readonly wall: WallClock;
}

export type MetricsLine = TrainMetrics | ValidationMetrics;

/**
 * A file that only grows, kept in memory as well: adding never touches the disk and cannot fail;
 * flushing can, and may simply be tried again. If the file has vanished or was cut, the next flush
 * writes all of it. What a run appends stays within a few megabytes.
 */
export class GrowingFile {
  #chunks: Uint8Array[];
  /** Bytes known to be on disk. */
  #flushed: number;

  /** @param existing what is on disk already */
  constructor(
    readonly path: string,
    readonly files: RunFiles,
    existing = new Uint8Array(0),
  ) {
    this.#chunks = [existing];
    this.#flushed = existing.length;
  }

  add(bytes: Uint8Array): void {
    this.#chunks.push(bytes);
  }

  /** Brings the disk up to date. What is added meanwhile waits for the next flush. */
  async flush(): Promise<void> {
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all];
    const size = (await sizeOf(this.path)) ?? -1;
    if (size < this.#flushed) this.#flushed = 0;
    if (size >= 0 && this.#flushed === all.length) return;
    await this.files.writeTail(this.path, this.#flushed, all.subarray(this.#flushed));
    this.#flushed = all.length;
  }
}

function parseLine(text: string, number: number, file: string): MetricsLine {
  try {
    const line = JSON.parse(text) as MetricsLine | null;
    const isKnown = line?.kind === 'train' || line?.kind === 'validation';
    if (isKnown && Number.isSafeInteger(line.step)) return line;
  } catch {
    // Refused below.
  }
  throw new RunFormatError(`${file}: line ${number} is not an entry of a metrics log`);
}

/** The complete lines of a metrics file; a last line without its newline was cut off and is dropped. */
export function parseMetrics(bytes: Uint8Array, file = METRICS_FILE): MetricsLine[] {
  const lines = Buffer.from(bytes).toString('utf8').split('\n').slice(0, -1);
  return lines.map((text, index) => parseLine(text, index + 1, file));
}

/** The lines of the metrics log in a folder. */
export async function readMetrics(folder: string): Promise<MetricsLine[]> {
  const file = path.join(folder, METRICS_FILE);
  return (await sizeOf(file)) === null ? [] : parseMetrics(await readRunFile(file), file);
}

/** The fields that we write of TensorFlow's event.proto. */
const EVENT = protobuf
  .parse(
    `syntax = "proto3";
    message Event {
      double wall_time = 1; int64 step = 2; string file_version = 3;
      Summary summary = 5; SessionLog session_log = 7;
    }
    message Summary { repeated Value value = 1; }
    message Value { string tag = 1; float simple_value = 2; }
    message SessionLog { int32 status = 1; }`,
  )
  .root.lookupType('Event');
const SESSION_START = 1;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0x82f63b78 : 0);
  return value;
});

/** CRC-32C, rotated and shifted as TFRecords want it, so that it may itself be part of checked data. */
export function maskedCrc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = CRC_TABLE[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  crc = ~crc;
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** One record of an event file. */
export function eventRecord(event: Record<string, unknown>): Uint8Array {
  const payload = EVENT.encode(event).finish();
  const out = Buffer.alloc(payload.length + 16);
  out.writeBigUInt64LE(BigInt(payload.length));
  out.writeUInt32LE(maskedCrc32c(out.subarray(0, 8)), 8);
  out.set(payload, 12);
  out.writeUInt32LE(maskedCrc32c(payload), 12 + payload.length);
  return out;
}

const tagged = (prefix: string, values: Readonly<Record<string, number>>): [string, number][] =>
  Object.entries(values).map(([name, value]) => [prefix + name, value]);

/** A line's values with the tags under which TensorBoard shows them. */
function scalarsOf(line: MetricsLine): [string, number | undefined][] {
  if (line.kind === 'validation') {
    return [
      ...tagged('validation/selection-accuracy-', line.selectionAccuracy),
      ['validation/global-selection-accuracy', line.globalSelectionAccuracy ?? undefined],
    ];
  }
  return [
    ...tagged('loss/', line.terms),
    ['train/learning-rate', line.learningRate],
    ['train/epoch', line.epoch],
    ['speed/problems-per-second', line.wall.problemsPerSecond],
    ['speed/feed-share', line.wall.feedShare],
    ['train/uses-per-problem', line.wall.uses],
  ];
}

/** Both logs of the process that trains. */
export class RunLogs {
  private constructor(
    readonly metrics: GrowingFile,
    readonly events: GrowingFile,
    readonly now: () => number,
  ) {}

  /**
   * Opens the logs of a run that goes on after `step` steps.
   * @param now the time of day in seconds
   */
  static async open(
    folder: string,
    files: RunFiles,
    step: number,
    now = () => Date.now() / 1000,
  ): Promise<RunLogs> {
    const file = path.join(folder, METRICS_FILE);
    const count = (await readMetrics(folder)).filter((line) => line.step <= step).length;
    const text = count === 0 ? '' : await readText(file);
    const kept = Buffer.from(text.split('\n').slice(0, count).concat('').join('\n'));
    // Cutting a file works on a full disk too.
    if (((await sizeOf(file)) ?? 0) > kept.length) await truncate(file, kept.length);
    // A name that TensorBoard recognises ("tfevents" in it) and sorts by time.
    const second = Math.floor(now()).toString().padStart(10, '0');
    const name = `events.out.tfevents.${second}.${process.pid}`;
    const events = new GrowingFile(path.join(folder, name), files);
    events.add(eventRecord({ wallTime: now(), fileVersion: 'brain.Event:2' }));
    // At step 0 too: a process that died before its first checkpoint may have logged steps.
    const sessionLog = { status: SESSION_START };
    events.add(eventRecord({ wallTime: now(), step: step + 1, sessionLog }));
    return new RunLogs(new GrowingFile(file, files, kept), events, now);
  }

  add(line: MetricsLine): void {
    this.metrics.add(Buffer.from(`${JSON.stringify(line)}\n`));
    const value = scalarsOf(line)
      .filter(([, scalar]) => scalar !== undefined)
      .map(([tag, simpleValue]) => ({ tag, simpleValue }));
    this.events.add(eventRecord({ wallTime: this.now(), step: line.step, summary: { value } }));
  }

  async flush(): Promise<void> {
    await this.metrics.flush();
    await this.events.flush();
  }
}
