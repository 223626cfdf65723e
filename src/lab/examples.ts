/** Problems of our generator to show in a report, with what the model chose. */
import { PAPER_VARIANTS } from '../matrix/index.js';
import { nearest, softmax } from '../solver/index.js';
import type { ExampleProblem } from './evaluation.js';
import { generatedSource } from './metrics/generated-source.js';
import { answerDistances } from './metrics/selection-accuracy.js';
import type { Subject } from './subject.js';

export const EXAMPLE_SEED = 7_800_000_023;
const EXAMPLES = 6;

/** The first problems of the example seed, the two variants in turn. */
export async function exampleProblems(
  subject: Subject,
  signal?: AbortSignal,
): Promise<ExampleProblem[]> {
  const { configuration, noisy, imageSize } = subject.facts;
  const examples: ExampleProblem[] = [];
  for (let index = 0; index < EXAMPLES; index++) {
    const variant = PAPER_VARIANTS[index % PAPER_VARIANTS.length];
    const request = { configuration, noisy, variant, seed: EXAMPLE_SEED };
    const batch = await generatedSource(request, EXAMPLES, imageSize).read(index, 1);
    const [{ own, scale }] = await answerDistances(subject, batch, signal);
    const [answer] = batch.answer;
    examples.push({
      ...request,
      index,
      answer: answer + 1,
      chosen: nearest(own) + 1,
      confidence: Math.max(...softmax(own, scale)),
    });
  }
  return examples;
}
