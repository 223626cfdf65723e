/** Files of Raven's matrices in Node: folders, sets of any size, HDF5 caches, worker threads. */
export {
  fileSource,
  OutputTakenError,
  PendingFile,
  writeFileAtomically,
  writeOutput,
} from './node/file-source.js';
export { exists, isFile, isFolder, makeFolder, makeFolderOf } from './node/folders.js';
export { openHdf5Cache, type CacheOptions } from './node/hdf5.js';
export { requireEnding } from './node/file-ending.js';
export { folderPlace, isTaken, outputPlace, type OutputPlace } from './node/output-place.js';
export { openProblems, openSet, type OpenOptions } from './node/open.js';
export {
  configurationFolders,
  labelOfRaven,
  layoutOfFolder,
  listRavenFolder,
  openRavenFolder,
  readRavenFolder,
  readRavenProblem,
  writeRavenProblem,
  type RavenPlace,
  type RavenProblem,
  type WriteOptions,
} from './node/raven-folder.js';
export {
  isAlive,
  processPlace,
  thisProcess,
  type ProcessIdentity,
} from './node/process-identity.js';
export { openRegularFile, readSmallFile, readTextSync } from './node/regular-file.js';
export { nameToBe, removeAbandonedFiles, temporaryName } from './node/temporary-files.js';
export { packageVersion } from './node/package-version.js';
export { SetWriter } from './node/set-writer.js';
export {
  faultSentence,
  systemCauseOf,
  systemFaultOf,
  type SystemFault,
} from './node/system-errors.js';
export { startWorker } from './node/worker.js';
export {
  generate,
  GENERATE_FORMATS,
  type GenerateFormat,
  type GenerateOptions,
  type GenerateReport,
} from './node/generate.js';
export { runPool, serveTasks, type PoolOptions } from './node/pool.js';
export {
  convert,
  CONVERT_FORMATS,
  type ConvertFormat,
  type ConvertOptions,
  type ConvertReport,
} from './node/convert.js';
