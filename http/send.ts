/** From a reply to the network. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import type { Logger } from 'pino';
import { limitUnreadBody } from './bodies/unread-body.ts';
import type { ByteSource, Reply } from './route.ts';
import { watchReader } from './server/slow-reader.ts';

/**
 * Sends a reply and resolves when it is out or the caller is gone; true when all of it was handed over. A stream that
 * fails after the head was sent breaks the connection, so that no caller takes half for whole. Whatever comes of it,
 * the reply's stream is closed afterwards.
 */
export async function sendReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  log: Logger,
): Promise<boolean> {
  try {
    return await send(request, response, reply, log);
  } finally {
    closeStream(reply);
  }
}

/** Closes the stream of a reply that is not sent, or was. What it holds (a row, a listener, a file) is released. */
export function closeStream({ stream }: Reply): void {
  if (stream instanceof Readable) stream.destroy();
}

/** A stream may fail before it is sent; an error without a listener would end the process. Sending sees it later. */
export function guardStream({ stream }: Reply): void {
  if (stream instanceof Readable) stream.on('error', () => undefined);
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  log: Logger,
): Promise<boolean> {
  if (response.destroyed || response.headersSent) return false;
  response.statusCode = reply.status;
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
  limitUnreadBody(request, response);
  watchReader(response);
  const bare = request.method === 'HEAD' || reply.status === 204 || reply.status === 304;
  try {
    if (reply.stream !== undefined) await sendBytes(response, reply.stream, bare);
    else await sendJson(response, reply.body, bare);
    return response.writableFinished;
  } catch (error) {
    if (response.headersSent || response.destroyed) {
      if (!response.destroyed && !response.writableFinished) log.error({ err: error }, 'reply broke off');
      response.destroy();
      return false;
    }
    throw error;
  }
}

async function sendJson(response: ServerResponse, body: unknown, bare: boolean): Promise<void> {
  if (body === undefined) {
    if (response.statusCode !== 204 && response.statusCode !== 304 && !response.hasHeader('content-length')) {
      response.setHeader('content-length', '0');
    }
    response.end();
  } else {
    const bytes = Buffer.from(JSON.stringify(body));
    if (!response.hasHeader('content-type'))
      response.setHeader('content-type', 'application/json; charset=utf-8');
    response.setHeader('content-length', String(bytes.length));
    response.end(bare ? undefined : bytes);
  }
  await finished(response, { readable: false });
}

async function sendBytes(response: ServerResponse, source: ByteSource, bare: boolean): Promise<void> {
  if (source instanceof Uint8Array) {
    response.setHeader('content-length', String(source.length));
    response.end(bare ? undefined : source);
    await finished(response, { readable: false });
    return;
  }
  if (bare) {
    response.end();
    await finished(response, { readable: false });
    return;
  }
  const stream = source instanceof Readable ? source : await source();
  // It failed before the head went out: the caller can still be told.
  if (stream.errored !== null) throw stream.errored;
  await pipeline(stream, response);
}
