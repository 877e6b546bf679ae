/** The way to a real authentication service, on which faults can be put and calls are counted. */
import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** How a service, or a proxy before it, can fail to answer; all but `silent` do so at once. */
export const wireFaults = [
  'broken',
  'failing',
  'a page',
  'other JSON',
  'half an answer',
  'a redirect',
  'an endless answer',
  'refused by something else',
  'empty',
] as const;
export type WireFault = (typeof wireFaults)[number] | 'silent';

export interface AuthWire {
  readonly url: string;
  /** What happens to calls of paths below `/api/authorization` that begin so. */
  fault: { readonly path: string; readonly kind: WireFault } | null;
  /** The delay of each answer. */
  slownessMs: number;
  /** Calls so far, as `POST /validate`. */
  readonly calls: string[];
  close(): void;
}

const prefix = '/api/authorization';

/** @param target address of the real service */
export async function openAuthWire(target: string): Promise<AuthWire> {
  const server = createServer((incoming, outgoing) => void pass(incoming, outgoing));
  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const path = incoming.url?.slice(prefix.length) ?? '';
    wire.calls.push(`${incoming.method} ${path}`);
    const { fault } = wire;
    if (fault !== null && path.startsWith(fault.path)) return failBy(fault.kind, incoming, outgoing);
    if (wire.slownessMs > 0) await delay(wire.slownessMs);
    const { method, url, headers } = incoming;
    const onward = sendRequest(target + url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const wire: AuthWire = {
    url: `http://127.0.0.1:${port}`,
    fault: null,
    slownessMs: 0,
    calls: [],
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return wire;
}

const json = { 'content-type': 'application/json' };

function failBy(kind: WireFault, incoming: IncomingMessage, outgoing: ServerResponse): void {
  switch (kind) {
    case 'broken':
      incoming.socket.destroy();
      return;
    case 'failing':
      outgoing.writeHead(500, json).end('{"status":"error","message":"x"}');
      return;
    case 'a page':
      outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in to the network</html>');
      return;
    case 'other JSON':
      outgoing.writeHead(200, json).end('{"fine":true,"userId":7}');
      return;
    case 'half an answer':
      outgoing.writeHead(200, { ...json, 'content-length': '500' }).write('{"userId":"00000000-0000-4000-');
      setTimeout(() => incoming.socket.destroy(), 20);
      return;
    case 'a redirect':
      outgoing.writeHead(302, { location: `${prefix}/health` }).end();
      return;
    case 'an endless answer':
      outgoing.writeHead(200, json);
      outgoing.on('drain', () => pour(outgoing));
      pour(outgoing);
      return;
    case 'refused by something else':
      outgoing.writeHead(incoming.url?.endsWith('/validate') ? 401 : 404, json).end('{"error":"no"}');
      return;
    case 'empty':
      outgoing.writeHead(200, json).end();
      return;
    case 'silent':
      return;
  }
}

function pour(outgoing: ServerResponse): void {
  while (!outgoing.destroyed && outgoing.write(' '.repeat(65_536)));
}
