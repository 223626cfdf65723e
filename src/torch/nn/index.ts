/**
 * Networks as plain classes; every name that other layers may use.
 */
export * from './activations.js';
export * from './attention.js';
export * from './conv-stages.js';
export * from './convolution.js';
export type { LayerOptions } from './drawing.js';
export * from './linear.js';
export * from './module.js';
export * from './normalization.js';
export * from './recurrent.js';
export * from './sequential.js';
