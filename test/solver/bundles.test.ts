/** Bundles from outside: whatever is wrong with one is a BundleError, never a crash or a wrong answer. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { encodePng, Random } from '../../src/matrix/index.js';
import { BundleError, formatImagined, parseManifest, SolverError } from '../../src/solver/index.js';
import type { BundleFileName, BundleSource } from '../../src/solver/index.js';
import {
  bundlePlace,
  folderSource,
  memoryBundle,
  Solver,
  writeBundle,
} from '../../src/solver/node.js';
import { checkOnnx } from '../../src/solver/onnx-check.js';
import { plainSha256, sha256 } from '../../src/solver/sha256.js';
import { GraphBuilder } from '../../src/models/onnx/graph.js';
import { scratchFolder } from '../scratch-folder.js';
import { randomBundle, tinyConfig } from './random-model.js';
import { problem } from './shared-checks.js';

const folder = scratchFolder();
const whole = path.join(folder, 'whole');
const bundle = randomBundle(tinyConfig());

beforeAll(() => writeBundle(whole, bundle.manifest, bundle.files));

/** A copy of the bundle in a folder of its own. */
async function copy(name: string): Promise<string> {
  const target = path.join(folder, name);
  await writeBundle(target, bundle.manifest, bundle.files);
  return target;
}

const manifestOf = (where: string): Record<string, unknown> =>
  JSON.parse(readFileSync(path.join(where, 'bundle.json'), 'utf8')) as Record<string, unknown>;

