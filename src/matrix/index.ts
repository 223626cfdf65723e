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
export { entityMask, realBoundingBox } from './mask.js';
export {
  downscale,
  IMAGE_PIXELS,
  PAPER,
  renderPanelPlainly,
  SMALL_PIXELS,
  SMALL_SIZE,
} from './render.js';
export { IMAGE_SIZE } from './render-entity.js';
export {
  MATRIX_PANELS,
  matrixPanels,
  PROBLEM_IMAGES,
  problemPanels,
  render64Into,
  Renderer,
  renderInto,
  renderMatrix64Into,
  renderPanel,
  renderPanel64,
  renderProblem,
  renderProblemInto,
  type ProblemImages,
  type RendererOptions,
} from './render-panel.js';
export * from './identify.js';
export * from './symbolic.js';
export * from './json.js';
export * from './validation.js';
