/**
 * A bundle: what a trained model is deployed as. `bundle.json` says what it is and lists every other
 * file with its size and SHA-256; opening one reads and compares all of them.
 */
import { CONFIGURATIONS, type Configuration } from '../matrix/index.js';
import { BundleError } from './errors.js';
import { JsonValue } from './json.js';
import { sha256 } from './sha256.js';

export const BUNDLE_FORMAT = 'crab-bundle';
export const BUNDLE_VERSION = 1;
export const MANIFEST_FILE = 'bundle.json';

export const BUNDLE_FILES = [
  'encoder.onnx',
  'reasoner.onnx',
  'decoder.onnx',
  'selection.safetensors',
  'rules.json',
  'history.json',
] as const;
export type BundleFileName = (typeof BUNDLE_FILES)[number];

/** Without these there is no bundle; the others may be absent. */
const REQUIRED: readonly BundleFileName[] = ['encoder.onnx', 'reasoner.onnx', 'decoder.onnx'];

const MEBIBYTE = 1 << 20;
/** A manifest has a few thousand bytes; a file beyond this is none. */
export const LARGEST_MANIFEST = MEBIBYTE;

/** Most bytes a file may have; the networks of a full f32 bundle have about 600 MB. */
const LARGEST: Readonly<Record<BundleFileName, number>> = {
  'encoder.onnx': 1024 * MEBIBYTE,
  'reasoner.onnx': 1024 * MEBIBYTE,
  'decoder.onnx': 1024 * MEBIBYTE,
  'selection.safetensors': 64 * MEBIBYTE,
  'rules.json': 32 * MEBIBYTE,
  'history.json': 32 * MEBIBYTE,
};

export interface BundleSizes {
  /** M, concepts of a panel. */
  readonly concepts: number;
  /** d_z, values of a concept. */
  readonly conceptSize: number;
  /** d_r, values of a rule. */
  readonly ruleSize: number;
}

/** Measured selection accuracy on fresh problems, fractions. */
export interface BundleAccuracy {
  /** By the bundle's own distance, for each variant of candidates. */
  readonly sa: Readonly<Record<string, number>>;
  /** By plain L2. */
  readonly saL2: Readonly<Record<string, number>>;
  readonly problems: number;
}

/** How a concept is called where variance decline tells. */
export interface ConceptName {
  readonly name: string;
  /** How sure that is, as its finder measures it. */
  readonly score: number;
}

export interface BundleManifest {
  readonly format: typeof BUNDLE_FORMAT;
  readonly version: typeof BUNDLE_VERSION;
  readonly name: string;
  readonly configuration: Configuration;
  readonly noisy: boolean;
  readonly sizes: BundleSizes;
  /** How weights are stored. */
  readonly weights: 'f32' | 'f16' | 'int8';
  /** Whether layers were factored to save space. */
  readonly compact: boolean;
  /** Standard deviation of concepts, for sampling. */
  readonly sigmaZ: number;
  /** One for each concept; null where none is known. */
  readonly conceptNames: readonly (ConceptName | null)[];
  readonly accuracy: BundleAccuracy | null;
  /** How it was trained: plain facts for people. */
  readonly training: Readonly<Record<string, string | number>>;
  readonly files: Readonly<Partial<Record<BundleFileName, BundleFile>>>;
}

export interface BundleFile {
  readonly bytes: number;
  readonly sha256: string;
}

/** Where the files of a bundle come from. */
export interface BundleSource {
  /** For messages. */
  readonly name: string;
  /** The bytes of a file, whose size is checked before memory is taken. */
  read(file: string, expected: ExpectedFile): Promise<Uint8Array>;
}

/** What is known of a file before it is read. */
export interface ExpectedFile {
  /** The largest size accepted. */
  readonly most: number;
  /** Size and SHA-256 where the manifest says them. */
  readonly file?: BundleFile;
  /** Hears of bytes as they come in; a source that has them at once need not tell. */
  readonly onBytes?: (count: number) => void;
}

/** How much of a bundle's files has been read. */
export interface BundleProgress {
  /** Bytes, at most `total`. */
  readonly loaded: number;
  readonly total: number;
}

/** Bytes of all files a manifest lists. */
export const bundleBytes = ({ files }: Pick<BundleManifest, 'files'>): number =>
  Object.values(files).reduce((sum, { bytes }) => sum + bytes, 0);

/** A verified bundle. */
export interface Bundle {
  readonly source: string;
  readonly manifest: BundleManifest;
  readonly files: ReadonlyMap<BundleFileName, Uint8Array>;
}

function readFiles(value: JsonValue): BundleManifest['files'] {
  const files: Partial<Record<BundleFileName, BundleFile>> = {};
  for (const key of value.keys()) {
    const name = BUNDLE_FILES.find((file) => file === key);
    if (name === undefined) value.fail(`no other files than ${BUNDLE_FILES.join(', ')}`);
    const entry = value.get(key);
    const hash = entry.get('sha256');
    if (!/^[0-9a-f]{64}$/.test(hash.text())) hash.fail('64 hexadecimal digits');
    const bytes = entry.get('bytes').integer(1, LARGEST[name]);
    files[name] = { bytes, sha256: hash.text() };
  }
  const absent = REQUIRED.find((file) => files[file] === undefined);
  if (absent !== undefined) value.fail(`an entry for ${absent}`);
  return files;
}

