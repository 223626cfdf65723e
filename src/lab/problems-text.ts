/** In words, how many problems something was measured on and where they are from. */
import type { MeasuredProblems, ModelEvaluation } from './evaluation.js';
import { whole } from './numbers.js';

const problemsOf = (count: number, what = ''): string =>
  `${whole(count)} ${what}${count === 1 ? 'problem' : 'problems'}`;

/** Where nobody gave data, all are fresh: those of the sets that were made, and those added to them. */
export function problemsText(
  { data }: Pick<ModelEvaluation, 'data'>,
  { fromData, generated, seed }: MeasuredProblems,
): string {
  const seeds = data.map((set) => set.seed);
  const fresh = [...new Set(seeds.filter((each) => each !== undefined))];
  if (fromData === 0) return `${problemsOf(generated, 'fresh ')} (seed ${seed})`;
  if (seeds.length > 0 && !seeds.includes(undefined)) {
    const all = generated === 0 ? fresh : [...fresh, seed];
    const from = all.length === 1 ? `seed ${all[0]}` : `seeds ${all.join(' and ')}`;
    return `${problemsOf(fromData + generated, 'fresh ')} (${from})`;
  }
  const given = `${problemsOf(fromData)} of the data${fresh.length > 0 ? ', given and fresh' : ''}`;
  return generated === 0 ? given : `${given} and ${whole(generated)} fresh ones (seed ${seed})`;
}
