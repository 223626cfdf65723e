/** Runs `crab` in a process of its own, as a user does. */
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const CRAB = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  /** May listen to it, and send it signals. */
  readonly onStart?: (child: ChildProcess) => void;
  readonly cwd?: string;
}

function runNode(args: readonly string[], { onStart, cwd }: Running): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    onStart?.(child);
  });
}

export const crab = (args: readonly string[], running: Running = {}): Promise<Outcome> =>
  runNode([CRAB, ...args], running);
