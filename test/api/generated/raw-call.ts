/** One request as bytes on a connection, without the corrections and refusals of `fetch`. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

export type RawCall = {
  readonly method: string;
  /** Path and query; anything in printable ASCII. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
};
export type RawAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
};

const agent = new Agent({ keepAlive: true, maxSockets: 16 });

export function rawCall(url: string, { method, target, headers, body }: RawCall): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const length = body === undefined ? {} : { 'content-length': String(body.length) };
    const sent = request(
      { agent, hostname, port, method, path: target, headers: { ...headers, ...length } },
      (response) => {
        isAnswered = true;
        const { statusCode: status = 0, headers } = response;
        if (isEndless(headers)) {
          response.destroy();
          resolve({ status, headers, bytes: Buffer.alloc(0) });
          return;
        }
        buffer(response).then((bytes) => {
          resolve({ status, headers, bytes });
        }, reject);
      },
    );
    // An answer may come, and its connection end, while a large body is still on its way.
    sent.on('error', (error) => {
      if (!isAnswered) reject(error);
    });
    sent.end(body);
  });
}

const isEndless = (headers: IncomingHttpHeaders) =>
  headers['content-type']?.startsWith('text/event-stream') === true;

export function closeConnections(): void {
  agent.destroy();
}
