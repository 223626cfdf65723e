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
  /** Milliseconds in which the headers, and the whole request, must have come. */
  headersTime: 10_000,
  requestTime: 20_000,
  /** Milliseconds an idle connection is kept, and a stuck one borne. */
  keepAliveTime: 5_000,
  stuckTime: 60_000,
  /** How often slow connections are looked for. */
  checkingInterval: 1_000,
  /** Pages that listen to a training at the same time. */
  listeners: 64,
  /** Bytes waiting for a listener that does not read; then it is dropped, and may connect again. */
  listenerBacklog: 8 << 20,
} as const;
