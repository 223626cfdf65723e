/**
 * Loading in a browser: files by fetch, kept in the Cache API so that a second visit downloads nothing,
 * and ONNX Runtime's web build, on WebGPU if there is one, else on wasm. Files are kept under their
 * hashes, so that a changed bundle is never mixed with an old one.
 */
import { ArgumentError, concatenate } from '../base/index.js';
import { ortBackend, type Backend } from './backend.js';
import {
  BUNDLE_SYSTEMS,
  MANIFEST_FILE,
  openBundle,
  type BundleFile,
  type BundleProgress,
  type BundleSource,
  type ExpectedFile,
} from './bundle.js';
import { BundleError, MissingBundleError } from './errors.js';
import { sha256 } from './sha256.js';
import { webRuntime } from './web-runtime.js';

export interface LoadOptions {
  readonly signal?: AbortSignal;
  /** Hears how much of the bundle has been read; what follows is the runtime's own preparation. */
  readonly onProgress?: (progress: BundleProgress) => void;
  /**
   * In browsers: `auto`, the default, is WebGPU if there is one that wasm can wait for (JavaScript
   * Promise Integration), else wasm. Ignored in Node.
   */
  readonly backend?: 'auto' | 'wasm' | 'webgpu';
  /** Threads of one operation; in a browser more than one needs a cross-origin isolated page. */
  readonly threads?: number;
  /** Where bundles are looked up by name: in a browser `zoo/` beside the page unless told. */
  readonly zoo?: string;
  /**
   * In browsers: a folder that serves onnxruntime-web's own files, for pages whose security policy
   * refuses scripts from `blob:` addresses. Nobody else needs it.
   */
  readonly wasmPaths?: string;
  /** Whether files from URLs are kept for the next time; true unless told. */
  readonly cache?: boolean;
}

/** Keeps the files of bundles between visits. */
export interface FileCache {
  get(url: URL, file: BundleFile): Promise<Uint8Array | null>;
  put(url: URL, file: BundleFile, bytes: Uint8Array): Promise<void>;
}

/** The browser's own things, which the types of Node do not know. */
interface Page {
  readonly location?: { readonly href: string };
  readonly caches?: { open(name: string): Promise<PageCache> };
  readonly navigator?: { readonly gpu?: { requestAdapter(): Promise<unknown> } };
  readonly crossOriginIsolated?: boolean;
  readonly WebAssembly?: object;
}

interface PageCache {
  match(key: string): Promise<Response | undefined>;
  put(key: string, response: Response): Promise<void>;
  delete(key: string, options: { ignoreSearch: boolean }): Promise<boolean>;
}

const page = globalThis as Page;
const CACHE_NAME = 'crab-bundles-1';

/** The browser's Cache API, or null if it is absent or refuses, as in private windows. */
export async function pageCache(): Promise<FileCache | null> {
  let cache: PageCache;
  try {
    if (page.caches === undefined) return null;
    cache = await page.caches.open(CACHE_NAME);
  } catch {
    return null;
  }
  const keyOf = (url: URL, file: BundleFile): string => `${url.href}?sha256=${file.sha256}`;
  return {
    get: async (url, file) => {
      const found = await cache.match(keyOf(url, file));
      return found === undefined ? null : new Uint8Array(await found.arrayBuffer());
    },
    put: async (url, file, bytes) => {
      await cache.delete(url.href, { ignoreSearch: true });
      await cache.put(keyOf(url, file), new Response(bytes as Uint8Array<ArrayBuffer>));
    },
  };
}

/** Reads a response whose size is checked while it comes in. */
async function readResponse(
  response: Response,
  what: string,
  { most, onBytes }: ExpectedFile,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
  for (;;) {
    const piece = await reader?.read();
    if (piece?.value === undefined) break;
    length += piece.value.length;
    if (length > most) {
      await reader?.cancel();
      throw new BundleError(`${what} is longer than the ${most} bytes expected`);
    }
    pieces.push(piece.value);
    onBytes?.(piece.value.length);
  }
  return concatenate(pieces);
}

/** Whether a host has no such bundle: it says so, or answers every address with a page. */
function isAbsent(response: Response): boolean {
  const type = response.headers.get('content-type') ?? '';
  return response.status === 404 || type.startsWith('text/html');
}

