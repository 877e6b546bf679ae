/**
 * Requests that Node itself refuses before the app sees them: they get the common error body too. Which route they were
 * for is not known, so it has the `code` that runners read.
 */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { Problem, type ProblemKey } from '../../domain/errors.ts';
import { errorReply } from '../errors.ts';
import { requestIdFrom } from '../request-id.ts';

const keys: Readonly<Record<string, ProblemKey>> = {
  HPE_HEADER_OVERFLOW: 'headersTooLarge',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'bodyTooLarge',
  ERR_HTTP_REQUEST_TIMEOUT: 'requestTimeout',
};

/** Listener for the server's `clientError`: answers 400, 408, 413 or 431 and closes. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
  else answerRaw(socket, keys[error.code ?? ''] ?? 'malformedRequest');
}

/** Writes a complete error response to a socket without a response object, and closes it. */
export function answerRaw(
  socket: Duplex,
  key: ProblemKey,
  headers: Readonly<Record<string, string>> = {},
): void {
  // Node has taken its own listener off the socket of a CONNECT; a caller who resets it must not end the process.
  socket.on('error', () => undefined);
  const reply = errorReply(new Problem(key, { headers }), 'coded');
  const body = JSON.stringify(reply.body);
  const head = [
    `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? ''}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestIdFrom(undefined)}`,
    'x-content-type-options: nosniff',
    ...Object.entries(reply.headers).map(([name, value]) => `${name}: ${value}`),
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
