/**
 * Optimisers and gradient clipping; every name that other layers may use.
 */
export { Optimizer } from './optimizer.js';
export type { OptimizerOptions } from './optimizer.js';
export { SGD } from './sgd.js';
export type { SGDOptions } from './sgd.js';
export { RMSprop } from './rmsprop.js';
export type { RMSpropOptions } from './rmsprop.js';
export { Adam, AdamW } from './adam.js';
export type { AdamOptions } from './adam.js';
export { clipGradNorm, clipGradValue } from './clipping.js';
