/** A listening server with its limits, and its orderly end (decisions 8 and 14). */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { limits } from '../../domain/limits.ts';
import { listenFault } from '../../domain/settings.ts';
import { rememberContinue } from '../bodies/upload.ts';
import { answerClientError, answerRaw } from './client-errors.ts';
import { stopGracefully } from './graceful-stop.ts';
import { faultOf } from './request-smuggling.ts';

export type RunningServer = {
  readonly server: Server;
  readonly port: number;
  /** `http://127.0.0.1:<port>` for a server on every interface. */
  readonly url: string;
  /**
   * Leaves, stops accepting connections, notifies `shutdown` listeners to answer waiting calls, lets open requests
   * finish for `graceSeconds`, then cuts them. Resolves when every connection is closed. Safe to call twice.
   */
  stop(graceSeconds?: number): Promise<void>;
};

export type ListenOptions = {
  /** 0 picks a free port. */
  readonly port: number;
  /** Absent: every interface. */
  readonly host?: string;
  /** Aborted when `stop` closes the port. */
  readonly shutdown: AbortController;
  /** Aborted when `stop` begins, `leaveSeconds` (default 0) earlier: see graceful-stop.ts. */
  readonly leaving?: AbortController;
  readonly leaveSeconds?: number;
};

/** Rejects with a SettingsError when it cannot listen there. */
export async function listen(handler: RequestListener, options: ListenOptions): Promise<RunningServer> {
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeoutSeconds * 1000,
    keepAliveTimeout: limits.keepAliveSeconds * 1000,
    // A total time would cut slow uploads; upload.ts watches their speed instead.
    requestTimeout: 0,
    connectionsCheckingInterval: 5000,
    // The app itself refuses a missing Host, with the common body.
    requireHostHeader: false,
  });
  server.maxConnections = limits.connections;
  const admitted: RequestListener = (request, response) => {
    if (isAdmitted(request, response)) handler(request, response);
  };
  server.on('request', admitted);
  server.on('checkContinue', (request, response) => {
    rememberContinue(request);
    admitted(request, response);
  });
  server.on('checkExpectation', admitted);
  server.on('clientError', answerClientError);
  // An accept may fail later (no descriptor is left): the caller tries again.
  server.on('error', () => undefined);
  server.on('connect', (_request, socket) => answerRaw(socket, 'methodNotAllowed', { allow: '' }));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenFault(error)));
    server.listen(
      { port: options.port, ...(options.host === undefined ? {} : { host: options.host }) },
      resolve,
    );
  });
  const { port } = server.address() as AddressInfo;
  const host = options.host === undefined || options.host === '0.0.0.0' ? '127.0.0.1' : options.host;
  let stopping: Promise<void> | null = null;
  return {
    server,
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    stop(graceSeconds = limits.shutdownGraceSeconds) {
      const { shutdown, leaving = new AbortController(), leaveSeconds = 0 } = options;
      stopping ??= stopGracefully(server, { shutdown, leaving, leaveSeconds, graceSeconds });
      return stopping;
    },
  };
}

const underWay = new WeakMap<Socket, number>();
/** Further bytes on these sockets may be the rest of a body as a proxy reads it. */
const faulty = new WeakSet<Socket>();

/**
 * Node starts every request that it has read, also pipelined ones: one connection could start thousands at once. No
 * well-behaved client pipelines so many; the connection is cut.
 */
function isAdmitted(request: IncomingMessage, response: ServerResponse): boolean {
  const { socket } = request;
  if (faulty.has(socket)) return false;
  if (faultOf(request) !== null) faulty.add(socket);
  const count = (underWay.get(socket) ?? 0) + 1;
  if (count > limits.requestsAtOncePerConnection) {
    socket.destroy();
    return false;
  }
  underWay.set(socket, count);
  response.once('close', () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1));
  return true;
}
