/**
 * Optimisers and gradient clipping; every name that other layers may use.
 */
export { Optimizer, type OptimizerOptions } from './optimizer.js';
export * from './adam.js';
export * from './clipping.js';
export * from './rmsprop.js';
export * from './sgd.js';
