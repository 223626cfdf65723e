/** ONNX Runtime for Node, loaded when first needed. */
import { ortBackend, type Backend } from '../backend.js';

export async function nodeBackend(threads?: number): Promise<Backend> {
  const ort = await import('onnxruntime-node');
  const options = {
    executionProviders: ['cpu'],
    ...(threads === undefined ? {} : { intraOpNumThreads: threads }),
    logSeverityLevel: 3,
  } as const;
  // Threads sleep while they have nothing to do: spinning ones take the cores that other work needs,
  // and where those are busy a network takes twice as long.
  return ortBackend('node', ort, options, { intra_op: { allow_spinning: '0' } });
}
