/** Which process did something, told so that another can find out later whether it still runs. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

export interface ProcessIdentity {
  readonly host: string;
  readonly pid: number;
  /** When the process started, in the system's own terms: pids are used again. Null if unknown. */
  readonly started: string | null;
}

/** State and start of a process as Linux tells them; null if it does not, or there is none. */
function processFacts(pid: number): { state: string; started: string } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in brackets, may hold anything; the third field comes after it.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0], started: fields[19] };
  } catch {
    return null;
  }
}

export const thisProcess = (): ProcessIdentity => ({
  host: hostname(),
  pid: process.pid,
  started: processFacts(process.pid)?.started ?? null,
});

/** Whether a process of this host still runs. */
export function isAlive({ pid, started }: Omit<ProcessIdentity, 'host'>): boolean {
  const facts = processFacts(pid);
  // A killed process whose parent has not asked for its end yet is a zombie.
  if (facts !== null && started !== null) return facts.started === started && facts.state !== 'Z';
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const PLACE_DIGITS = 8;

/**
 * Where this process can ask after others by their pid, as eight hexadecimal digits: the same on the same
 * host in the same container. If that cannot be told, it is a place that no other process shares.
 */
export function processPlace(): string {
  const text = (read: () => string): string | null => {
    try {
      return read();
    } catch {
      return null;
    }
  };
  const machine = text(() => readFileSync('/etc/machine-id', 'utf8')) ?? '';
  const container =
    process.platform === 'linux' ? text(() => readlinkSync('/proc/self/ns/pid')) : '';
  if (container === null) return randomBytes(PLACE_DIGITS / 2).toString('hex');
  const facts = [hostname(), machine, container].join('\0');
  return createHash('sha256').update(facts).digest('hex').slice(0, PLACE_DIGITS);
}
