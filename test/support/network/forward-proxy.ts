/** A proxy for requests to elsewhere, as workplaces have one, which wants a user and a password. */

import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const folder = join(import.meta.dirname, 'certificates');
/** The authority of `https` behind the proxy. */
export const authorityFile = join(folder, 'ca.pem');
/** A name that only the proxy knows. */
export const hiddenHost = 'server.test';

/**
 * Leads the hidden host to the platform, by HTTP and by HTTPS. Ends after the file's last test.
 * @returns the address for `HTTP_PROXY` and `HTTPS_PROXY`
 */
export async function forwardProxy(platformUrl: string): Promise<string> {
  const platform = { hostname: '127.0.0.1', port: Number(new URL(platformUrl).port) };
  const secure = createSecureServer({
    key: readFileSync(join(folder, 'server.key')),
    cert: readFileSync(join(folder, 'server.pem')),
  });
  const securePort = await listen(secure);
  const isAllowed = ({ headers }: IncomingMessage) =>
    headers['proxy-authorization'] === `Basic ${btoa('rig 3:pass')}`;
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse, path: string) => {
    const { method = 'GET', headers } = incoming;
    const onward = request({ ...platform, path, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  };
  secure.on('request', (incoming, outgoing) => pass(incoming, outgoing, incoming.url!));
  const proxy = createServer((incoming, outgoing) => {
    const { hostname, pathname, search } = new URL(incoming.url!);
    if (isAllowed(incoming) && hostname === hiddenHost) pass(incoming, outgoing, pathname + search);
    else outgoing.writeHead(407).end();
  });
  proxy.on('connect', (incoming, socket, head) => {
    const [host, port] = incoming.url!.split(':');
    if (!isAllowed(incoming) || host !== hiddenHost)
      return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const onward = connect(port === '443' ? securePort : platform.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  const port = await listen(proxy);
  return `http://rig%203:pass@127.0.0.1:${port}`;
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => void server.close());
  return (server.address() as AddressInfo).port;
}
