/** Temporal with TLS that requires a client's certificate and an API key, as a managed one does. */
import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, connect, createSecureServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const folder = join(import.meta.dirname, 'certificates');
export const certificate = (name: string) => join(folder, name);
/** gRPC's number of "unauthenticated". */
const unauthenticated = '16';

export interface SecuredTemporal {
  readonly address: string;
  /** Calls that were let through, and those without the key. */
  readonly calls: { admitted: number; refused: number };
}

/** Gone after the file's last test. */
export async function secureTemporal(target: string, apiKey: string): Promise<SecuredTemporal> {
  const calls = { admitted: 0, refused: 0 };
  const inner: ClientHttp2Session = connect(`http://${target}`);
  inner.on('error', () => {});
  const server = createSecureServer({
    cert: readFileSync(certificate('server.pem')),
    key: readFileSync(certificate('server.key')),
    ca: readFileSync(certificate('ca.pem')),
    requestCert: true,
    rejectUnauthorized: true,
  });
  server.on('stream', (stream, headers) => {
    if (headers.authorization !== `Bearer ${apiKey}`) {
      calls.refused += 1;
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': unauthenticated },
        { endStream: true },
      );
      return;
    }
    calls.admitted += 1;
    pass(stream, headers, inner);
  });
  server.on('sessionError', () => {});
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    inner.destroy();
    server.close();
  });
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
}

function pass(stream: ServerHttp2Stream, headers: Record<string, unknown>, inner: ClientHttp2Session): void {
  const { authorization: _, ':scheme': __, ':authority': ___, ...rest } = headers;
  const call = inner.request({ ...(rest as Record<string, string>), ':scheme': 'http' });
  stream.pipe(call);
  stream.on('error', () => call.close());
  stream.on('aborted', () => call.close());
  call.on('error', () => stream.close());
  call.on('response', (answer, flags) => {
    const given = Object.fromEntries(Object.entries(answer).filter(([name]) => name !== ':status'));
    const isOver = (flags & 1) === 1;
    if (stream.destroyed) return;
    stream.respond(
      { ':status': answer[':status'] ?? 200, ...given },
      { endStream: isOver, waitForTrailers: !isOver },
    );
    let trailers: Record<string, string | string[] | undefined> = {};
    call.on('trailers', (sent) => {
      trailers = Object.fromEntries(Object.entries(sent));
    });
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    if (!isOver) call.pipe(stream);
  });
}
