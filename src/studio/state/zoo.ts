/** Which models are to be had where the page lies; unknown on hosts without an index of them. */
import { signal } from '@preact/signals';
import { ZOO_INDEX, type ZooEntry, type ZooIndex } from '../../protocol/index.js';

const entries = signal<readonly ZooEntry[] | null>(null);

const isEntry = (value: unknown): value is ZooEntry => {
  const entry = value as Partial<ZooEntry> | null;
  return typeof entry?.name === 'string' && typeof entry.configuration === 'string';
};

/** Asks for the index; it changes when a run is exported. */
export async function readZoo(): Promise<void> {
  try {
    const response = await fetch(ZOO_INDEX, { cache: 'no-cache' });
    if (!response.ok) return;
    const { bundles } = (await response.json()) as Partial<ZooIndex>;
    entries.value = Array.isArray(bundles) ? bundles.filter(isEntry) : null;
  } catch {
    // No network, or a page in place of the index: then each model is simply tried.
  }
}

/** Names of all models that are known to be here. */
export const zooNames = (): readonly string[] => entries.value?.map(({ name }) => name) ?? [];

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