function readShares(value: JsonValue): Record<string, number> {
  return Object.fromEntries(value.keys().map((key) => [key, value.get(key).number()]));
}

/** Most characters of a fact; the longest is the whole configuration of a model, some 1,000. */
const LONGEST_FACT = 10_000;

function readTraining(value: JsonValue): Record<string, string | number> {
  const entries = value.keys().map((key): [string, string | number] => {
    const fact = value.get(key);
    return [key, typeof fact.value === 'number' ? fact.number() : fact.text(LONGEST_FACT)];
  });
  return Object.fromEntries(entries);
}

/** Checks a manifest; nothing in it is trusted. */
export function parseManifest(bytes: Uint8Array, name = MANIFEST_FILE): BundleManifest {
  const json = JsonValue.parse(bytes, name);
  if (json.get('format').value !== BUNDLE_FORMAT) {
    throw new BundleError(`${name} is not that of a bundle`);
  }
  const version = json.get('version').value;
  if (version !== BUNDLE_VERSION) {
    throw new BundleError(
      `${name} has version ${JSON.stringify(version)}, this program reads ${BUNDLE_VERSION}`,
    );
  }
  const sizes = json.get('sizes');
  const concepts = sizes.get('concepts').integer(1, 64);
  return {
    format: BUNDLE_FORMAT,
    version: BUNDLE_VERSION,
    name: json.get('name').text(100),
    configuration: json.get('configuration').oneOf(CONFIGURATIONS),
    noisy: json.get('noisy').flag(),
    sizes: {
      concepts,
      conceptSize: sizes.get('conceptSize').integer(1, 1024),
      ruleSize: sizes.get('ruleSize').integer(1, 64),
    },
    weights: json.get('weights').oneOf(['f32', 'f16', 'int8']),
    compact: json.get('compact').flag(),
    sigmaZ: json.get('sigmaZ').number(),
    conceptNames: json
      .get('conceptNames')
      .items(concepts, concepts)
      .map((item) =>
        item.nullOr((found) => ({
          name: found.get('name').text(100),
          score: found.get('score').number(),
        })),
      ),
    accuracy: json.get('accuracy').nullOr((found) => ({
      sa: readShares(found.get('sa')),
      saL2: readShares(found.get('saL2')),
      problems: found.get('problems').integer(1, 1e9),
    })),
    training: readTraining(json.get('training')),
    files: readFiles(json.get('files')),
  };
}

/** Reads and verifies all files of a bundle. */
export async function openBundle(
  source: BundleSource,
  signal?: AbortSignal,
  onProgress?: (progress: BundleProgress) => void,
): Promise<Bundle> {
  const head = await source.read(MANIFEST_FILE, { most: LARGEST_MANIFEST });
  const manifest = parseManifest(head, `${source.name}: ${MANIFEST_FILE}`);
  const listed = BUNDLE_FILES.flatMap((name) => {
    const file = manifest.files[name];
    return file === undefined ? [] : [{ name, file }];
  });
  const total = bundleBytes(manifest);
  let loaded = 0;
  const count = (bytes: number): void => {
    loaded = Math.min(total, loaded + bytes);
    onProgress?.({ loaded, total });
  };
  const read = listed.map(async ({ name, file }) => {
    signal?.throwIfAborted();
    let told = 0;
    const onBytes = (piece: number): void => {
      told += piece;
      count(piece);
    };
    const bytes = await source.read(name, { most: file.bytes, file, onBytes });
    count(Math.max(0, file.bytes - told));
    if (bytes.length !== file.bytes) {
      throw new BundleError(
        `${source.name}: ${name} has ${bytes.length} bytes instead of ${file.bytes}`,
      );
    }
    if ((await sha256(bytes)) !== file.sha256) {
      throw new BundleError(`${source.name}: ${name} is damaged: its SHA-256 differs`);
    }
    return [name, bytes] as const;
  });
  return { source: source.name, manifest, files: new Map(await Promise.all(read)) };
}

/** A manifest with the sizes and hashes of the files it belongs to, as bytes. */
export async function formatManifest(
  manifest: Omit<BundleManifest, 'format' | 'version' | 'files'>,
  files: ReadonlyMap<BundleFileName, Uint8Array>,
): Promise<Uint8Array> {
  const listed: Partial<Record<BundleFileName, BundleFile>> = {};
  for (const name of BUNDLE_FILES) {
    const bytes = files.get(name);
    if (bytes !== undefined) listed[name] = { bytes: bytes.length, sha256: await sha256(bytes) };
  }
  const whole = { format: BUNDLE_FORMAT, version: BUNDLE_VERSION, ...manifest, files: listed };
  const text = new TextEncoder().encode(`${JSON.stringify(whole, null, 2)}\n`);
  parseManifest(text);
  return text;
}
