/**
 * Keeps two trainers from working on one run, as two servers on one folder might start. The claim is a
 * local socket that listens as long as its process lives, so that none survives a crash.
 */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Short, as such addresses must be, and the same for everyone who means the same folder. */
function addressOf(run: string): string {
  const name = `crab-${createHash('sha256').update(path.resolve(run)).digest('hex').slice(0, 24)}`;
  return process.platform === 'win32'
    ? `\\\\.\\pipe\\${name}`
    : path.join(tmpdir(), `${name}.sock`);
}

function listen(address: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen(address, () => resolve(server.unref()));
  });
}

/** Whether someone listens there; what only looks like it was left by a process that was killed. */
function isHeld(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT');
    });
  });
}

/** Claims a run for this process; null where another has it. */
export async function claimRun(run: string): Promise<{ release(): void } | null> {
  const address = addressOf(run);
  for (;;) {
    try {
      const server = await listen(address);
      return { release: () => server.close() };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
    if (await isHeld(address)) return null;
    await rm(address, { force: true });
  }
}
