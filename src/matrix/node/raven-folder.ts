/**
 * RAVEN's folders, `<root>/<configuration folder>/RAVEN_<number>_<part>.{npz,xml}`: problems are
 * read one at a time in numeric order, whatever else lies beside them. Of a large folder only the
 * numbers are kept in memory.
 */
import { opendir, stat } from 'node:fs/promises';
import path from 'node:path';
import { ArgumentError, FormatError, naming } from '../../base/index.js';
import { ALL_LAYOUTS, layoutOfProblem, type ConfigurationLayout } from '../layouts.js';
import type { Problem, Variant } from '../problem.js';
import {
  decodeRavenNpz,
  encodeRavenNpz,
  parseRavenFileName,
  partOf,
  PARTS,
  ravenFileName,
  type Part,
  type RavenArrays,
} from '../raven-file.js';
import { MAX_XML_LENGTH, parseRavenXml } from '../raven-xml.js';
import { formatRavenXml } from '../raven-xml-write.js';
import { IMAGE_PIXELS, SMALL_SIZE, type ImageSide } from '../render.js';
import { PROBLEM_IMAGES, renderImagesInto } from '../render-panel.js';
import { imagesToBatch, joinBatches, type ProblemSource, type SetBatch } from '../set.js';
import type { Label } from '../set-label.js';
import { ifMissing, makeFolderOf, readSmallFile } from '../../base/node.js';
import { isWholeZip } from '../zip-read.js';
import { FileBatch } from './file-batch.js';
import { variantTold } from './manifest.js';

/** Where a problem stands in a folder. */
export interface RavenPlace {
  readonly index: number;
  readonly part: Part;
}

/** A problem as found in a folder. */
export interface RavenProblem extends RavenPlace {
  /** The .npz. */
  readonly file: string;
  readonly arrays: RavenArrays;
  /** Undefined if there is no XML: others publish images alone. */
  readonly problem: Problem | undefined;
}

const MAX_NPZ_LENGTH = 4 << 20;

/** The layout a folder's name stands for, if it is one of RAVEN's names. */
export function layoutOfFolder(folder: string): ConfigurationLayout | undefined {
  const name = path.basename(path.resolve(folder));
  return ALL_LAYOUTS.find((layout) => layout.folder === name);
}

/** Configuration folders directly under a root, in the order of the configurations. */
export async function configurationFolders(root: string): Promise<string[]> {
  const found = await Promise.all(
    ALL_LAYOUTS.map(async ({ folder }) => {
      const info = await stat(path.join(root, folder)).catch(() => undefined);
      return info?.isDirectory() ? path.join(root, folder) : undefined;
    }),
  );
  return found.filter((folder) => folder !== undefined);
}

export const withoutProblems = (folder: string): ArgumentError =>
  new ArgumentError(`${folder} holds no RAVEN problems (RAVEN_<number>_<part>.npz)`);

/** The problems of a folder in numeric order; other files are passed over. */
export async function listRavenFolder(folder: string, part?: Part): Promise<RavenPlace[]> {
  // Two numbers a problem rather than a name: part in the low digit, so that sorting keeps both.
  const keys: number[] = [];
  for await (const entry of await opendir(folder)) {
    const parsed = entry.isDirectory() ? undefined : parseRavenFileName(entry.name);
    if (parsed?.ending !== 'npz' || (part !== undefined && parsed.part !== part)) continue;
    keys.push(parsed.index * PARTS.length + PARTS.indexOf(parsed.part));
  }
  return Array.from(Float64Array.from(keys).sort(), (key) => ({
    index: Math.floor(key / PARTS.length),
    part: PARTS[key % PARTS.length],
  }));
}

/**
 * How the candidates of a problem were made, by its files alone. RAVEN-FAIR's program names no changes; only
 * that of its two variants has candidates that differ from the answer in several attributes.
 */
function variantOf({ variant, candidates }: Problem, { predictIsList }: RavenArrays): Variant {
  if (!predictIsList || variant === 'i-raven') return variant;
  return candidates.some(({ changes }) => changes.length > 1) ? 'raven-fair' : 'raven-unique';
}

/** Reads one problem of a folder; `told` is what the folder says of all its candidates. */
export async function readRavenProblem(
  folder: string,
  place: RavenPlace,
  told: Promise<Variant | undefined> = variantTold(folder),
): Promise<RavenProblem> {
  const base = path.join(folder, ravenFileName(place.index, place.part));
  const file = `${base}.npz`;
  const arrays = await decodeRavenNpz(await readSmallFile(file, MAX_NPZ_LENGTH), file);
  const layout = layoutOfFolder(folder);
  if (
    layout &&
    arrays.layouts.length > 0 &&
    !arrays.layouts.some(({ folder: name }) => name === layout.folder)
  ) {
    throw new FormatError(`${file}: its structure is not that of ${layout.folder}`);
  }
  const read = await readDescription(`${base}.xml`, arrays.target, layout);
  const problem = read && { ...read, variant: (await told) ?? variantOf(read, arrays) };
  return { ...place, file, arrays, problem };
}

