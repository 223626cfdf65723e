/**
 * The service worker that keeps the page for use without a network and, on hosts that send no headers
 * for threads, adds them. They count from the next visit on; until then one thread does.
 */
import { effect } from '@preact/signals';
import { ready } from './store.js';

/** Waits until the service worker answers for this page. */
async function controlled(): Promise<void> {
  await navigator.serviceWorker.ready;
  if (navigator.serviceWorker.controller !== null) return;
  await new Promise((done) =>
    navigator.serviceWorker.addEventListener('controllerchange', done, { once: true }),
  );
}

/** On a first visit models load before the service worker is there: what led to them is asked for again. */
async function keepModel(name: string, backend: string): Promise<void> {
  await controlled();
  const files = [`zoo/${name}/bundle.json`, `runtime/${backend}.js`];
  await Promise.all(files.map((file) => fetch(file)));
}

export function keepOffline(): void {
  if (!('serviceWorker' in navigator) || !isSecureContext) return;
  navigator.serviceWorker.register('./service-worker.js').catch(() => {
    // Refused storage or a private window: everything works, only not offline.
  });
  effect(() => {
    const info = ready.value;
    if (info === null) return;
    keepModel(info.name, info.backend).catch(() => {
      // The network went meanwhile; the next visit keeps it.
    });
  });
}
