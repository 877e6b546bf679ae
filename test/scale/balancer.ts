/**
 * What the included proxy does between callers and APIs, by its rules: servers are asked regularly whether they
 * accept requests, connections to them are kept for two seconds, and a server that refuses a connection is skipped.
 * Nothing that was begun is ever sent again.
 */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const checkEveryMs = 200;
const keptMs = 2_000;

export interface Balancer {
  readonly url: string;
  /** Sends requests there too, from its first successful check on. */
  add(url: string): void;
  /** Servers that accept requests, as it sees them. */
  readonly ready: readonly string[];
  close(): Promise<void>;
}

export async function startBalancer(): Promise<Balancer> {
  const servers = new Map<string, boolean>();
  const agent = new Agent({ keepAlive: true, timeout: keptMs });
  let turn = 0;
  const readyServers = () => [...servers].filter(([, isReady]) => isReady).map(([url]) => url);

  const checking = new Set<string>();
  async function check(url: string): Promise<void> {
    checking.add(url);
    const answer = await fetch(`${url}/ready_check`, {
      headers: { connection: 'close' },
      // A server that stops refuses at once: silence only says that the machine is busy.
      signal: AbortSignal.timeout(20_000),
    }).catch(() => undefined);
    servers.set(url, answer?.status === 200);
    checking.delete(url);
  }

  function forward(incoming: IncomingMessage, outgoing: ServerResponse, left: readonly string[]): void {
    const [server, ...others] = left;
    if (server === undefined) {
      outgoing.writeHead(502).end();
      return;
    }
    const { connection: _, 'keep-alive': __, ...headers } = incoming.headers;
    const inner = request(`${server}${incoming.url}`, { method: incoming.method, headers, agent });
    inner.on('response', (reply) => {
      const { connection: _, 'keep-alive': __, ...given } = reply.headers;
      outgoing.writeHead(reply.statusCode!, given);
      reply.pipe(outgoing);
      reply.on('error', () => outgoing.destroy());
    });
    inner.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') forward(incoming, outgoing, others);
      else if (outgoing.headersSent) outgoing.destroy();
      else {
        const body = { statusCode: 502, message: `${server}: ${error.message}` };
        outgoing.writeHead(502, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      }
    });
    outgoing.once('close', () => outgoing.writableFinished || inner.destroy());
    // Not before the connection is open, so that a body is whole for the next server.
    inner.once('socket', (socket) => {
      const send = () => incoming.pipe(inner);
      if (socket.connecting) socket.once('connect', send);
      else send();
    });
  }

  const proxy = createServer((incoming, outgoing) => {
    const ready = readyServers();
    turn += 1;
    forward(incoming, outgoing, [
      ...ready.slice(turn % ready.length),
      ...ready.slice(0, turn % ready.length),
    ]);
  });
  proxy.requestTimeout = 0;
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const timer = setInterval(() => {
    for (const url of servers.keys()) if (!checking.has(url)) void check(url);
  }, checkEveryMs);
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    add(url) {
      servers.set(url, false);
    },
    get ready() {
      return readyServers();
    },
    async close() {
      clearInterval(timer);
      agent.destroy();
      proxy.closeAllConnections();
      await new Promise<void>((resolve) => proxy.close(() => resolve()));
    },
  };
}
