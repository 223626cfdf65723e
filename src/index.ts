/**
 * The names people reach for first, for browsers; `node.ts`, of the same shape, is the entry for Node.
 *
 *     const problem = sampleProblem({ configuration: 'center', seed: 1, index: 0 });
 *     const { panels, missing, candidates } = panelsOf(problem);
 *     const solver = await Solver.load('center');
 *     const answer = await solver.solve(panels, { missing });
 */
export * from './common.js';
export { readProblem, Solver } from './solver/index.js';
