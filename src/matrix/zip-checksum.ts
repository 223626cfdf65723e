/**
 * CRC-32 as zip and PNG use it. Whole buffers go eight bytes at a time; two checksums can be joined
 * without the bytes, so that a writer may learn an array's header after its data.
 */
import { nodeZlib } from './node-zlib.js';

const POLYNOMIAL = 0xedb88320;

/** `TABLES[k][b]`: the checksum of byte b followed by k zero bytes. */
const TABLES: readonly Uint32Array[] = makeTables();

function makeTables(): Uint32Array[] {
  const tables = Array.from({ length: 8 }, () => new Uint32Array(256));
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    tables[0][byte] = crc;
  }
  for (let k = 1; k < 8; k++) {
    for (let byte = 0; byte < 256; byte++) {
      const previous = tables[k - 1][byte];
      tables[k][byte] = tables[0][previous & 255] ^ (previous >>> 8);
    }
  }
  return tables;
}

/** The checksum in plain TypeScript, for browsers. */
export function portableCrc32(bytes: Uint8Array, before = 0): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES;
  let crc = ~before;
  let i = 0;
  for (const end = bytes.length - 7; i < end; i += 8) {
    const low =
      crc ^ (bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24));
    crc =
      t7[low & 255] ^
      t6[(low >>> 8) & 255] ^
      t5[(low >>> 16) & 255] ^
      t4[low >>> 24] ^
      t3[bytes[i + 4]] ^
      t2[bytes[i + 5]] ^
      t1[bytes[i + 6]] ^
      t0[bytes[i + 7]];
  }
  for (; i < bytes.length; i++) crc = t0[(crc ^ bytes[i]) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** The checksum of `bytes`, or of everything before (given by its checksum) followed by `bytes`. */
export function crc32(bytes: Uint8Array, before = 0): number {
  // zlib takes an empty buffer for none at all and forgets what was before.
  return bytes.length === 0 ? before : fastestCrc32(bytes, before);
}

const fastestCrc32 = nodeZlib?.crc32 ?? portableCrc32;

/**
 * The checksum of a sequence from those of its two parts. Appending n zero bits is a linear map over
 * GF(2); squaring its matrix doubles n, so any length takes few steps.
 */
export function combineCrc32(first: number, second: number, secondLength: number): number {
  // One zero bit: shift right, and the polynomial where a one falls out.
  let matrix = Uint32Array.from({ length: 32 }, (_, bit) =>
    bit === 0 ? POLYNOMIAL : 2 ** (bit - 1),
  );
  for (let doublings = 0; doublings < 3; doublings++) matrix = square(matrix); // one zero byte
  let crc = first;
  for (let rest = secondLength; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) crc = apply(matrix, crc);
    matrix = square(matrix);
  }
  return (crc ^ second) >>> 0;
}

function apply(matrix: Uint32Array, vector: number): number {
  let sum = 0;
  for (let bit = 0; bit < 32; bit++) if ((vector >>> bit) & 1) sum ^= matrix[bit];
  return sum >>> 0;
}

const square = (matrix: Uint32Array): Uint32Array<ArrayBuffer> =>
  Uint32Array.from(matrix, (column) => apply(matrix, column));
