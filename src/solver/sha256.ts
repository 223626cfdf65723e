/**
 * SHA-256. Web Crypto if there is one; pages of an insecure address have none, for them (and only
 * for them) the plain form of FIPS 180-4 below.
 */

const WORDS = 64;

/** The first 32 bits of the fractional parts of the roots of the first primes. */
function fractionBits(root: (prime: number) => number, count: number): Uint32Array {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n++) {
    if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  }
  return Uint32Array.from(primes, (prime) => {
    const value = root(prime);
    return Math.floor((value - Math.floor(value)) * 2 ** 32);
  });
}

const ROUND_CONSTANTS = fractionBits(Math.cbrt, WORDS);
const FIRST_STATE = fractionBits(Math.sqrt, 8);

const rotated = (x: number, by: number): number => (x >>> by) | (x << (32 - by));

function compress(state: Uint32Array, block: DataView, offset: number, w: Uint32Array): void {
  for (let i = 0; i < 16; i++) w[i] = block.getUint32(offset + 4 * i);
  for (let i = 16; i < WORDS; i++) {
    const a = w[i - 15];
    const b = w[i - 2];
    const s0 = rotated(a, 7) ^ rotated(a, 18) ^ (a >>> 3);
    const s1 = rotated(b, 17) ^ rotated(b, 19) ^ (b >>> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < WORDS; i++) {
    const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const first = (h + s1 + ((e & f) ^ (~e & g)) + ROUND_CONSTANTS[i] + w[i]) | 0;
    const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((value, i) => (state[i] += value));
}

/** The digest in plain TypeScript. */
export function plainSha256(bytes: Uint8Array): Uint8Array {
  const whole = bytes.length - (bytes.length % 64);
  const tail = new Uint8Array(bytes.length - whole + 9 > 64 ? 128 : 64);
  tail.set(bytes.subarray(whole));
  tail[bytes.length - whole] = 0x80;
  const end = new DataView(tail.buffer);
  end.setBigUint64(tail.length - 8, BigInt(bytes.length) * 8n);
  const state = FIRST_STATE.slice();
  const schedule = new Uint32Array(WORDS);
  const body = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < whole; at += 64) compress(state, body, at, schedule);
  for (let at = 0; at < tail.length; at += 64) compress(state, end, at, schedule);
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => digest.setUint32(4 * i, word));
  return new Uint8Array(digest.buffer);
}

/** The digest as 64 hexadecimal digits. */
export async function sha256(bytes: Uint8Array): Promise<string> {
  const subtle = (globalThis as { crypto?: { subtle?: SubtleCrypto } }).crypto?.subtle;
  const digest =
    subtle === undefined
      ? plainSha256(bytes)
      : new Uint8Array(await subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The one method of Web Crypto used here; written out because Node's and the DOM's types differ. */
interface SubtleCrypto {
  digest(algorithm: 'SHA-256', data: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer>;
}
