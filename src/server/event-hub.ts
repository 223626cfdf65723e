/**
 * Server-sent events to any number of listeners. A listener that does not read is dropped when too much
 * waits for it: a browser then connects again by itself and is told the present state.
 */
import type { ServerResponse } from 'node:http';
import { HttpFault } from './faults.js';
import { LIMITS } from './limits.js';

const HEARTBEAT_MS = 15_000;
/** Milliseconds after which a browser that lost the connection tries again. */
const RETRY_MS = 2_000;

const frame = (name: string, data: unknown): string =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

export class EventHub<Events extends object> {
  readonly #listeners = new Set<ServerResponse>();
  #heartbeat: NodeJS.Timeout | null = null;

  get listeners(): number {
    return this.#listeners.size;
  }

  /** Adds a listener, which first hears what `first` sends. */
  async add(
    response: ServerResponse,
    first: (
      send: <Name extends keyof Events & string>(name: Name, data: Events[Name]) => void,
    ) => Promise<void>,
  ): Promise<void> {
    if (this.#listeners.size >= LIMITS.listeners) {
      throw new HttpFault(503, 'too many pages listen already', { 'retry-after': '10' });
    }
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    });
    response.write(`retry: ${RETRY_MS}\n\n`);
    // Count it now, so that the limit also holds while the first events are being gathered.
    this.#listeners.add(response);
    response.once('close', () => this.#remove(response));
    this.#heartbeat ??= setInterval(() => this.#sendAll(': still here\n\n'), HEARTBEAT_MS).unref();
    await first((name, data) => this.#write(response, frame(name, data)));
  }

  send<Name extends keyof Events & string>(name: Name, data: Events[Name]): void {
    if (this.#listeners.size > 0) this.#sendAll(frame(name, data));
  }

  #sendAll(text: string): void {
    for (const response of this.#listeners) this.#write(response, text);
  }

  #write(response: ServerResponse, text: string): void {
    if (response.destroyed || response.writableEnded) return;
    if (response.writableLength > LIMITS.listenerBacklog) {
      response.destroy();
      return;
    }
    response.write(text);
  }

  #remove(response: ServerResponse): void {
    this.#listeners.delete(response);
    if (this.#listeners.size > 0 || this.#heartbeat === null) return;
    clearInterval(this.#heartbeat);
    this.#heartbeat = null;
  }

  /** Ends every stream. */
  close(): void {
    for (const response of this.#listeners) response.end();
  }
}