async function readDescription(
  file: string,
  target: number,
  layout: ConfigurationLayout | undefined,
): Promise<Problem | undefined> {
  const bytes = await readSmallFile(file, MAX_XML_LENGTH).catch(ifMissing(undefined));
  if (!bytes) return undefined;
  return naming(file, () => {
    const text = new TextDecoder('utf-8').decode(bytes);
    const problem = parseRavenXml(text, { target, noisy: layout?.noisy });
    const found = layoutOfProblem(problem);
    if (layout && found.folder !== layout.folder) {
      throw new FormatError(`it describes ${found.folder}, but lies in ${layout.folder}`);
    }
    return problem;
  });
}

/** Goes through the problems of a folder in numeric order. */
export async function* readRavenFolder(
  folder: string,
  part?: Part,
): AsyncGenerator<RavenProblem, void, undefined> {
  const told = variantTold(folder);
  for (const place of await listRavenFolder(folder, part)) {
    yield await readRavenProblem(folder, place, told);
  }
}

export interface WriteOptions {
  /** u8 [16, 160, 160]; drawn if absent. */
  readonly images?: Uint8Array;
  /** By default as the data sets split: 6 : 2 : 2 by the last digit of the number. */
  readonly part?: Part;
  /** Deflate the arrays of the .npz. */
  readonly compress?: boolean;
  /** Rules with their parameters, as further arrays of the .npz. */
  readonly ruleParameters?: boolean;
}

/** Where problems are drawn, one after the other: a file copies its images at once. */
let drawn: Uint8Array | undefined;

/** A file of a problem, made when it is needed. */
export interface ProblemFile {
  readonly file: string;
  readonly bytes: () => Uint8Array;
  /** Whether one on the disk is whole, by its checksums: cheaper than making it again to compare. */
  readonly isWhole?: (found: Uint8Array) => boolean | Promise<boolean>;
}

/** A problem's two files in its configuration's folder under `root`. */
export function ravenFiles(
  root: string,
  index: number,
  problem: Problem,
  options: WriteOptions = {},
): readonly ProblemFile[] {
  const folder = path.join(root, layoutOfProblem(problem).folder);
  const base = path.join(folder, ravenFileName(index, options.part ?? partOf(index)));
  const images = (): Uint8Array => {
    if (options.images) return options.images;
    drawn ??= new Uint8Array(PROBLEM_IMAGES * IMAGE_PIXELS);
    renderImagesInto(problem, drawn);
    return drawn;
  };
  return [
    { file: `${base}.xml`, bytes: () => Buffer.from(formatRavenXml(problem)) },
    {
      file: `${base}.npz`,
      bytes: () =>
        encodeRavenNpz(problem, images(), {
          compress: options.compress,
          ruleParameters: options.ruleParameters,
        }),
      isWhole: isWholeZip,
    },
  ];
}

/** Writes a problem's two files into its configuration's folder under `root`. */
export async function writeRavenProblem(
  root: string,
  index: number,
  problem: Problem,
  options: WriteOptions = {},
): Promise<void> {
  const batch = new FileBatch();
  try {
    for (const { file, bytes } of ravenFiles(root, index, problem, options)) {
      await makeFolderOf(file);
      await batch.write(file, bytes());
    }
    await batch.finish();
  } finally {
    await batch.settle();
  }
}

/** What a problem's files tell of its rules. */
export function labelOfRaven({ problem, arrays }: RavenProblem): Label {
  if (problem) return problem.rules;
  return (arrays.rules ?? []).map((rules) =>
    rules.map((rule) => ({
      ...rule,
      value: rule.name === 'Constant' || rule.name === 'Distribute_Three' ? 0 : null,
    })),
  );
}

/** A folder of RAVEN, one configuration, as a source of problems drawn at a side. */
export async function openRavenFolder(
  folder: string,
  part?: Part,
  side: ImageSide = SMALL_SIZE,
): Promise<ProblemSource> {
  const places = await listRavenFolder(folder, part);
  const told = variantTold(folder);
  const variant = await told;
  const read = async (first: number, count: number): Promise<SetBatch> => {
    if (first < 0 || count < 0 || first + count > places.length) {
      throw new RangeError(`problems ${first}..${first + count} of ${places.length}`);
    }
    const read: SetBatch[] = [];
    for (const place of places.slice(first, first + count)) {
      const found = await readRavenProblem(folder, place, told);
      const { images, target } = found.arrays;
      const batch = imagesToBatch(images, target, labelOfRaven(found), side);
      read.push({ ...batch, part: [place.part] });
    }
    return { ...joinBatches(read), variant };
  };
  const close = (): Promise<void> => Promise.resolve();
  return { name: folder, count: places.length, randomAccess: true, variant, read, close };
}
