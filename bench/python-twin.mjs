/** The Python half of a measurement: a process that answers one JSON request at a time, a line each. */
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

/** @param blasLibraries those that our libtorch uses: Python gets the same where the system has several */
export function startTwin({ python, script, blasLibraries }) {
  const folders = blasLibraries.map((path) => dirname(path));
  const { LD_LIBRARY_PATH: given } = process.env;
  const LD_LIBRARY_PATH = [...(given ? [given] : []), ...new Set(folders)].join(':');
  // Loading libtorch has chosen BLAS kernels by environment variables; Python inherits them.
  const child = spawn(python, ['-u', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, LD_LIBRARY_PATH },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(request) {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`${python} ended; has it torch?`);
      return JSON.parse(value);
    },
    end: () => child.stdin.end(),
  };
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
