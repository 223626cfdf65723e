/** Asks a process of its own what a native library is; a crash or a hang there is an answer too. */
import { endAfter, startWorker } from '../child-process.js';
import type { Finding, Library, OnnxFinding, TorchFinding } from './findings.js';

const PATIENCE_MS = 60_000;

function probe<Found>(library: Library): Promise<Finding<Found>> {
  return new Promise((resolve) => {
    const missing = (reason: string): void => resolve({ found: null, reason });
    const { process: child, lastLine } = startWorker('probe/probe-child', [library]);
    endAfter(child, PATIENCE_MS);
    child.once('message', (finding) => resolve(finding as Finding<Found>));
    child.once('error', (error) => missing(error.message));
    child.once('close', (code, signal) => {
      const how = signal === null ? `code ${code}` : signal;
      const last = lastLine();
      missing(`loading it ended the process with ${how}${last === '' ? '' : `: ${last}`}`);
    });
  });
}

export const probeTorch = (): Promise<Finding<TorchFinding>> => probe('torch');
export const probeOnnx = (): Promise<Finding<OnnxFinding>> => probe('onnx');
