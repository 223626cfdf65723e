/**
 * Networks as plain classes; every name that other layers may use.
 */
export { buffer, Module, parameter } from './module.js';
export type { Buffer, Parameter, Placement } from './module.js';
export type { LayerOptions } from './drawing.js';
export { BatchedLinear, Embedding, Linear } from './linear.js';
export type { BatchedLinearOptions, EmbeddingOptions, LinearOptions } from './linear.js';
export { BatchedConv2d, Conv2d, ConvTranspose2d } from './convolution.js';
export type { BatchedConv2dOptions, Conv2dOptions, ConvTranspose2dOptions } from './convolution.js';
export { BatchNorm2d, LayerNorm } from './normalization.js';
export type { BatchNorm2dOptions, LayerNormOptions } from './normalization.js';
export { MultiheadAttention } from './attention.js';
export type { AttentionMasks, AttentionResult, MultiheadAttentionOptions } from './attention.js';
export { LSTM } from './recurrent.js';
export type { LSTMOptions, LSTMState } from './recurrent.js';
export { Sequential } from './sequential.js';
export type { Layer } from './sequential.js';
export * from './activations.js';
