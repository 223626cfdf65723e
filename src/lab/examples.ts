/** Problems of our generator to show in a report, with what the model chose. */
import { VARIANTS } from '../matrix/index.js';
import type { ExampleProblem } from './evaluation.js';
import { Chooser } from './metrics/chooser.js';
import { generatedSource } from './metrics/generated-source.js';
import type { PanelEncoder } from './metrics/panel-encoder.js';
import type { Subject } from './subject.js';

export const EXAMPLE_SEED = 7_800_000_023;
const EXAMPLES = 6;

/** The first problems of the example seed, the two variants in turn. */
export async function exampleProblems(
  subject: Pick<Subject, 'solver' | 'statistics'>,
  encoder: PanelEncoder,
  signal?: AbortSignal,
): Promise<ExampleProblem[]> {
  const { configuration, noisy } = subject.solver.manifest;
  const chooser = new Chooser(subject.solver, subject.statistics, encoder);
  const examples: ExampleProblem[] = [];
  for (let index = 0; index < EXAMPLES; index++) {
    const variant = VARIANTS[index % VARIANTS.length];
    const request = { configuration, noisy, variant, seed: EXAMPLE_SEED };
    const batch = await generatedSource(request, EXAMPLES).read(index, 1);
    const { own, confidence } = await chooser.choose(batch, signal);
    const [answer] = batch.answer;
    examples.push({
      ...request,
      index,
      answer: answer + 1,
      chosen: own[0] + 1,
      confidence: confidence[0],
    });
  }
  return examples;
}
