/** ONNX Runtime for Node. */
import * as ort from 'onnxruntime-node';
import { ortBackend, type Backend } from '../backend.js';

export function nodeBackend(threads?: number): Backend {
  return ortBackend('node', ort, {
    executionProviders: ['cpu'],
    intraOpNumThreads: threads,
    logSeverityLevel: 3,
  });
}