async function download(
  url: URL,
  expected: ExpectedFile,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  try {
    const always: object = { cache: 'no-cache', signal };
    const response = await fetch(url, always);
    if (url.pathname.endsWith(`/${MANIFEST_FILE}`) && isAbsent(response)) {
      throw new MissingBundleError(`${url.href}: there is no bundle`);
    }
    if (!response.ok) throw new BundleError(`${url.href}: the server answers ${response.status}`);
    return await readResponse(response, url.href, expected);
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof BundleError) throw cause;
    throw new BundleError(`${url.href} cannot be loaded`, { cause });
  }
}

/** Files of a bundle below a URL. The manifest is always asked for anew, the rest kept. */
export function urlSource(base: URL, cache: FileCache | null, signal?: AbortSignal): BundleSource {
  const folder = base.href.endsWith('/') ? base : new URL(`${base.href}/`);
  return {
    name: base.href,
    read: async (name, expected: ExpectedFile) => {
      const { file } = expected;
      const url = new URL(name, folder);
      if (file === undefined || cache === null) return download(url, expected, signal);
      const kept = await cache.get(url, file).catch(() => null);
      if (kept !== null && (await sha256(kept)) === file.sha256) return kept;
      const bytes = await download(url, expected, signal);
      // What is kept is right; a full disk or a refused quota only costs the next visit a download.
      if ((await sha256(bytes)) === file.sha256) {
        await cache.put(url, file, bytes).catch(() => undefined);
      }
      return bytes;
    },
  };
}

/** Names of bundles, as opposed to paths and URLs: `center`, or of another system `transformer/center`. */
export function isBundleName(location: string): boolean {
  const [name, ...systems] = location.split('/').reverse();
  const isNamed =
    systems.length === 0 || (systems.length === 1 && BUNDLE_SYSTEMS.includes(systems[0]));
  return isNamed && /^[a-z0-9][a-z0-9-]*$/.test(name);
}

/** Where a name, path or URL points to from a page. */
export function bundleUrl(location: string, zoo = 'zoo/'): URL {
  const here = page.location?.href;
  try {
    if (!isBundleName(location)) return new URL(location, here);
    const folder = new URL(zoo, here).href.replace(/\/?$/, '/');
    return new URL(`${location}/`, folder);
  } catch {
    throw new ArgumentError(`${location}: expected the name or the address of a bundle`);
  }
}

/** Reads and verifies a bundle so that it is kept for the next time, without loading it. */
export async function keepBundle(
  location: string,
  { zoo, signal, onProgress }: Pick<LoadOptions, 'zoo' | 'signal' | 'onProgress'> = {},
): Promise<void> {
  const cache = await pageCache();
  if (cache === null) throw new BundleError('this browser keeps no files for pages here');
  await openBundle(urlSource(bundleUrl(location, zoo), cache, signal), signal, onProgress);
}

/** ONNX Runtime for browsers. */
export async function webBackend(options: LoadOptions): Promise<Backend> {
  const wanted = options.backend ?? 'auto';
  const hasGpu = wanted !== 'wasm' && (await hasWebGpu());
  if (wanted === 'webgpu' && !hasGpu)
    throw new ArgumentError(
      'backend webgpu: this browser has no WebGPU, or no JavaScript Promise Integration to wait for it',
    );
  const kind = hasGpu ? 'webgpu' : 'wasm';
  const threads = page.crossOriginIsolated ? (options.threads ?? 0) : 1;
  const ort = await webRuntime(kind, { threads, wasmPaths: options.wasmPaths });
  return ortBackend(kind, ort, { executionProviders: hasGpu ? ['webgpu', 'wasm'] : ['wasm'] });
}

/**
 * Whether there is a WebGPU to use. ONNX Runtime has builds of it that wait for the GPU by rewinding wasm
 * (27 MB, for any browser) and by JavaScript Promise Integration (17 MB, and quicker); the second is used.
 */
async function hasWebGpu(): Promise<boolean> {
  if (!('Suspending' in (page.WebAssembly ?? {}))) return false;
  try {
    const adapter = await page.navigator?.gpu?.requestAdapter();
    return adapter !== null && adapter !== undefined;
  } catch {
    return false;
  }
}
