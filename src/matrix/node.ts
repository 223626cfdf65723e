/** Files of Raven's matrices in Node: folders, sets of any size, HDF5 caches, worker threads. */
export { fileSource } from '../base/node.js';
export {
  checkProblemConfiguration,
  configurationsOf,
  configurationsOfLabels,
  namedConfiguration,
} from './node/data-configuration.js';
export { openHdf5Cache, type CacheOptions } from './node/hdf5.js';
export { MANIFEST, readManifest } from './node/manifest.js';
export { openProblems, openSet, type OpenOptions } from './node/open.js';
export { checkData, type Differences, type OwnProblems } from './node/own-problems.js';
export { problemMaker } from './node/problem-maker.js';
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
export { decodeSvg, svgDrawer, type DrawSvg } from './node/svg-picture.js';
export { PICTURE_LAYOUTS, type PictureLayout, type VlmSetting } from './node/vlm-files.js';
export { RowsWriter } from './node/npz-rows.js';
export { SetWriter } from './node/set-writer.js';
export {
  DEFAULT_VLM,
  generate,
  GENERATE_FORMATS,
  type GenerateFormat,
  type GenerateOptions,
  type GenerateReport,
} from './node/generate.js';
export {
  convert,
  CONVERT_FORMATS,
  type ConvertFormat,
  type ConvertOptions,
  type ConvertReport,
} from './node/convert.js';
