/** `/metrics` of one process on a port of its own, for a Prometheus that can reach it, and for no other client. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readPlatform } from './platform-gauges.ts';
import { contentType, scrape } from './registry.ts';

export interface MetricsServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Another program listens at the port of the metrics. */
export class MetricsPortTaken extends Error {
  constructor(port: number) {
    super(`METRICS_PORT: ${port} is in use by another program.`);
  }
}

const maxConnections = 32;

let underWay: Promise<string> | undefined;

/** The text of one scrape. Scrapes that come together share one. */
export function scrapeAll(): Promise<string> {
  underWay ??= readPlatform()
    .then(scrape)
    .finally(() => {
      underWay = undefined;
    });
  return underWay;
}

/** Rejects with MetricsPortTaken or the listen error. @param port 0 picks a free one */
export async function serveMetrics(options: {
  readonly port: number;
  readonly host: string;
}): Promise<MetricsServer> {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.maxConnections = maxConnections;
  // An accept may fail long after the server listens (no descriptor is left): the next scrape tries again.
  server.on('error', () => undefined);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isBusy = error.code === 'EADDRINUSE';
      reject(isBusy ? new MetricsPortTaken(options.port) : error);
    });
    server.listen(options.port, options.host, () => {
      resolve();
    });
  });
  // The port must not keep an otherwise finished process alive.
  server.unref();
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.resume();
  const path = (request.url ?? '').split('?', 1)[0];
  if (path !== '/metrics') {
    response.writeHead(404).end();
    return;
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end();
    return;
  }
  const text = await scrapeAll();
  response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store' });
  response.end(request.method === 'HEAD' ? undefined : text);
}
