/** Raven's matrices as data: make, draw, solve, read and write them. Runs in a browser and in Node. */
export * from './attributes.js';
export * from './errors.js';
export * from './layouts.js';
export * from './problem.js';
export { freePlan, type ComponentPlan, type Plan, type RowStart } from './plan.js';
export * from './random.js';
export * from './rules.js';
export {
  answerOf,
  samplePanels,
  sampleProblem,
  type CompleteMatrix,
  type PanelRequest,
  type ProblemRequest,
} from './sampling.js';
