/**
 * The server of `crab studio`: the page, the models and the training API, for browsers on this machine
 * unless told otherwise. It never opens a connection itself, only its own page may talk to it, and no
 * request can bring it down.
 */
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { zooFolder } from '../solver/node.js';
import { segmentsOf } from './address.js';
import { HttpFault, requireMethod } from './faults.js';
import { LIMITS, PATIENCE, type Patience } from './limits.js';
import { JSON_TYPE } from './media-types.js';
import { isLoopback, requireOwnOrigin } from './origin.js';
import { StaticFolder } from './static-folder.js';
import { answerApi } from './training-api.js';
import type { TrainingSettings } from './training/protocol.js';
import { TrainingService } from './training/service.js';
import { Zoo } from './zoo.js';

export interface StudioOptions {
  /** Port; 0, or none, takes any that is free. */
  readonly port?: number;
  /** Address or name to listen at; 127.0.0.1 unless told. */
  readonly host?: string;
  /** Folder of runs. */
  readonly runs: string;
  /** Folder of the built page, and of the published bundles. */
  readonly page?: string;
  readonly zoo?: string;
  readonly training?: TrainingSettings;
  /** How long to wait for slow visitors, if not as usual. */
  readonly patience?: Partial<Patience>;
}

export interface StudioServer {
  /** Where the page is. */
  readonly url: string;
  readonly port: number;
  /** The trainer at work, or null. */
  readonly trainerPid: number | null;
  /** Stops serving; a run at work stores a checkpoint first. */
  close(): Promise<void>;
}

/** The folder of the built page, the same for sources and for the built package. */
export const pageFolder = (): string =>
  fileURLToPath(new URL('../../dist/studio/', import.meta.url));

/**
 * Headers of every answer. The first three let the page use threads; the policy keeps it from loading
 * or sending anything anywhere else.
 */
const HEADERS: Readonly<Record<string, string>> = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': [
    "default-src 'self'",
    "script-src 'self' 'wasm-unsafe-eval' blob:",
    "worker-src 'self' blob:",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "connect-src 'self' data: blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
};

function sendJson(response: ServerResponse, status: number, value: object): void {
  const text = `${JSON.stringify(value)}\n`;
  response.writeHead(status, {
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  });
  response.end(response.req.method === 'HEAD' ? undefined : text);
}

/** Answers with what went wrong. If an answer is half sent, breaking off is all that is left. */
function sendFault(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const fault =
    error instanceof HttpFault ? error : new HttpFault(500, 'the server could not answer this');
  for (const name of response.getHeaderNames()) {
    if (!(name in HEADERS)) response.removeHeader(name);
  }
  for (const [name, value] of Object.entries(fault.headers)) response.setHeader(name, value);
  sendJson(response, fault.status, { error: fault.message });
}

/** What Node's parser refuses, by its code. */
const PARSER_STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = PARSER_STATUS[error.code ?? ''] ?? 400;
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`,
  );
}

class Studio {
  readonly #page: StaticFolder;
  readonly #zoo: Zoo;
  readonly training: TrainingService;
  readonly server: Server;
  #host: string;

  constructor(options: StudioOptions) {
    this.#host = options.host ?? '127.0.0.1';
    this.#page = new StaticFolder(options.page ?? pageFolder(), ['assets']);
    const published = new Zoo([options.zoo ?? zooFolder()]);
    this.training = new TrainingService({
      runs: options.runs,
      settings: options.training,
      isBundleTaken: async (name) =>
        (await published.index()).bundles.some((each) => each.name === name),
    });
    this.#zoo = new Zoo([options.zoo ?? zooFolder(), this.training.bundlesFolder]);
    this.server = this.#makeServer({ ...PATIENCE, ...options.patience });
  }

  #makeServer(patience: Patience): Server {
    const server = createServer(
      {
        maxHeaderSize: LIMITS.headerBytes,
        headersTimeout: patience.headers,
        requestTimeout: patience.request,
        keepAliveTimeout: patience.idle,
        connectionsCheckingInterval: patience.interval,
        insecureHTTPParser: false,
        noDelay: true,
      },
      (request, response) => void this.#answer(request, response),
    );
    server.maxHeadersCount = LIMITS.headerCount;
    server.maxConnections = LIMITS.connections;
    server.maxRequestsPerSocket = LIMITS.requestsPerConnection;
    server.timeout = patience.stuck;
    server.on('clientError', refuseMalformed);
    return server;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A visitor who leaves early is not our failure.
    request.on('error', () => {});
    response.on('error', () => {});
    try {
      for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
      requireOwnOrigin(request, this.#host);
      await this.#route(request, response, segmentsOf(request.url ?? ''));
    } catch (error) {
      sendFault(response, error);
    }
  }

  async #route(
    request: IncomingMessage,
    response: ServerResponse,
    segments: readonly string[],
  ): Promise<void> {
    if (segments[0] === 'api') {
      const answer = await answerApi(this.training, segments, request, response);
      if (answer !== null) sendJson(response, 200, answer);
      return;
    }
    requireMethod(request, 'GET', 'HEAD');
    if (segments.join('/') === 'zoo/index.json') {
      sendJson(response, 200, await this.#zoo.index());
      return;
    }
    const served =
      segments[0] === 'zoo'
        ? await this.#zoo.serve(request, response, segments.slice(1))
        : await this.#page.serve(
            request,
            response,
            segments.length === 0 ? ['index.html'] : segments,
          );
    if (!served) throw new HttpFault(404, 'there is nothing at this address');
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeIdleConnections();
    await this.training.close();
    this.server.closeAllConnections();
    await closed;
  }
}

function listenAt(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      // Later failures, such as too many open files, hit one connection and not the server.
      server.on('error', () => {});
      resolve(server.address() as AddressInfo);
    });
  });
}

/** The address a person types. If the server listens everywhere, it is that of this machine. */
function urlOf(host: string, port: number): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const name = everywhere || isLoopback(host) ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}/`;
}

/** Starts the server. */
export async function startStudio(options: StudioOptions): Promise<StudioServer> {
  const studio = new Studio(options);
  const host = options.host ?? '127.0.0.1';
  const { port } = await listenAt(studio.server, options.port ?? 0, host);
  return {
    url: urlOf(host, port),
    port,
    get trainerPid() {
      return studio.training.trainerPid;
    },
    close: () => studio.close(),
  };
}
