/** ONNX Runtime for Node, loaded when first needed. */
import { ortBackend, type Backend } from '../backend.js';

export async function nodeBackend(threads?: number): Promise<Backend> {
  const ort = await import('onnxruntime-node');
  return ortBackend('node', ort, {
    executionProviders: ['cpu'],
    ...(threads === undefined ? {} : { intraOpNumThreads: threads }),
    logSeverityLevel: 3,
  });
}
