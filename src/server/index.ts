/** The server of `crab studio`, and what `crab info` tells. Node only. */
export { HttpFault } from './faults.js';
export { readInstallation } from './installation.js';
export type { BundleInfo, Installation, Part } from './installation.js';
export { LIMITS } from './limits.js';
export { isLoopback } from './origin.js';
export { pageFolder, startStudio, type StudioOptions, type StudioServer } from './studio-server.js';
export type { TrainingSettings } from './training/protocol.js';
