/** The commands that install what is missing, for a checkout and for a project that depends on this. */
import { fileURLToPath } from 'node:url';

const isInstalled = /[\\/]node_modules[\\/]/.test(fileURLToPath(import.meta.url));
const inPackage = (script: string): string =>
  isInstalled ? `npm explore crab-raven -- npm run ${script}` : `npm run ${script}`;

export const SETUP_TORCH = inPackage('setup:torch');
export const SETUP_ONNX = 'npm install onnxruntime-node --ignore-scripts';
export const BUILD_PAGE = inPackage('build');
