/**
 * Keeps the page for use without a network, and adds the headers that let wasm use threads where the
 * host does not send them. Models are kept by the solver itself; only what leads to them is kept here.
 * Training is live: the worker never touches `api/`.
 */

/** Of a service worker's global scope, which the types of a page do not know. */
interface WorkerScope {
  addEventListener(type: 'install' | 'activate', listener: (event: LifeEvent) => void): void;
  addEventListener(type: 'fetch', listener: (event: RequestEvent) => void): void;
  skipWaiting(): Promise<void>;
  readonly clients: { claim(): Promise<void> };
  readonly registration: { readonly scope: string };
}
interface LifeEvent {
  waitUntil(work: Promise<unknown>): void;
}
interface RequestEvent extends LifeEvent {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}

/** The files of the page and a name that changes with them, put in when the page is built. */
declare const SHELL: { readonly version: string; readonly files: readonly string[] };

const scope = globalThis as unknown as WorkerScope;
const PREFIX = 'crab-studio-';
const CACHE = `${PREFIX}${SHELL.version}`;

const HEADERS = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
};

function isolated(response: Response): Response {
  if (response.type === 'opaque' || response.status === 0 || response.redirected) return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
  const { status, statusText } = response;
  const body = [204, 205, 304].includes(status) ? null : response.body;
  return new Response(body, { status, statusText, headers });
}

async function fetched(request: Request, keep: boolean): Promise<Response> {
  const response = await fetch(request);
  if (keep && response.ok) {
    const copy = response.clone();
    // A full disk costs the offline copy, not the page.
    await caches
      .open(CACHE)
      .then((cache) => cache.put(request, copy))
      .catch(() => undefined);
  }
  return response;
}

/** The network first: for what may change under the same address. */
async function freshest(request: Request): Promise<Response> {
  try {
    return await fetched(request, true);
  } catch (error) {
    const kept = await caches.match(request, { ignoreSearch: request.mode === 'navigate' });
    if (kept !== undefined) return kept;
    throw error;
  }
}

/** The kept copy first: for files whose name changes with their content. */
async function kept(request: Request): Promise<Response> {
  return (await caches.match(request)) ?? (await fetched(request, true));
}

scope.addEventListener('install', (event) => {
  const shell = caches.open(CACHE).then((cache) => cache.addAll([...SHELL.files]));
  event.waitUntil(shell.then(() => scope.skipWaiting()));
});

async function forgetOlder(): Promise<void> {
  for (const name of await caches.keys()) {
    if (name.startsWith(PREFIX) && name !== CACHE) await caches.delete(name);
  }
  await scope.clients.claim();
}
scope.addEventListener('activate', (event) => event.waitUntil(forgetOlder()));

scope.addEventListener('fetch', (event) => {
  const { request } = event;
  const { scope: home } = scope.registration;
  if (request.method !== 'GET' || !request.url.startsWith(home)) return;
  const path = request.url.slice(home.length);
  if (path.startsWith('api/')) return;
  const isBundleFile = path.startsWith('zoo/') && !/\.json([?#]|$)/.test(path);
  const isVersioned = path.startsWith('assets/') || path.startsWith('runtime/');
  const response = isVersioned
    ? kept(request)
    : isBundleFile
      ? fetched(request, false)
      : freshest(request);
  event.respondWith(response.then(isolated));
});
