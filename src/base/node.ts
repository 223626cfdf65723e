/** What every layer needs in Node: files that are complete or absent, folders, worker threads. */
export { fileSource, PendingFile, readSmallFile, writeFileAtomically } from './node/file-source.js';
export { exists, isFile, isFolder, makeFolder, makeFolderOf } from './node/folders.js';
export { outputPlace, type OutputPlace } from './node/output-place.js';
export { packageVersion } from './node/package-version.js';
export { runPool, serveTasks, type PoolOptions } from './node/pool.js';
export {
  faultSentence,
  systemCauseOf,
  systemFaultOf,
  type SystemFault,
} from './node/system-errors.js';
export { startWorker } from './node/worker.js';
