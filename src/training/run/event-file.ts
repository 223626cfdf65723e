/**
 * TensorBoard event files: TFRecords (length, masked CRC-32C, bytes, masked CRC-32C) of `Event`
 * protobuf messages that hold scalars. Only the few fields needed are written, by hand:
 *
 *   Event   { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5;
 *             SessionLog session_log = 7 }
 *   Summary { repeated Value value = 1 }     Value { string tag = 1; float simple_value = 2 }
 *   SessionLog { enum status = 1 }           START = 1
 *
 * Every process that works on a run writes a file of its own. One that resumes at step s begins with
 * a session START at s, on which TensorBoard drops what an earlier process wrote at s or later.
 */
import { maskedCrc32c } from './crc32c.js';

const WIRE_VARINT = 0;
const WIRE_64_BIT = 1;
const WIRE_BYTES = 2;
const WIRE_32_BIT = 5;
const SESSION_START = 1;

const encoder = new TextEncoder();

/** Grows a list of bytes by protobuf fields. */
class Message {
  readonly #bytes: number[] = [];

  #varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes.push((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes.push(rest);
  }

  #key(field: number, wire: number): void {
    this.#varint(field * 8 + wire);
  }

  double(field: number, value: number): this {
    this.#key(field, WIRE_64_BIT);
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, value, true);
    this.#bytes.push(...bytes);
    return this;
  }

  float(field: number, value: number): this {
    this.#key(field, WIRE_32_BIT);
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setFloat32(0, value, true);
    this.#bytes.push(...bytes);
    return this;
  }

  int(field: number, value: number): this {
    this.#key(field, WIRE_VARINT);
    this.#varint(value);
    return this;
  }

  bytes(field: number, value: Uint8Array): this {
    this.#key(field, WIRE_BYTES);
    this.#varint(value.length);
    this.#bytes.push(...value);
    return this;
  }

  text(field: number, value: string): this {
    return this.bytes(field, encoder.encode(value));
  }

  message(field: number, value: Message): this {
    return this.bytes(field, value.finish());
  }

  finish(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}

function record(payload: Uint8Array): Uint8Array {
  const out = new Uint8Array(payload.length + 16);
  const view = new DataView(out.buffer);
  view.setBigUint64(0, BigInt(payload.length), true);
  view.setUint32(8, maskedCrc32c(out.subarray(0, 8)), true);
  out.set(payload, 12);
  view.setUint32(12 + payload.length, maskedCrc32c(payload), true);
  return out;
}

const event = (seconds: number, step: number): Message =>
  new Message().double(1, seconds).int(2, step);

/** The first record of every event file. */
export const versionRecord = (seconds: number): Uint8Array =>
  record(new Message().double(1, seconds).text(3, 'brain.Event:2').finish());

/** Marks that whatever was written at `step` or later, by anyone, is void. */
export const sessionStartRecord = (seconds: number, step: number): Uint8Array =>
  record(event(seconds, step).message(7, new Message().int(1, SESSION_START)).finish());

/** Scalars of one step; values that are not finite are legal floats and kept. */
export function scalarsRecord(
  seconds: number,
  step: number,
  scalars: ReadonlyMap<string, number>,
): Uint8Array {
  const summary = new Message();
  for (const [tag, value] of scalars) {
    summary.message(1, new Message().text(1, tag).float(2, value));
  }
  return record(event(seconds, step).message(5, summary).finish());
}

/** A name TensorBoard recognises ("tfevents" in it) and sorts by time. */
export const eventFileName = (seconds: number, processId: number): string =>
  `events.out.tfevents.${Math.floor(seconds).toString().padStart(10, '0')}.${processId}`;
