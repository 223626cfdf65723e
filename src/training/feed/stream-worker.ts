/** A thread that makes problems for a stream, chunk after chunk, until the ring is stopped. */
import { parentPort, workerData } from 'node:worker_threads';
import { problemIndexer, type ProblemPlan } from './problem-plan.js';
import { makeRecord, type ProblemSource, type RecordLayout } from './record.js';
import { RingProducer, type RingMemory } from './ring.js';

export interface StreamWorkerData {
  readonly ring: RingMemory;
  readonly source: ProblemSource;
  readonly record: RecordLayout;
  /** Number of the first problem of chunk 0. */
  readonly first: number;
  /** Which problems of the source are made; all of them unless told. */
  readonly plan?: ProblemPlan;
}

const { ring, source, record, first, plan } = workerData as StreamWorkerData;
const indexOf = problemIndexer(plan);
const producer = new RingProducer(ring);

for (let chunk = producer.claim(); chunk !== null; chunk = producer.claim()) {
  const bytes = producer.bytesOf(chunk);
  for (let n = 0; n < ring.chunkProblems; n++) {
    const index = indexOf(first + chunk * ring.chunkProblems + n);
    makeRecord(record, source, index, bytes, n * record.bytes);
  }
  if (producer.publish(chunk)) parentPort?.postMessage(chunk);
}
