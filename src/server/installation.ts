/** What `crab info` tells: the parts this software uses, what is missing and how to get it. */
import { existsSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import path from 'node:path';
import { firstLineOf } from '../base/index.js';
import { packageVersion } from '../base/node.js';
import { folderSource, openBundle, zooFolder, type BundleManifest } from '../solver/node.js';
import type { Finding, OnnxFinding, TorchFinding } from './probe/findings.js';
import { probeOnnx, probeTorch } from './probe/probe.js';
import { BUILD_PAGE, SETUP_ONNX, SETUP_TORCH } from './setup-commands.js';
import { pageFolder } from './studio-server.js';
import { readZoo } from './zoo.js';

/** A part that is there, or why not and the command that installs it. */
export type Part<Found> =
  | ({ readonly available: true } & Found)
  | { readonly available: false; readonly reason: string; readonly command: string };

export interface BundleInfo {
  readonly name: string;
  readonly folder: string;
  readonly bytes: number;
  /** Selection accuracy by variant of candidates, fractions; null if it was not measured. */
  readonly accuracy: Readonly<Record<string, number>> | null;
  /** The distance behind it: the calibrated one, or L2 if the bundle has none. */
  readonly distance: 'calibrated' | 'l2';
}

interface DamagedBundle {
  readonly name: string;
  readonly reason: string;
}

export interface Installation {
  readonly version: string;
  readonly node: { readonly version: string; readonly supported: boolean };
  readonly machine: {
    readonly platform: string;
    readonly processor: string;
    readonly cores: number;
    /** Bytes. */
    readonly memory: number;
  };
  /** For training. */
  readonly libtorch: Part<TorchFinding>;
  /** For trained models. */
  readonly onnxRuntime: Part<OnnxFinding & { readonly nativeCommand: string | null }>;
  /** For `crab studio`. */
  readonly page: Part<{ readonly folder: string }>;
  readonly zoo: {
    readonly folder: string;
    readonly bundles: readonly BundleInfo[];
    /** Those that cannot be used: a file is not what the manifest says, or that cannot be read. */
    readonly damaged: readonly DamagedBundle[];
  };
}

const LEAST_NODE = 20;

function part<Found extends object>(
  { found, reason }: { readonly found: Found | null; readonly reason: string | null },
  command: string,
): Part<Found> {
  if (found !== null) return { available: true, ...found };
  return { available: false, reason: reason ?? 'it is not there', command };
}

function pageOf(folder: string): Part<{ readonly folder: string }> {
  const built = existsSync(path.join(folder, 'index.html'));
  return part({ found: built ? { folder } : null, reason: 'the page is not built' }, BUILD_PAGE);
}

/** The WebAssembly one comes with this package; the command gets the native one if that is missing. */
function onnxOf(finding: Finding<OnnxFinding>): Installation['onnxRuntime'] {
  const nativeCommand = (finding.found?.nativeFault ?? null) === null ? null : SETUP_ONNX;
  const found = finding.found && { ...finding.found, nativeCommand };
  return part({ found, reason: finding.reason }, SETUP_ONNX);
}

const UNREADABLE = 'its bundle.json cannot be read';

/** Reads all files of a bundle. Why it cannot be used; null if it can. */
async function damageOf(folder: string, { accuracy }: BundleManifest): Promise<string | null> {
  const shares = Object.values({ ...accuracy?.sa });
  if (shares.some((share) => !(share >= 0 && share <= 1))) {
    return 'its bundle.json has an accuracy that is no share';
  }
  try {
    await openBundle(folderSource(folder));
    return null;
  } catch (error) {
    return firstLineOf(error);
  }
}

async function zooOf(folder: string): Promise<Installation['zoo']> {
  const found = await readZoo(folder);
  const bundles: BundleInfo[] = [];
  const damaged: DamagedBundle[] = found.damaged.map((name) => ({ name, reason: UNREADABLE }));
  for (const { name, folder: place, bytes, manifest } of found.bundles) {
    const reason = await damageOf(place, manifest);
    if (reason !== null) {
      damaged.push({ name, reason });
      continue;
    }
    bundles.push({
      name,
      folder: place,
      bytes,
      accuracy: manifest.accuracy?.sa ?? null,
      distance: manifest.files['selection.safetensors'] === undefined ? 'l2' : 'calibrated',
    });
  }
  return { folder, bundles, damaged };
}

/** Looks at everything. What is broken is reported; it never makes this fail. */
export async function readInstallation(
  places: { readonly zoo?: string; readonly page?: string } = {},
): Promise<Installation> {
  const [libtorch, onnx] = await Promise.all([probeTorch(), probeOnnx()]);
  return {
    version: packageVersion(),
    node: {
      version: process.version,
      supported: Number(process.versions.node.split('.', 1)[0]) >= LEAST_NODE,
    },
    machine: {
      platform: `${process.platform} ${process.arch}`,
      processor: cpus().at(0)?.model.trim() ?? 'unknown',
      cores: availableParallelism(),
      memory: totalmem(),
    },
    libtorch: part(libtorch, SETUP_TORCH),
    onnxRuntime: onnxOf(onnx),
    page: pageOf(places.page ?? pageFolder()),
    zoo: await zooOf(places.zoo ?? zooFolder()),
  };
}
