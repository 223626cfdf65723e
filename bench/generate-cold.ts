/**
 * A fresh process of the benchmark of generation: samples and draws the first problems of one
 * configuration with nothing compiled and no sprite drawn yet, and prints the processor time of each
 * step in microseconds as JSON. Arguments: the configuration's folder name, problems of a step, steps.
 */
import {
  findLayout,
  IMAGE_PIXELS,
  PROBLEM_IMAGES,
  renderProblemInto,
  sampleProblem,
  SMALL_PIXELS,
} from '../src/matrix/index.js';

const [folder, problemsOfStep, steps] = process.argv.slice(2);
const { configuration, noisy } = findLayout(folder);
const images = new Uint8Array(PROBLEM_IMAGES * IMAGE_PIXELS);
const small = new Uint8Array(PROBLEM_IMAGES * SMALL_PIXELS);

const times: number[] = [];
let index = 0;
for (let step = 0; step < Number(steps); step++) {
  const before = process.cpuUsage();
  for (let i = 0; i < Number(problemsOfStep); i++, index++) {
    const problem = sampleProblem({ configuration, noisy, variant: 'i-raven', seed: 1, index });
    renderProblemInto(problem, images, 0, small, 0);
  }
  const { user, system } = process.cpuUsage(before);
  times.push(user + system);
}
console.log(JSON.stringify(times));
