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
  const loader = pathToFileURL(
    path.join(
      path.dirname(createRequire(import.meta.url).resolve('tsx/package.json')),
      'dist/esm/api/index.mjs',
    ),
  ).href;
  // Node 20 ignores loaders for the entry of a worker, so a plain module registers tsx first.
  const start = `
    const { register } = await import(${JSON.stringify(loader)});
    register();
    await import(${JSON.stringify(source)});`;
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(start)}`), options);
}
