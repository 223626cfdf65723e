/**
 * Starts worker threads from our own modules, whether they run compiled (dist/*.js) or as they are
 * written (src/*.ts, under tsx or Vitest).
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * A worker thread on a module given relative to the caller:
 * `startWorker(new URL('./task-worker.js', import.meta.url), { workerData })`.
 * Running from source, `.js` stands for the `.ts` beside it.
 */
export function startWorker(module: URL, options: WorkerOptions = {}): Worker {
  // import.meta.url tells how this very file runs, and so how its neighbours do.
  if (!import.meta.url.endsWith('.ts')) return new Worker(module, options);
  const source = module.href.replace(/\.js$/, '.ts');
  return new Worker(dataUrl(registerTsxAndImport(source)), options);
}

const dataUrl = (code: string): URL => new URL(`data:text/javascript,${encodeURIComponent(code)}`);

/** Node 20 ignores loaders for the entry of a worker, so a plain module registers tsx first. */
function registerTsxAndImport(source: string): string {
  const tsx = path.dirname(createRequire(import.meta.url).resolve('tsx/package.json'));
  const loader = pathToFileURL(path.join(tsx, 'dist/esm/api/index.mjs')).href;
  return `
    import { register as registerHooks } from 'node:module';
    const { register } = await import(${JSON.stringify(loader)});
    register();
    registerHooks(${JSON.stringify(dataUrl(LOAD_PACKAGES_PLAINLY).href)});
    await import(${JSON.stringify(source)});`;
}

/** Packages are JavaScript already: past tsx, which takes seconds for a megabyte of it. */
const LOAD_PACKAGES_PLAINLY = `
  import { readFile } from 'node:fs/promises';
  export async function load(url, context, next) {
    if (context.format !== 'module' || !url.includes('/node_modules/')) return next(url, context);
    return { format: 'module', source: await readFile(new URL(url)), shortCircuit: true };
  }`;
