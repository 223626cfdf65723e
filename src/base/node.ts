/** What every layer needs in Node: files that are complete or absent, folders, worker threads. */
export {
  fileSource,
  OutputTakenError,
  PendingFile,
  syncFolder,
  writeFileAtomically,
  writeOutput,
} from './node/file-source.js';
export { requireEnding, requireFolderName } from './node/file-ending.js';
export {
  exists,
  isFile,
  isFolder,
  makeFolder,
  makeFolderOf,
  makeNewFolder,
  namesIn,
} from './node/folders.js';
export {
  folderPlace,
  isStandardOutput,
  isTaken,
  outputPlace,
  type OutputPlace,
} from './node/output-place.js';
export { LimitedThreads, ThreadError } from './node/limited-thread.js';
export { packageVersion } from './node/package-version.js';
export { runPool, serveTasks, type PoolOptions } from './node/pool.js';
export {
  aboutFile,
  faultSentence,
  ifMissing,
  isMissing,
  systemCauseOf,
  systemFaultOf,
  type SystemFault,
} from './node/system-errors.js';
export { isAlive, thisProcess, type ProcessIdentity } from './node/process-identity.js';
export { openRegularFile, readSmallFile, readTextSync } from './node/regular-file.js';
export { nameToBe, removeAbandonedFiles, temporaryName } from './node/temporary-files.js';
export { startWorker } from './node/worker.js';
