/** Numbers of 16 bits (IEEE 754 binary16), rounded to nearest even. */

const asFloat = new Float32Array(1);
const asBits = new Uint32Array(asFloat.buffer);

/** The 16 bits of the closest number; beyond 65504 an infinity. */
export function halfBits(value: number): number {
  asFloat[0] = value;
  const bits = asBits[0];
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00; // not a number
  if (magnitude >= 0x477ff000) return sign | 0x7c00; // rounds beyond the largest
  if (magnitude < 0x38800000) {
    // Below 2^-14 the steps are 2^-24 wide; the addition of 0.5 rounds to that step, ties to even.
    asFloat[0] = Math.abs(value);
    asFloat[0] += 0.5;
    return sign | (asBits[0] - 0x3f000000);
  }
  const roundedToEven = magnitude + 0xfff + ((magnitude >>> 13) & 1);
  return sign | ((roundedToEven - 0x38000000) >>> 13);
}

export const toHalf = (values: Float32Array): Uint16Array => Uint16Array.from(values, halfBits);
