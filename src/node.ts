/** The names people reach for first, for Node. */
export * from './common.js';
export { readProblem, Solver } from './solver/node.js';
