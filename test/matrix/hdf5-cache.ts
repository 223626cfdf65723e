/** Writes files as the CRAB authors' caches are, for tests. */
import h5wasm from 'h5wasm/node';
import type { SetBatch } from '../../src/matrix/index.js';

/** A cache of `count` problems, all with the same rule for each concept; panels compressed. */
export async function writeCache(
  file: string,
  count: number,
  problem: (index: number) => SetBatch,
  concepts: readonly number[],
): Promise<void> {
  await h5wasm.ready;
  const shape = [count, 8, 1, 64, 64];
  const panel = new Float32Array(count * 8 * 4096);
  const selection = new Float32Array(count * 8 * 4096);
  const answer = new BigInt64Array(count);
  for (let i = 0; i < count; i++) {
    const { panel: panels, selection: candidates, answer: answers } = problem(i);
    panel.set(panels.subarray(0, 8 * 4096), i * 8 * 4096);
    selection.set(candidates, i * 8 * 4096);
    answer[i] = BigInt(answers[0]);
  }
  const label = Int32Array.from(
    { length: count * concepts.length },
    (_, i) => concepts[i % concepts.length],
  );
  const cache = new h5wasm.File(file, 'w');
  const chunks = [1, 8, 1, 64, 64];
  cache.create_dataset({ name: 'panel', data: panel, shape, chunks, compression: 'gzip' });
  cache.create_dataset({ name: 'selection', data: selection, shape });
  cache.create_dataset({ name: 'answer', data: answer, shape: [count] });
  cache.create_dataset({ name: 'label', data: label, shape: [count, concepts.length] });
  cache.close();
}
