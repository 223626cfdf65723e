/** Runs the built `crab` in a process of its own, as a user does. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts `crab`; `onStart` may send it signals. */
export function crab(
  args: readonly string[],
  onStart?: (child: ChildProcess) => void,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    onStart?.(child);
  });
}

/** A folder that is removed after the tests of a file. */
export function scratchFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'crab-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
