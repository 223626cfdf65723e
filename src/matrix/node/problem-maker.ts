/** Problems of one setting of `crab generate`, by their number. */
import { parseConstraints } from '../constraints.js';
import { layoutOf } from '../layouts.js';
import type { Plan } from '../plan.js';
import type { Problem } from '../problem.js';
import { partOf, PARTS, type Part } from '../raven-file.js';
import { sampleProblem } from '../sampling.js';
import type { WorkerSetting } from './generate-worker.js';

/** Makes problem after problem of one setting. */
export function problemMaker(
  setting: Pick<WorkerSetting, 'configuration' | 'noisy' | 'mesh' | 'variant' | 'seed' | 'rules'>,
): (index: number) => Problem {
  const { configuration, noisy, mesh, variant, seed, rules } = setting;
  const request = { configuration, noisy, mesh, variant, seed };
  if (rules === undefined) {
    return (index) => sampleProblem({ ...request, index });
  }
  const layout = layoutOf(configuration, noisy, mesh);
  // A regime without a split goes by the number of the problem, as the published sets do.
  const plans = Object.fromEntries(
    PARTS.map((part) => [part, parseConstraints(rules, layout, part)]),
  ) as Record<Part, Plan>;
  return (index) => {
    const constraints = plans[partOf(index)];
    return sampleProblem({ ...request, index, constraints });
  };
}
