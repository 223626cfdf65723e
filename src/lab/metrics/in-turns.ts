/**
 * Several sources read a batch of each in turn. Sets of the two variants often hold the same matrices:
 * read so, their panels are still known to the encoder when they come back.
 */
import { batches, type ProblemSource, type SetBatch } from '../../matrix/index.js';

export async function* inTurns(
  sources: readonly ProblemSource[],
  size: number,
): AsyncGenerator<{ readonly source: number; readonly batch: SetBatch }> {
  const readers = sources.map((source) => batches(source, size)[Symbol.asyncIterator]());
  const open = new Set(readers.keys());
  while (open.size > 0) {
    for (const source of open) {
      const { done, value } = await readers[source].next();
      if (done === true) open.delete(source);
      else yield { source, batch: value };
    }
  }
}
