/** Which models are to be had where the page lies; unknown on hosts without an index of them. */
import { signal } from '@preact/signals';
import { ZOO_INDEX, type OtherEntry, type ZooEntry, type ZooIndex } from '../../protocol/index.js';
import { LAYOUT_NAMES } from './settings.js';

const entries = signal<readonly ZooEntry[] | null>(null);
const others = signal<readonly OtherEntry[]>([]);

const isEntry = <Entry extends ZooEntry>(value: unknown): value is Entry => {
  const entry = value as Partial<ZooEntry> | null;
  return typeof entry?.name === 'string' && typeof entry.configuration === 'string';
};

/** Asks for the index; it changes when a run is exported. */
export async function readZoo(): Promise<void> {
  try {
    const response = await fetch(ZOO_INDEX, { cache: 'no-cache' });
    if (!response.ok) return;
    const index = (await response.json()) as Partial<ZooIndex>;
    entries.value = Array.isArray(index.bundles) ? index.bundles.filter(isEntry<ZooEntry>) : null;
    others.value = Array.isArray(index.others) ? index.others.filter(isEntry<OtherEntry>) : [];
  } catch {
    // No network, or a page in place of the index: then each model is simply tried.
  }
}

/** Names of all models that are known to be here, those to compare with last. */
export const zooNames = (): readonly string[] =>
  [...(entries.value ?? []), ...others.value].map(({ name }) => name);

const layoutOfEntry = ({ configuration, noisy }: ZooEntry): string =>
  noisy ? `${configuration}-noisy` : configuration;

/** Names of the models for a layout, its own first; null where it is not known. */
export function modelsFor(layout: string): readonly string[] | null {
  if (entries.value === null) return null;
  return entries.value
    .filter((entry) => layoutOfEntry(entry) === layout)
    .map(({ name }) => name)
    .sort((a, b) => Number(b === layout) - Number(a === layout) || a.localeCompare(b));
}

/** The Transformer for a layout, to compare with; null if none is known to be here. */
export const transformerFor = (layout: string): OtherEntry | null =>
  transformers().find((entry) => layoutOfEntry(entry) === layout) ?? null;

/** Layouts that have one. */
export const transformerLayouts = (): readonly string[] =>
  LAYOUT_NAMES.filter((layout) => transformerFor(layout) !== null);

const transformers = (): readonly OtherEntry[] =>
  others.value.filter(({ system }) => system === 'transformer');
