import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

/** Breaks a call, or answers it with a status, by its method and path, the number of calls to it so far, and its query. */
export type Breaks = (path: string, count: number, search: string) => 'before' | 'after' | number | undefined;

/** The address of a proxy to the platform that breaks connections on the test's command. */
export async function brokenLineTo(url: string, breaks: Breaks): Promise<string> {
  const counts = new Map<string, number>();
  const server = createServer((incoming, outgoing) => {
    const { pathname, search } = new URL(incoming.url!, url);
    const count = (counts.get(`${incoming.method} ${pathname}`) ?? 0) + 1;
    counts.set(`${incoming.method} ${pathname}`, count);
    const how = breaks(`${incoming.method} ${pathname}`, count, search);
    if (typeof how === 'number') return void outgoing.writeHead(how).end('<html>Refused by a proxy.</html>');
    if (how === 'before') return void incoming.socket.destroy();
    const { method, headers } = incoming;
    const onward = request(new URL(incoming.url!, url), { method, headers }, (answer) => {
      if (how === 'after' && method === 'POST') return void incoming.socket.destroy();
      outgoing.writeHead(answer.statusCode!, answer.headers);
      // A stream that breaks after its first bytes.
      answer.on('data', (bytes) => {
        outgoing.write(bytes);
        if (how === 'after') setImmediate(() => incoming.socket.destroy());
      });
      answer.on('end', () => outgoing.end());
    });
    onward.on('error', () => incoming.socket.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
