/** A store at another origin, to which calls with `redirect=true` are sent for the bytes of inputs. */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Input } from './model.ts';
import { serveInput } from './reads.ts';

/** How the store, or what answers in its place, fails. */
export type StoreFault = 'breaks off' | 'refuses' | 'sends another page';

export class Store {
  /** The calls so far. */
  readonly calls: Pick<IncomingMessage, 'url' | 'headers'>[] = [];
  /** The fault of all addresses that are made from now on. */
  fault: StoreFault | undefined;
  readonly #objects = new Map<string, { readonly input: Input; readonly fault: StoreFault | undefined }>();
  readonly #server = createServer((request, response) => this.#serve(request, response));

  /** Listens on the loopback. */
  static async start(): Promise<Store> {
    const store = new Store();
    await new Promise<void>((resolve) => store.#server.listen(0, '127.0.0.1', resolve));
    return store;
  }

  /** A signed address of the bytes. */
  addressOf(input: Input): string {
    const path = `/objects/${input.outputId}?signature=${randomUUID()}`;
    this.#objects.set(path, { input, fault: this.fault });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  async close(): Promise<void> {
    await new Promise((resolve) => {
      this.#server.close(resolve);
      this.#server.closeAllConnections();
    });
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const { url = '', method, headers } = request;
    this.calls.push({ url, headers });
    const { input, fault } = this.#objects.get(url) ?? {};
    if (input === undefined || method !== 'GET' || fault === 'refuses') {
      response.writeHead(403, { 'content-type': 'application/xml' }).end('<Error/>');
      return;
    }
    if (fault === 'sends another page') {
      const page = '<html>Sign in to this network.</html>'.padEnd(input.bytes.length + 1);
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': page.length }).end(page);
      return;
    }
    const served = serveInput(input, { range: headers.range, 'accept-encoding': 'gzip' });
    // Its own tag.
    const etag = `"${createHash('md5').update(input.bytes).digest('hex')}"`;
    response.writeHead(served.status, { ...served.headers, etag });
    if (fault === undefined) response.end(served.bytes);
    else response.write(served.bytes.subarray(0, served.bytes.length / 2), () => request.socket.destroy());
  }
}
