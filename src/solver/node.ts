/** A trained model in Node: the same `Solver`, loaded from a folder too. */
import { openBundle, type Bundle, type BundleSource } from './bundle.js';
import { nodeBackend } from './node/backend.js';
import { locateBundle } from './node/files.js';
import { partsOf } from './solver-parts.js';
import { SolverCore } from './solver.js';
import type { LoadOptions } from './web.js';

export * from './exports.js';
export { nodeBackend, nodeRuntime, RUNTIME_VARIABLE, type NodeRuntime } from './node/backend.js';
export { readProblem } from './node/inputs.js';
export {
  CARD_FILE,
  folderSource,
  listOthers,
  listZoo,
  locateBundle,
  memoryBundle,
  bundlePlace,
  writeBundle,
  zooFolder,
} from './node/files.js';

export class Solver extends SolverCore {
  /** Loads a bundle by its name in the zoo, the path of its folder, or its URL. */
  static async load(nameOrPathOrUrl: string, options: LoadOptions = {}): Promise<Solver> {
    return Solver.open(await locateBundle(nameOrPathOrUrl, options), options);
  }

  /** Loads a bundle from anywhere its files can be read. */
  static async open(source: BundleSource, options: LoadOptions = {}): Promise<Solver> {
    return Solver.of(await openBundle(source, options.signal, options.onProgress), options);
  }

  /** A solver of a bundle already verified. */
  static async of(bundle: Bundle, options: Pick<LoadOptions, 'threads'> = {}): Promise<Solver> {
    return new Solver(await partsOf(bundle, await nodeBackend(options.threads)));
  }
}
