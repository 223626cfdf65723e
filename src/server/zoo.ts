/**
 * The models the page can load: the published bundles and, beside them, those exported from runs. The
 * list is made from what is there at the moment, so an exported bundle appears at once.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { isFile, readSmallFile } from '../base/node.js';
import {
  BUNDLE_SYSTEMS,
  LARGEST_MANIFEST,
  listOthers,
  listZoo,
  MANIFEST_FILE,
  parseManifest,
  systemOf,
  type BundleManifest,
} from '../solver/node.js';
import { StaticFolder } from './static-folder.js';
import type { OtherEntry, ZooEntry, ZooIndex } from '../protocol/index.js';

interface FoundBundle {
  readonly name: string;
  readonly folder: string;
  readonly bytes: number;
  readonly manifest: BundleManifest;
}

async function readBundle(zoo: string, name: string): Promise<FoundBundle | null> {
  const folder = path.join(zoo, name);
  const file = path.join(folder, MANIFEST_FILE);
  try {
    const text = await readSmallFile(file, LARGEST_MANIFEST);
    const manifest = parseManifest(text, file);
    const sizes = Object.values(manifest.files).map((each) => each.bytes);
    const bytes = sizes.reduce((sum, size) => sum + size, text.length);
    return { name, folder, bytes, manifest };
  } catch {
    return null;
  }
}

/** The bundles of a folder whose manifests can be read, and the names of those that cannot. */
export async function readZoo(
  folder: string,
): Promise<{ readonly bundles: readonly FoundBundle[]; readonly damaged: readonly string[] }> {
  const names = [...(await listZoo(folder)), ...(await listOthers(folder))];
  const read = await Promise.all(names.map((name) => readBundle(folder, name)));
  return {
    bundles: read.filter((bundle) => bundle !== null),
    damaged: names.filter((_, i) => read[i] === null),
  };
}

export class Zoo {
  readonly #folders: readonly StaticFolder[];

  /** @param folders of bundles; where two have the same name, that of the first counts */
  constructor(folders: readonly string[]) {
    this.#folders = folders.map((folder) => new StaticFolder(folder));
  }

  async #folderOf(name: string): Promise<StaticFolder | null> {
    for (const folder of this.#folders) {
      const file = path.join(folder.folder, name, MANIFEST_FILE);
      if (await isFile(file)) return folder;
    }
    return null;
  }

  /** Sends a file of a bundle; all files of a bundle come from the same folder. */
  async serve(
    request: IncomingMessage,
    response: ServerResponse,
    segments: readonly string[],
  ): Promise<boolean> {
    const [system, ...rest] = segments;
    const inSystem = rest.length === 2 && BUNDLE_SYSTEMS.includes(system);
    if ((rest.length !== 1 && !inSystem) || segments.includes('')) return false;
    const name = segments.slice(0, -1).join('/');
    const folder = await this.#folderOf(name);
    return folder !== null && folder.serve(request, response, segments);
  }

  async index(): Promise<ZooIndex> {
    const entries = new Map<string, OtherEntry>();
    for (const { folder } of this.#folders) {
      for (const { name, bytes, manifest } of (await readZoo(folder)).bundles) {
        if (entries.has(name)) continue;
        const { configuration, noisy } = manifest;
        entries.set(name, { name, configuration, noisy, bytes, system: systemOf(manifest) });
      }
    }
    const all = [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const plain = ({ system: _, ...entry }: OtherEntry): ZooEntry => entry;
    const others = all.filter(({ system }) => system !== 'crab');
    return {
      bundles: all.filter(({ system }) => system === 'crab').map(plain),
      ...(others.length > 0 && { others }),
    };
  }
}
