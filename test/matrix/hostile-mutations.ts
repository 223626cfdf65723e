/** Damaged files from good ones, repeatably: at random, and with checksums mended to get past them. */
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { concatenate } from '../../src/base/index.js';
import { crc32 } from '../../src/matrix/zip-checksum.js';

/** mulberry32: numbers in [0, 1). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Random = () => number;
const below = (random: Random, limit: number): number => Math.floor(random() * limit);
const pick = <T>(random: Random, choices: readonly T[]): T =>
  choices[below(random, choices.length)];

const EXTREMES = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff];

const BYTE_CHANGES: readonly ((bytes: Uint8Array, random: Random) => Uint8Array)[] = [
  function truncate(bytes, random) {
    return bytes.slice(0, below(random, bytes.length));
  },
  function flipBits(bytes, random) {
    const copy = bytes.slice();
    for (let n = 1 + below(random, 8); n > 0; n--) {
      copy[below(random, copy.length)] ^= 1 << below(random, 8);
    }
    return copy;
  },
  function writeExtreme(bytes, random) {
    const copy = bytes.slice();
    if (copy.length < 4) return copy;
    const view = new DataView(copy.buffer);
    view.setUint32(below(random, copy.length - 3), pick(random, EXTREMES), random() < 0.5);
    return copy;
  },
  function removeRange(bytes, random) {
    const from = below(random, bytes.length);
    const to = Math.min(bytes.length, from + 1 + below(random, 64));
    return join(bytes.subarray(0, from), bytes.subarray(to));
  },
  function repeatRange(bytes, random) {
    const from = below(random, bytes.length);
    const to = Math.min(bytes.length, from + 1 + below(random, 64));
    return join(bytes.subarray(0, to), bytes.subarray(from));
  },
  function overwriteRange(bytes, random) {
    const copy = bytes.slice();
    const from = below(random, bytes.length);
    copy.subarray(from, from + 32).forEach((_, i) => (copy[from + i] = below(random, 256)));
    return copy;
  },
];

const join = (...parts: Uint8Array[]): Uint8Array => concatenate(parts);

/** Any file: half of the changes near its beginning or end, where the structure is. */
export function damage(bytes: Uint8Array, random: Random): Uint8Array {
  const place = random();
  const edge = Math.min(bytes.length, 1024);
  const change = pick(random, BYTE_CHANGES);
  if (place < 0.25) return join(change(bytes.slice(0, edge), random), bytes.subarray(edge));
  const cut = bytes.length - edge;
  if (place < 0.5) return join(bytes.subarray(0, cut), change(bytes.slice(cut), random));
  return change(bytes, random);
}

const HEADER_WORDS = [
  ...["'|u1'", "'<i8'", "'<f8'", "'|O'", "'>i8'", "'|S9'", "'<U9999'", "'|S0'", 'True', 'False'],
  ...['()', '(1,)', '(16, 160, 160)', '(0, 9, 64, 64)', '(4294967296, 4294967296)', '(-1,)'],
  ...['(9007199254740993,)', '(1, 1, 1, 1, 1, 1)', '{}', "__import__('os')"],
];

/** A zip whose directory and checksums are right, but with one array changed inside. */
export function damageArray(npz: Uint8Array, random: Random): Uint8Array {
  const entries: Record<string, Uint8Array> = unzipSync(npz);
  const name = pick(random, Object.keys(entries));
  const npy = entries[name];
  if (random() < 0.5) {
    const words = /'\|u1'|'<i8'|'\|S\d+'|'<U\d+'|\([\d, ]*\)|False/g;
    const header = strFromU8(npy.subarray(0, 128), true);
    const found = [...header.matchAll(words)];
    const target = pick(random, found);
    const changed =
      header.slice(0, target.index) +
      pick(random, HEADER_WORDS) +
      header.slice(target.index + target[0].length);
    entries[name] = join(strToU8(changed.padEnd(128).slice(0, 128), true), npy.subarray(128));
  } else {
    const inHeader = random() < 0.5;
    const part = inHeader ? npy.slice(0, 128) : npy.slice(128);
    const changed = pick(random, BYTE_CHANGES)(part, random);
    entries[name] = inHeader
      ? join(changed, npy.subarray(128))
      : join(npy.subarray(0, 128), changed);
  }
  if (random() < 0.1) delete entries[pick(random, Object.keys(entries))];
  return zipSync(entries, { level: random() < 0.5 ? 0 : 1 });
}

/** A PNG with one part changed and its checksum right. */
export function damagePng(png: Uint8Array, random: Random): Uint8Array {
  const parts: Uint8Array[] = [];
  const view = new DataView(png.buffer, png.byteOffset);
  for (let at = 8; at < png.length; at += 12 + view.getUint32(at)) {
    parts.push(png.slice(at + 4, at + 8 + view.getUint32(at)));
  }
  const chosen = below(random, parts.length);
  const changed = pick(random, BYTE_CHANGES)(parts[chosen].slice(4), random);
  parts[chosen] = join(parts[chosen].subarray(0, 4), changed);
  if (random() < 0.2) parts.splice(below(random, parts.length), 0, pick(random, parts));
  const chunks = parts.map((part) => {
    const ends = new DataView(new ArrayBuffer(8));
    ends.setUint32(0, part.length - 4);
    ends.setUint32(4, crc32(part));
    const bytes = new Uint8Array(ends.buffer);
    return join(bytes.subarray(0, 4), part, bytes.subarray(4));
  });
  return join(png.subarray(0, 8), ...chunks);
}

const XML_VALUES = [
  '',
  '0',
  '-1',
  '9',
  '99999999999',
  '1e9',
  'NaN',
  '&x;',
  '&#0;',
  '&lt;',
  '[',
  '[[]]',
];
const XML_PIECES = [
  '<!DOCTYPE Data [<!ENTITY x "&x;&x;">]>',
  '<!DOCTYPE Data SYSTEM "file:///dev/zero">',
  '<![CDATA[',
  '<?x ?>',
  '<!--',
  '</Data>',
  '<Panel>',
  '<Entity />',
  '<Rule />',
  '&x;',
  '\0',
  '<a '.repeat(50),
  '<a>'.repeat(500),
];

/** A description with a value, an element or its text changed. */
export function damageXml(xml: Uint8Array, random: Random): Uint8Array {
  const text = strFromU8(xml, true);
  const kind = random();
  if (kind < 0.3) return damage(xml, random);
  if (kind < 0.6) {
    const values = [...text.matchAll(/"[^"]*"/g)];
    const { index, 0: old } = pick(random, values);
    const other = random() < 0.5 ? pick(random, values)[0] : `"${pick(random, XML_VALUES)}"`;
    return strToU8(text.slice(0, index) + other + text.slice(index + old.length), true);
  }
  const tags = [...text.matchAll(/<[^>]*>/g)];
  const { index, 0: old } = pick(random, tags);
  const piece = random() < 0.5 ? pick(random, XML_PIECES) : pick(random, tags)[0];
  const keep = random() < 0.5 ? old : '';
  return strToU8(text.slice(0, index) + piece + keep + text.slice(index + old.length), true);
}
