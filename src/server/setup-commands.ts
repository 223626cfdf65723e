/** The commands that install what is missing. */
import { packageScript } from '../torch/index.js';

export { SETUP_TORCH } from '../torch/index.js';
export const SETUP_ONNX = 'npm install onnxruntime-node --ignore-scripts';
export const BUILD_PAGE = packageScript('build');
