/**
 * Writes many small files, each complete and on the disk before it gets its name. Waiting for the disk
 * takes longer than making a file, so some files wait in Node's threads while the next are made.
 */
import { closeSync, fdatasync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { aboutFile, outputPlace, temporaryName } from '../../base/node.js';

const synced = promisify(fdatasync);

/** Files that wait for the disk at a time. Each is open, and every worker thread has a batch. */
const MOST_WAITING = 16;

export class FileBatch {
  readonly #waiting = new Set<Promise<void>>();
  #failure: unknown;

  /** Takes a file to write; what goes wrong with it is thrown here, by a later call or by `finish`. */
  async write(file: string, data: Uint8Array | string): Promise<void> {
    this.#throwFailure();
    const { path: target } = outputPlace(file);
    const temporary = temporaryName(target);
    const descriptor = openSync(temporary, 'wx');
    const ended = this.#end(descriptor, temporary, target, () => writeFileSync(descriptor, data))
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => this.#waiting.delete(ended));
    this.#waiting.add(ended);
    if (this.#waiting.size >= MOST_WAITING) await Promise.race(this.#waiting);
  }

  async #end(
    descriptor: number,
    temporary: string,
    target: string,
    write: () => void,
  ): Promise<void> {
    try {
      try {
        write();
        await synced(descriptor);
      } finally {
        closeSync(descriptor);
      }
      renameSync(temporary, target);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw aboutFile(error, target);
    }
  }

  /** Waits until all files have their names, and throws what went wrong with any of them. */
  async finish(): Promise<void> {
    await this.settle();
    this.#throwFailure();
  }

  /** After a failure elsewhere: waits until nothing is half-written any more. */
  async settle(): Promise<void> {
    await Promise.all(this.#waiting);
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure as Error;
  }
}
