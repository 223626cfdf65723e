/**
 * A bundle: what a trained model is deployed as. `bundle.json` says what it is and lists every other
 * file with its size and SHA-256; opening one reads and compares all of them.
 */
import {
  boolean,
  dictionary,
  integer,
  list,
  nullable,
  number,
  objectWith,
  oneOf,
  optional,
  parseJson,
  read,
  shown,
  text,
  withDefault,
  type Read,
  type Reader,
} from '../base/index.js';
import { CONFIGURATIONS } from '../matrix/index.js';
import { BundleError } from './errors.js';
import { sha256 } from './sha256.js';

export const BUNDLE_FORMAT = 'crab-bundle' as const;
export const BUNDLE_VERSION = 1 as const;
export const MANIFEST_FILE = 'bundle.json';

export const BUNDLE_FILES = [
  'encoder.onnx',
  'reasoner.onnx',
  'decoder.onnx',
  'selection.safetensors',
  'vocabulary.safetensors',
  'rules.json',
  'history.json',
  'imagined.png',
] as const;
export type BundleFileName = (typeof BUNDLE_FILES)[number];

/** Systems whose models can be opened. Bundles that name none are CRAB's: the first ones did not. */
export const BUNDLE_SYSTEMS: readonly string[] = ['crab', 'transformer'];

/** M of a bundle is no larger. */
const MOST_CONCEPTS = 64;

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
  'vocabulary.safetensors': 16 * MEBIBYTE,
  'rules.json': 32 * MEBIBYTE,
  'history.json': 32 * MEBIBYTE,
  'imagined.png': 4 * MEBIBYTE,
};

const sizes = objectWith({
  /** M, concepts of a panel; 1 for a system that describes a panel by one vector. */
  concepts: integer({ min: 1, max: MOST_CONCEPTS }),
  /** d_z, values of a concept. */
  conceptSize: integer({ min: 1, max: 1024 }),
  /** d_r, values of a rule; 0 for a system without rules. */
  ruleSize: integer({ min: 0, max: 64 }),
});
export type BundleSizes = Read<typeof sizes>;

const accuracy = objectWith({
  /** By the bundle's own distance, for each variant of candidates. */
  sa: dictionary(number()),
  /** By plain L2. */
  saL2: dictionary(number()),
  problems: integer({ min: 1, max: 1e9 }),
});
/** Measured selection accuracy on fresh problems, fractions. */
export type BundleAccuracy = Read<typeof accuracy>;

const conceptName = objectWith({
  name: text(100),
  /** How sure that is, as its finder measures it. */
  score: number(),
});
/** How a concept is called if variance decline tells. */
export type ConceptName = Read<typeof conceptName>;

const sha256Text: Reader<string> = (given) => {
  const hash = text()(given);
  return /^[0-9a-f]{64}$/.test(hash) ? hash : given.expected('64 hexadecimal digits');
};

const fileOf = (name: BundleFileName) =>
  objectWith({ bytes: integer({ min: 1, max: LARGEST[name] }), sha256: sha256Text });
export type BundleFile = Read<ReturnType<typeof fileOf>>;

const files: Reader<Readonly<Partial<Record<BundleFileName, BundleFile>>>> = (given) => {
  const members = given.members(BUNDLE_FILES);
  const absent = REQUIRED.find((name) => !members[name].isPresent);
  if (absent !== undefined) given.fail(`expected an entry for ${absent}`);
  const listed = BUNDLE_FILES.filter((name) => members[name].value !== undefined);
  return Object.fromEntries(listed.map((name) => [name, fileOf(name)(members[name])]));
};

/** Most characters of a fact; the longest is the whole configuration of a model, some 1,000. */
const LONGEST_FACT = 10_000;

const fact: Reader<string | number> = (given) =>
  typeof given.value === 'number' ? number()(given) : text(LONGEST_FACT)(given);

const system: Reader<string> = (given) => {
  const known = BUNDLE_SYSTEMS.find((name) => name === given.value);
  return (
    known ??
    given.fail(
      `this program opens models of ${BUNDLE_SYSTEMS.join(' and ')}, not of ${shown(given.value)}`,
    )
  );
};

const manifestFields = objectWith({
  format: oneOf([BUNDLE_FORMAT]),
  version: oneOf([BUNDLE_VERSION]),
  /** What it is a model of; CRAB if absent. */
  system: optional(system),
  name: text(100),
  configuration: oneOf(CONFIGURATIONS),
  noisy: boolean,
  sizes,
  /** How weights are stored. */
  weights: oneOf(['f32', 'f16', 'int8']),
  /** Whether layers were factored to save space. */
  compact: boolean,
  /** Standard deviation of concepts, for sampling. */
  sigmaZ: number(),
  /** One for each concept; null if none is known. */
  conceptNames: list(nullable(conceptName), { max: MOST_CONCEPTS }),
  accuracy: withDefault(nullable(accuracy), null),
  /** How it was trained: plain facts for people. */
  training: dictionary(fact),
  files,
});
export type BundleManifest = Read<typeof manifestFields>;

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
  /** Size and SHA-256 if the manifest says them. */
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

/** The system that a bundle is a model of. */
export const systemOf = ({ system: named = 'crab' }: Pick<BundleManifest, 'system'>): string =>
  named;

/** Whether a model has rules that can be told and imposed, and concepts that can be moved one by one. */
export const hasRules = ({ sizes }: Pick<BundleManifest, 'sizes'>): boolean => sizes.ruleSize > 0;

/** Bytes of all files a manifest lists. */
export const bundleBytes = ({ files }: Pick<BundleManifest, 'files'>): number =>
  Object.values(files).reduce((sum, { bytes }) => sum + bytes, 0);

/** A verified bundle. */
export interface Bundle {
  readonly source: string;
  readonly manifest: BundleManifest;
  readonly files: ReadonlyMap<BundleFileName, Uint8Array>;
}

const manifest: Reader<BundleManifest> = (given) => {
  if (given.member('format').value !== BUNDLE_FORMAT) given.fail('this is not that of a bundle');
  const version = given.member('version').value;
  if (version !== BUNDLE_VERSION) {
    given.fail(`it has version ${shown(version)}, this program reads ${BUNDLE_VERSION}`);
  }
  const read = manifestFields(given);
  given.member('conceptNames').items(read.sizes.concepts, read.sizes.concepts);
  return read;
};

/** Checks a manifest; nothing in it is trusted. */
export const parseManifest = (bytes: Uint8Array, name = MANIFEST_FILE): BundleManifest =>
  read(manifest, parseJson(bytes, BundleError, name), BundleError, name);

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

/** What a manifest says before its files are known. */
export type ManifestDraft = Omit<BundleManifest, 'format' | 'version' | 'files'>;

/** A manifest with the sizes and hashes of the files it belongs to, as bytes. */
export async function formatManifest(
  manifest: ManifestDraft,
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
