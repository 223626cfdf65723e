/** A thread that makes problems for a stream, chunk after chunk, until the ring is stopped. */
import { parentPort, workerData } from 'node:worker_threads';
import { makeProblem, type ProblemSource } from './problem-maker.js';
import { PROBLEM_BYTES, RingProducer, type RingMemory } from './ring.js';

export interface StreamWorkerData {
  readonly ring: RingMemory;
  readonly source: ProblemSource;
  /** Index of the first problem of chunk 0. */
  readonly first: number;
}

const { ring, source, first } = workerData as StreamWorkerData;
const producer = new RingProducer(ring);

for (let chunk = producer.claim(); chunk !== null; chunk = producer.claim()) {
  const bytes = producer.bytesOf(chunk);
  for (let n = 0; n < ring.chunkProblems; n++) {
    makeProblem(source, first + chunk * ring.chunkProblems + n, bytes, n * PROBLEM_BYTES);
  }
  if (producer.publish(chunk)) parentPort?.postMessage(chunk);
}
