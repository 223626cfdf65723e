/** A thread that makes problems for a stream, chunk after chunk, until the ring is stopped. */
import { MATRIX_PIXELS } from '../../matrix/index.js';
import { parentPort, workerData } from 'node:worker_threads';
import { problemIndexer, type ProblemPlan } from '../parallel/problem-plan.js';
import { makeProblem, type ProblemSource } from './problem-maker.js';
import { RingProducer, type RingMemory } from './ring.js';

export interface StreamWorkerData {
  readonly ring: RingMemory;
  readonly source: ProblemSource;
  /** Number of the first problem of chunk 0. */
  readonly first: number;
  /** Which problems of the source are made; all of them unless told. */
  readonly plan?: ProblemPlan;
}

const { ring, source, first, plan } = workerData as StreamWorkerData;
const indexOf = problemIndexer(plan);
const producer = new RingProducer(ring);

for (let chunk = producer.claim(); chunk !== null; chunk = producer.claim()) {
  const bytes = producer.bytesOf(chunk);
  for (let n = 0; n < ring.chunkProblems; n++) {
    const index = indexOf(first + chunk * ring.chunkProblems + n);
    makeProblem(source, index, bytes, n * MATRIX_PIXELS);
  }
  if (producer.publish(chunk)) parentPort?.postMessage(chunk);
}
