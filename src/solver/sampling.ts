/** Random rules and concepts around what a model finds, from a seed. */
import { ArgumentError } from '../base/index.js';
import { Random } from '../matrix/index.js';
import type { CheckedQuestion } from './checked-question.js';
import type { Reasoning } from './networks.js';

const MOST_SAMPLES = 1000;

export function checkSampleCount(count: number): void {
  if (!Number.isSafeInteger(count) || count < 1 || count > MOST_SAMPLES) {
    throw new ArgumentError(`count ${count}: expected 1 to ${MOST_SAMPLES} answers`);
  }
}

/** Standard normal numbers from a seed (Box and Muller's method). */
export function normals(seed: number): () => number {
  if (!Number.isSafeInteger(seed)) throw new ArgumentError(`seed ${seed}: expected an integer`);
  const random = new Random(seed);
  let kept: number | null = null;
  return () => {
    if (kept !== null) {
      const value = kept;
      kept = null;
      return value;
    }
    const radius = Math.sqrt(-2 * Math.log((random.next() + 1) / 2 ** 32));
    const angle = 2 * Math.PI * random.uniform();
    kept = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
}

/** The question with a rule drawn for every concept that has none imposed, from its reasoning. */
export function withDrawnRules(
  question: CheckedQuestion,
  { ruleMean, ruleDeviation }: Reasoning,
  ruleSize: number,
  normal: () => number,
): CheckedQuestion {
  const imposed = question.imposed.map((given, m) => {
    const drawn = Float32Array.from({ length: ruleSize }, (_, k) => {
      const at = m * ruleSize + k;
      return ruleMean[at] + normal() * ruleDeviation[at];
    });
    return given ?? drawn;
  });
  return { ...question, imposed };
}

/** `values` one after the other, `count` times. */
export function repeated(values: Float32Array, count: number): Float32Array {
  const all = new Float32Array(count * values.length);
  for (let i = 0; i < count; i++) all.set(values, i * values.length);
  return all;
}