describe('a bundle on disk', () => {
  test('loads, and lists what it is', async () => {
    const solver = await Solver.load(whole);
    expect(solver.manifest.name).toBe('center');
    expect(solver.backend).toBe('node');
    await solver.dispose();
  });

  test('with one byte changed in any file is refused', async () => {
    for (const name of bundle.files.keys()) {
      const place = await copy(`flip-${name}`);
      const file = path.join(place, name);
      const bytes = readFileSync(file);
      bytes[bytes.length >> 1] ^= 4;
      writeFileSync(file, bytes);
      await expect(Solver.load(place)).rejects.toThrow(BundleError);
      await expect(Solver.load(place)).rejects.toThrow(/SHA-256 differs/);
    }
  });

  test('with a file cut short or missing is refused', async () => {
    const cut = await copy('cut');
    truncateSync(path.join(cut, 'reasoner.onnx'), 100);
    await expect(Solver.load(cut)).rejects.toThrow(/has 100 bytes, the manifest says/);
    const missing = await copy('missing');
    rmSync(path.join(missing, 'decoder.onnx'));
    await expect(Solver.load(missing)).rejects.toThrow(/there is no decoder.onnx/);
  });

  test('is not read where its manifest claims absurd sizes', async () => {
    const place = await copy('absurd');
    const manifest = manifestOf(place);
    (manifest.files as Record<string, { bytes: number }>)['encoder.onnx'].bytes = 2 ** 40;
    writeFileSync(path.join(place, 'bundle.json'), JSON.stringify(manifest));
    await expect(Solver.load(place)).rejects.toThrow(
      /files\.encoder\.onnx\.bytes: expected a whole number/,
    );
  });

  test('of another version or kind is refused', async () => {
    const place = await copy('version');
    const manifest = manifestOf(place);
    writeFileSync(path.join(place, 'bundle.json'), JSON.stringify({ ...manifest, version: 2 }));
    await expect(Solver.load(place)).rejects.toThrow(/has version 2, this program reads 1/);
    writeFileSync(path.join(place, 'bundle.json'), '{"format":"other"}');
    await expect(Solver.load(place)).rejects.toThrow(/not that of a bundle/);
    writeFileSync(path.join(place, 'bundle.json'), 'no JSON');
    await expect(Solver.load(place)).rejects.toThrow(/is not JSON/);
  });

  test('that is nowhere is told with the names that are somewhere', async () => {
    await expect(Solver.load('no-such-bundle', { zoo: folder })).rejects.toThrow(/zoo \(.*whole/);
    await expect(Solver.load('whole', { zoo: folder })).resolves.toBeInstanceOf(Solver);
    await expect(Solver.load('http://127.0.0.1:1/x', { cache: false })).rejects.toThrow(
      BundleError,
    );
  });

  test('never replaces a folder that holds other things', async () => {
    const other = path.join(folder, 'other');
    mkdirSync(other);
    writeFileSync(path.join(other, 'thesis.tex'), 'years of work');
    await expect(writeBundle(other, bundle.manifest, bundle.files)).rejects.toThrow(/other things/);
    await expect(bundlePlace(other)).rejects.toThrow(/other things/);
    expect(readFileSync(path.join(other, 'thesis.tex'), 'utf8')).toBe('years of work');
  });

  test.each(['new', 'replaced'])('is not lost to a second export: %s', async (name) => {
    const target = path.join(folder, name);
    if (name === 'replaced') await copy(name);
    const [late, early] = [await bundlePlace(target), await bundlePlace(target)];
    await writeBundle(early, { ...bundle.manifest, name: 'first' }, bundle.files);
    await expect(writeBundle(late, bundle.manifest, bundle.files)).rejects.toThrow(
      /was written by another process/,
    );
    expect(manifestOf(target).name).toBe('first');
    expect(readdirSync(folder).filter((entry) => entry.endsWith('.part'))).toEqual([]);
  });
});

describe('manifests', () => {
  const manifest = (): Record<string, unknown> => manifestOf(whole);
  const parse = (value: unknown) => parseManifest(new TextEncoder().encode(JSON.stringify(value)));

  test.each([
    ['sizes', { concepts: 1e9, conceptSize: 5, ruleSize: 2 }],
    ['sizes', null],
    ['configuration', 'somewhere'],
    ['noisy', 'yes'],
    ['weights', 'f8'],
    ['conceptNames', []],
    ['conceptNames', [1, 2, 3, 4]],
    ['sigmaZ', 'big'],
    ['accuracy', { sa: 3 }],
    ['files', {}],
    ['files', { '../../etc/passwd': { bytes: 1, sha256: '0'.repeat(64) } }],
    ['training', { a: {} }],
  ])('with %s = %j are refused', (key, value) => {
    expect(() => parse({ ...manifest(), [key]: value })).toThrow(BundleError);
  });
});

/** The bundle with one file replaced and its hash made right again. */
const replaced = (name: BundleFileName, bytes: Uint8Array): Promise<BundleSource> =>
  memoryBundle(bundle.manifest, new Map(bundle.files).set(name, bytes));

describe('files that carry the right hash', () => {
  test('mutated in any way load as they should or are refused', async () => {
    const rounds = process.env.CRAB_TEST_LONG ? 400 : 40;
    const { panels, candidates } = problem(0);
    let refused = 0;
    for (const [f, [name, original]] of [...bundle.files].entries()) {
      for (let round = 0; round < rounds; round++) {
        const bytes = mutated(original, new Random(round, f));
        try {
          const solver = await Solver.open(await replaced(name, bytes), { threads: 1 });
          try {
            const answer = await solver.solve(panels);
            const { index } = await solver.choose(answer, candidates);
            expect(index).toBeGreaterThanOrEqual(0);
          } finally {
            await solver.dispose();
          }
        } catch (error) {
          if (!(error instanceof BundleError || error instanceof SolverError)) throw error;
          refused++;
        }
      }
    }
    expect(refused).toBeGreaterThan(rounds);
  });

  test('painted panels are read when asked for, and refused if they do not fit', async () => {
    const shades = [0, 255].map((grey) => new Uint8Array(4 * 4096).fill(grey));
    shades[1].fill(0, 0, 4096);
    const withFilm = async (rules: Uint8Array | undefined, film: Uint8Array): Promise<Solver> => {
      const files = new Map(bundle.files).set('imagined.png', film);
      if (rules !== undefined) files.set('rules.json', rules);
      return Solver.open(await memoryBundle(bundle.manifest, files), { threads: 1 });
    };
    const map = JSON.parse(new TextDecoder().decode(bundle.files.get('rules.json'))) as Readonly<
      Record<string, unknown>
    >;
    const snapshots = [0, 7].map((step) => ({ step, rules: [] }));
    const rules = new TextEncoder().encode(JSON.stringify({ ...map, snapshots }));
    const film = formatImagined(shades);

    const whole = await withFilm(rules, film);
    const panels = whole.imagined?.() ?? [];
    const [black, white] = [0, 1].map((value) => new Float32Array(4096).fill(value));
    expect(panels).toEqual([
      [black, black, black, black],
      [black, white, white, white],
    ]);
    await whole.dispose();

    const cases: [film: Uint8Array, rules: Uint8Array | undefined, why: RegExp][] = [
      [film, undefined, /: imagined\.png: expected .* in 0 rows, got 256x128 pixels/],
      [formatImagined([...shades, ...shades]), rules, /in 2 rows, got 256x256 pixels/],
      [
        encodePng({ width: 60, height: 128, channels: 1, data: new Uint8Array(7680) }),
        rules,
        /60x128/,
      ],
      [film.slice(0, film.length >> 1), rules, /: imagined\.png: /],
      [new TextEncoder().encode('no picture'), rules, /: imagined\.png: not a PNG/],
    ];
    for (const [bytes, moments, why] of cases) {
      const solver = await withFilm(moments, bytes);
      const read = (): unknown => solver.imagined?.();
      expect(read).toThrow(BundleError);
      expect(read).toThrow(why);
      await solver.dispose();
    }
    const without = await Solver.open(await memoryBundle(bundle.manifest, bundle.files));
    expect(without.imagined).toBeNull();
    await without.dispose();
  });

  test('networks of another model are refused by their shapes', async () => {
    const other = randomBundle(tinyConfig('center', 'crab', { concepts: 3 }));
    for (const name of ['encoder.onnx', 'reasoner.onnx', 'decoder.onnx'] as const) {
      const bytes = other.files.get(name) ?? new Uint8Array();
      await expect(Solver.open(await replaced(name, bytes))).rejects.toThrow(
        /is not of f32|its inputs are/,
      );
    }
    const swapped = bundle.files.get('decoder.onnx') ?? new Uint8Array();
    await expect(Solver.open(await replaced('encoder.onnx', swapped))).rejects.toThrow(
      /encoder.onnx: its inputs are concepts, not images/,
    );
  });

  test('networks with foreign operators, versions or outside weights are refused', () => {
    const graph = new GraphBuilder('hostile', 'f32');
    const x = graph.input('images', ['N', 4]);
    graph.output('y', graph.node('Loop', 'loop', [x], ['N', 4]));
    expect(() => checkOnnx(graph.encode(''))).toThrow(/operator Loop/);
    const huge = new GraphBuilder('hostile', 'f32');
    const from = huge.input('images', ['N', 4]);
    const pads = huge.integers('pads', [0, 0, 0, 2 ** 40]);
    huge.output('y', huge.node('Pad', 'pad', [from, pads], ['N', 4]));
    expect(() => checkOnnx(huge.encode(''))).toThrow(/absurd size/);
    expect(() => checkOnnx(new Uint8Array())).toThrow(BundleError);
    // ir_version 8, then a graph whose initializer says that its data are elsewhere (field 14 = 1).
    const outside = Uint8Array.from([8, 8, 58, 4, 42, 2, 112, 1]);
    expect(() => checkOnnx(outside)).toThrow(/in other files/);
  });

  test('statistics that are no covariance are refused when used', async () => {
    const bytes = (bundle.files.get('selection.safetensors') ?? new Uint8Array()).slice();
    const text = new TextDecoder().decode(bytes);
    const broken = new TextEncoder().encode(text.replace('"F32"', '"F64"'));
    await expect(Solver.open(await replaced('selection.safetensors', broken))).rejects.toThrow(
      BundleError,
    );
  });
});

function mutated(original: Uint8Array, random: Random): Uint8Array {
  switch (random.below(4)) {
    case 0:
      return original.slice(0, 1 + random.below(original.length - 1));
    case 1: {
      const bytes = new Uint8Array(original.length + 16);
      bytes.set(original);
      for (let i = 0; i < 16; i++) bytes[original.length + i] = random.below(256);
      return bytes;
    }
    default: {
      const bytes = original.slice();
      // Mostly near the beginning, where structure is denser than weights.
      const reach = random.coin() ? Math.min(2000, bytes.length) : bytes.length;
      for (let i = 0; i < 1 + random.below(4); i++) {
        bytes[random.below(Math.min(reach, 1 << 20))] = random.below(256);
      }
      return bytes;
    }
  }
}

describe('SHA-256', () => {
  test('the plain form is the standard one, at every length around a block', async () => {
    for (const length of [0, 1, 3, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000, 70_001]) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 31 + 7) & 255);
      const expected = createHash('sha256').update(bytes).digest('hex');
      expect(Buffer.from(plainSha256(bytes)).toString('hex')).toBe(expected);
      expect(await sha256(bytes)).toBe(expected);
    }
  });
});

test('a source that is changed under our feet is noticed', async () => {
  const source = folderSource(whole);
  const lying: BundleSource = {
    name: 'lying',
    read: async (file, expected) => {
      const bytes = await source.read(file, expected);
      return file === 'encoder.onnx' ? bytes.subarray(1) : bytes;
    },
  };
  await expect(Solver.open(lying)).rejects.toThrow(/bytes instead of/);
});
