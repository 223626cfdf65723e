/** A seeded stream of numbers in [0, 1), for choosing starting points. */
import { Random } from '../../matrix/index.js';

export function uniformStream(seed: number): () => number {
  const random = new Random(seed);
  return () => random.next() / 2 ** 32;
}
