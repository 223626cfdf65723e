/** What one visitor may ask of the server, so that no number of them can bring it down. */

export const LIMITS = {
  /** Characters of a request's address. */
  address: 2048,
  /** Bytes of all its headers. */
  headerBytes: 16 << 10,
  headerCount: 64,
  /** Bytes of its body. */
  body: 16 << 10,
  /** Open connections; more are closed at once. */
  connections: 512,
  /** Requests on one connection. */
  requestsPerConnection: 1000,
  /** Pages that listen to a training at the same time. */
  listeners: 64,
  /** Bytes waiting for a listener that does not read; then it is dropped, and may connect again. */
  listenerBacklog: 8 << 20,
} as const;

/** Milliseconds a visitor may take. */
export interface Patience {
  /** For the headers, and for the whole of a request. */
  readonly headers: number;
  readonly request: number;
  /** Between two requests on a connection. */
  readonly idle: number;
  /** Without reading what it was sent, or sending anything. */
  readonly stuck: number;
  /** How often slow ones are looked for. */
  readonly interval: number;
}

export const PATIENCE: Patience = {
  headers: 10_000,
  request: 20_000,
  idle: 5_000,
  stuck: 60_000,
  interval: 1_000,
};
