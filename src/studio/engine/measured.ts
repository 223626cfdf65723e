/**
 * How often a model chooses right: as the README and docs/results.md have it, if this very model was
 * measured for them, else what its export measured. Put in when the page is built.
 */
import { sha256, type BundleManifest } from '../../solver/index.js';

type Accuracy = Readonly<Record<string, number>>;

/** By the hash of a manifest, as `crab report` keeps it. */
declare const MEASURED: Readonly<Record<string, Accuracy>>;

export async function accuracyOf(manifest: BundleManifest): Promise<Accuracy | null> {
  const hash = await sha256(new TextEncoder().encode(JSON.stringify(manifest)));
  return MEASURED[hash] ?? manifest.accuracy?.sa ?? null;
}
