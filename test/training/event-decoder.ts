/**
 * Reads TensorBoard event files for the tests, written apart from the writer: CRC-32C bit by bit,
 * protobuf fields walked generically.
 */

export interface DecodedEvent {
  wallTime: number;
  step: number;
  fileVersion?: string;
  sessionStatus?: number;
  scalars: Map<string, number>;
}

function crcBitwise(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

const unmask = (masked: number): number => {
  const rotated = (masked - 0xa282ead8) >>> 0;
  return ((rotated << 15) | (rotated >>> 17)) >>> 0;
};

type Field = { number: number; value: number | Uint8Array };

function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = (): number => {
    let result = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++];
      result += (byte & 0x7f) * factor;
      if (byte < 0x80) return result;
    }
  };
  while (at < bytes.length) {
    const key = varint();
    const number = Math.floor(key / 8);
    switch (key % 8) {
      case 0:
        yield { number, value: varint() };
        break;
      case 1:
        yield { number, value: view.getFloat64(at, true) };
        at += 8;
        break;
      case 2: {
        const length = varint();
        yield { number, value: bytes.subarray(at, at + length) };
        at += length;
        break;
      }
      case 5:
        yield { number, value: view.getFloat32(at, true) };
        at += 4;
        break;
      default:
        throw new Error(`wire type ${key % 8}`);
    }
  }
}

const text = (value: number | Uint8Array): string => new TextDecoder().decode(value as Uint8Array);

function decodeEvent(bytes: Uint8Array): DecodedEvent {
  const event: DecodedEvent = { wallTime: NaN, step: 0, scalars: new Map() };
  for (const { number, value } of fieldsOf(bytes)) {
    if (number === 1) event.wallTime = value as number;
    else if (number === 2) event.step = value as number;
    else if (number === 3) event.fileVersion = text(value);
    else if (number === 5) decodeSummary(value as Uint8Array, event.scalars);
    else if (number === 7) {
      for (const status of fieldsOf(value as Uint8Array)) {
        if (status.number === 1) event.sessionStatus = status.value as number;
      }
    } else throw new Error(`unknown field ${number} of Event`);
  }
  return event;
}

function decodeSummary(bytes: Uint8Array, scalars: Map<string, number>): void {
  for (const entry of fieldsOf(bytes)) {
    let tag = '';
    let scalar = NaN;
    for (const { number, value } of fieldsOf(entry.value as Uint8Array)) {
      if (number === 1) tag = text(value);
      if (number === 2) scalar = value as number;
    }
    scalars.set(tag, scalar);
  }
}

/** Every event of a file; throws on a wrong checksum or a cut-off record. */
export function decodeEventFile(bytes: Uint8Array): DecodedEvent[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const events: DecodedEvent[] = [];
  let at = 0;
  while (at < bytes.length) {
    const length = Number(view.getBigUint64(at, true));
    if (unmask(view.getUint32(at + 8, true)) !== crcBitwise(bytes.subarray(at, at + 8))) {
      throw new Error(`bad checksum of the length at ${at}`);
    }
    const payload = bytes.subarray(at + 12, at + 12 + length);
    if (payload.length !== length) throw new Error(`cut-off record at ${at}`);
    if (unmask(view.getUint32(at + 12 + length, true)) !== crcBitwise(payload)) {
      throw new Error(`bad checksum of the record at ${at}`);
    }
    events.push(decodeEvent(payload));
    at += length + 16;
  }
  return events;
}
