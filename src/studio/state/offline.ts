/**
 * The service worker that keeps the page for use without a network and, on hosts that send no headers
 * for threads, adds them. They count from the next visit on; until then one thread does.
 */
export function keepOffline(): void {
  if (!('serviceWorker' in navigator) || !isSecureContext) return;
  navigator.serviceWorker.register('./service-worker.js').catch(() => {
    // Refused storage or a private window: everything works, only not offline.
  });
}
