/**
 * Compares typed arrays by their bytes. Vitest's own comparison goes element by element, which takes seconds
 * for the pixels of a few problems.
 */
import { expect } from 'vitest';

type Bytes = Uint8Array<ArrayBufferLike>;

function bytesOf(value: unknown): Bytes | null {
  if (!ArrayBuffer.isView(value) || value instanceof DataView) return null;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

const kindOf = (value: unknown): string => Object.prototype.toString.call(value);

expect.addEqualityTesters([
  (a: unknown, b: unknown) => {
    const [first, second] = [bytesOf(a), bytesOf(b)];
    if (first === null || second === null || kindOf(a) !== kindOf(b)) return undefined;
    // Anything else is left to Vitest, which knows that one NaN equals another, and shows what differs.
    return Buffer.compare(first, second) === 0 ? true : undefined;
  },
]);
