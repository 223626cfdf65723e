/**
 * What keeps the page for use without a network: the service worker that stores it and, on hosts that send
 * no headers for threads, adds them (they count from the next visit on; until then one thread does); and
 * on demand every model.
 */
import { effect, signal } from '@preact/signals';
import { messageOf } from '../../base/index.js';
import { engine, ready } from './store.js';
import { zooNames } from './zoo.js';

/** How far keeping everything is. */
type Keeping =
  | { readonly phase: 'idle' }
  | { readonly phase: 'busy'; readonly done: number; readonly total: number; readonly what: string }
  | { readonly phase: 'kept'; readonly total: number }
  | { readonly phase: 'failed'; readonly fault: string };

export const keeping = signal<Keeping>({ phase: 'idle' });

/** Whether this browser can keep anything: not in private windows, nor without a secure address. */
export const canKeep = 'serviceWorker' in navigator && isSecureContext;

/** Waits until the service worker answers for this page. */
async function controlled(): Promise<void> {
  await navigator.serviceWorker.ready;
  if (navigator.serviceWorker.controller !== null) return;
  await new Promise((done) =>
    navigator.serviceWorker.addEventListener('controllerchange', done, { once: true }),
  );
}

async function fetchAll(files: readonly string[]): Promise<void> {
  const answers = await Promise.all(files.map((file) => fetch(file)));
  const refused = answers.findIndex(({ ok }) => !ok);
  if (refused >= 0) throw new Error(`${files[refused]} is not to be had here`);
  // An answer that nobody reads holds its bytes.
  await Promise.all(answers.map((answer) => answer.arrayBuffer()));
}

/** What leads to a model: the service worker keeps it when it is asked for. */
const leadsTo = (name: string): string => `zoo/${name}/bundle.json`;

/** What was asked for again, so that the service worker keeps it. */
const askedFor = new Set<string>();

/** On a first visit models load before the service worker is there: what led to them is asked for again. */
async function keepModel(name: string, backend: string): Promise<void> {
  await controlled();
  const files = [leadsTo(name), `runtime/${backend}.js`].filter((file) => !askedFor.has(file));
  await fetchAll(files);
  for (const file of files) askedFor.add(file);
}

/** Whether a model and what leads to it are kept. Its files are looked up, not read. */
async function isKept(name: string): Promise<boolean> {
  const lead = await caches.match(leadsTo(name));
  if (lead === undefined) return false;
  const { files } = (await lead.json()) as { readonly files: object };
  const found = await Promise.all(
    // They are kept with their hashes behind the address.
    Object.keys(files).map((file) => caches.match(`zoo/${name}/${file}`, { ignoreSearch: true })),
  );
  return found.every((file) => file !== undefined);
}

/** An earlier visit may have kept everything. */
async function lookForKept(names: readonly string[]): Promise<void> {
  const kept = await Promise.all(names.map(isKept));
  const { phase } = keeping.peek();
  // Names that came meanwhile are looked for on their own; what a person asked for goes on.
  if (names.length !== zooNames().length || phase === 'busy' || phase === 'failed') return;
  const total = names.length;
  keeping.value = kept.every(Boolean) ? { phase: 'kept', total } : { phase: 'idle' };
}

/** Downloads every model, the runtime and the page, and keeps them. */
export async function keepEverything(): Promise<void> {
  if (keeping.peek().phase === 'busy') return;
  const names = zooNames();
  const busy = (done: number, what: string): void => {
    keeping.value = { phase: 'busy', done, total: names.length + 1, what };
  };
  try {
    busy(0, 'the page');
    await controlled();
    await navigator.storage.persist();
    await fetchAll([`runtime/${ready.peek()?.backend ?? 'wasm'}.js`, 'zoo/index.json']);
    for (const [i, name] of names.entries()) {
      busy(i + 1, name);
      await fetchAll([leadsTo(name)]);
      await engine.keep(name);
    }
    keeping.value = { phase: 'kept', total: names.length };
  } catch (error) {
    const isOffline = error instanceof TypeError;
    const fault = isOffline ? 'where this page comes from cannot be reached' : messageOf(error);
    keeping.value = { phase: 'failed', fault };
  }
}

export function keepOffline(): void {
  if (!canKeep) return;
  navigator.serviceWorker.register('./service-worker.js').catch(() => {
    // Refused storage or a private window: everything works, only not offline.
  });
  effect(() => {
    const names = zooNames();
    if (names.length === 0) return;
    lookForKept(names).catch(() => {
      // What is kept cannot be told: then keeping it is offered.
    });
  });
  effect(() => {
    const info = ready.value;
    if (info === null) return;
    keepModel(info.name, info.backend).catch(() => {
      // The network went meanwhile; the next visit keeps it.
    });
  });
}
