/** A thread of the benchmark of generation: samples and draws runs of problems at both sizes. */
import {
  IMAGE_PIXELS,
  PROBLEM_IMAGES,
  renderProblemInto,
  sampleProblem,
  SMALL_PIXELS,
  type Configuration,
} from '../src/matrix/index.js';
import { serveTasks } from '../src/base/node.js';

export interface DrawTask {
  readonly configuration: Configuration;
  readonly noisy: boolean;
  readonly first: number;
  readonly count: number;
}

const images = new Uint8Array(PROBLEM_IMAGES * IMAGE_PIXELS);
const small = new Uint8Array(PROBLEM_IMAGES * SMALL_PIXELS);

serveTasks<DrawTask, number>(({ configuration, noisy, first, count }) => {
  for (let index = first; index < first + count; index++) {
    const problem = sampleProblem({ configuration, noisy, variant: 'i-raven', seed: 1, index });
    renderProblemInto(problem, images, 0, small, 0);
  }
  return count;
});
