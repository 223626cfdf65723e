// Finds the headers of the Node that runs, which native addons include.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Folders in which they may lie. */
export const NODE_HEADER_FOLDERS = [
  process.env.npm_config_nodedir && join(process.env.npm_config_nodedir, 'include/node'),
  resolve(process.execPath, '../../include/node'),
  '/usr/local/include/node',
  '/usr/include/node',
  join(homedir(), '.cache/node-gyp', process.versions.node, 'include/node'),
].filter(Boolean);

/** The first folder that has them; undefined if none has. */
export const findNodeHeaders = () =>
  NODE_HEADER_FOLDERS.find((folder) => existsSync(join(folder, 'node_api.h')));
