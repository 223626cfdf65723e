/**
 * A file that only grows, kept in memory as well: adding never touches the disk and cannot fail;
 * flushing can, and may simply be tried again. Should the file have vanished or been cut, the next
 * flush writes all of it anew. What a run appends stays within a few megabytes.
 */
import type { RunFiles } from './files.js';

export class AppendFile {
  readonly #chunks: Uint8Array[] = [];
  #total = 0;
  /** Bytes and chunks known to be on disk. */
  #flushed = 0;
  #flushedChunks = 0;

  /** @param existing content already on disk, as read when a run is resumed */
  constructor(
    readonly path: string,
    readonly files: RunFiles,
    existing?: Uint8Array,
  ) {
    if (!existing || existing.length === 0) return;
    this.add(existing);
    this.#flushed = this.#total;
    this.#flushedChunks = this.#chunks.length;
  }

  get length(): number {
    return this.#total;
  }

  add(bytes: Uint8Array): void {
    this.#chunks.push(bytes);
    this.#total += bytes.length;
  }

  /** Brings the disk up to date. Chunks added meanwhile wait for the next flush. */
  async flush(): Promise<void> {
    const size = await this.files.size(this.path);
    if (size !== null && size >= this.#flushed && this.#flushedChunks === this.#chunks.length) {
      return;
    }
    if (size === null || size < this.#flushed) this.#forgetDisk();
    const until = this.#chunks.length;
    const pending = Buffer.concat(this.#chunks.slice(this.#flushedChunks, until));
    await this.files.writeTail(this.path, this.#flushed, pending);
    this.#flushed += pending.length;
    this.#flushedChunks = until;
  }

  #forgetDisk(): void {
    this.#flushed = 0;
    this.#flushedChunks = 0;
  }
}
