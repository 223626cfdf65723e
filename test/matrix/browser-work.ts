/**
 * What the matrix layer is asked to do in a browser and in Node alike: make problems, draw them, write
 * files and read them again. Everything is told as short hashes, so that two engines can be compared.
 */
import { memorySource } from '../../src/base/index.js';
import {
  ALL_LAYOUTS,
  decodePng,
  decodeRavenNpz,
  encodePng,
  encodeRavenNpz,
  encodeSet,
  formatRavenXml,
  openSetFrom,
  parseRavenXml,
  problemToBatch,
  problemToJson,
  problemToSvg,
  renderProblem,
  sampleProblem,
  PAPER_VARIANTS,
  type Problem,
} from '../../src/matrix/index.js';

/** FNV-1a of 32 bits. */
function hash(bytes: Uint8Array): string {
  let value = 0x811c9dc5;
  for (const byte of bytes) value = Math.imul(value ^ byte, 0x01000193);
  return (value >>> 0).toString(16);
}

const hashText = (text: string): string => hash(new TextEncoder().encode(text));

function same(a: Uint8Array, b: Uint8Array, what: string): void {
  if (a.length !== b.length || a.some((byte, i) => byte !== b[i])) {
    throw new Error(`${what} changed by writing and reading`);
  }
}

async function workOn(problem: Problem): Promise<string[]> {
  const { images, small } = renderProblem(problem);
  const npz = encodeRavenNpz(problem, images);
  const arrays = await decodeRavenNpz(npz);
  same(arrays.images, images, 'the images of a problem');
  const xml = formatRavenXml(problem);
  const { target, noisy } = problem;
  const again = problemToJson(parseRavenXml(xml, { target, noisy }));
  const json = JSON.stringify(problemToJson(problem));
  if (JSON.stringify(again) !== json) throw new Error('the description changed');
  const batch = problemToBatch(problem);
  const set = encodeSet(batch);
  const read = await (await openSetFrom(memorySource(set, 'set.npz'))).read(0, 1);
  same(read.panel, batch.panel, 'the panels of a set');
  same(read.selection, batch.selection, 'the candidates of a set');
  const svg = problemToSvg(problem);
  return [hash(images), hash(small), hash(npz), hash(set), ...[json, xml, svg].map(hashText)];
}

/** Hashes of what was made, by layout and variant. */
export async function work(): Promise<Record<string, string[]>> {
  const made: Record<string, string[]> = {};
  for (const { configuration, noisy, folder } of ALL_LAYOUTS) {
    for (const variant of PAPER_VARIANTS) {
      const problem = sampleProblem({ configuration, noisy, variant, seed: 12, index: 34 });
      made[`${variant} ${folder}`] = await workOn(problem);
    }
  }
  const data = Uint8Array.from({ length: 64 * 64 }, (_, i) => (i * 7) % 256);
  const png = encodePng({ width: 64, height: 64, channels: 1, data });
  const grey = decodePng(png).data;
  same(
    Uint8Array.from(grey, (value) => Math.round(value * 255)),
    data,
    'a PNG',
  );
  made.png = [hash(png)];
  return made;
}
