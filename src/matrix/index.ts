/** Raven's matrices as data: make, draw, solve, read and write them. Runs in a browser and in Node. */
export * from './attributes.js';
export * from './errors.js';
export * from './layouts.js';
export * from './problem.js';
