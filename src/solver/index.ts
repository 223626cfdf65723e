/**
 * A trained model anywhere, on ONNX Runtime. This is the entry for browsers; `node.ts`, of the same
 * shape, is that for Node.
 *
 *     const solver = await Solver.load('center');
 *     const answer = await solver.solve(panels, { missing: [9] });
 *     const { index, confidence } = await solver.choose(answer, candidates);
 */
import { openBundle } from './bundle.js';
import { partsOf } from './solver-parts.js';
import { SolverCore } from './solver.js';
import { bundleUrl, pageCache, urlSource, webBackend, type LoadOptions } from './web.js';

export * from './exports.js';
export { keepBundle } from './web.js';
export { browserPicture, readProblem } from './web-problem.js';

export class Solver extends SolverCore {
  /** Loads a bundle by its name in the zoo or its URL. */
  static async load(nameOrUrl: string, options: LoadOptions = {}): Promise<Solver> {
    const cache = (options.cache ?? true) ? await pageCache() : null;
    const source = urlSource(bundleUrl(nameOrUrl, options.zoo), cache, options.signal);
    const bundle = await openBundle(source, options.signal, options.onProgress);
    options.signal?.throwIfAborted();
    return new Solver(await partsOf(bundle, await webBackend(options)));
  }
}
