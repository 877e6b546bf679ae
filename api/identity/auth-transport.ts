/** How calls reach the authentication service: over HTTP, or within this process. */
import type { Logger } from 'pino';
import { limits } from '../../domain/limits.ts';
import { callLocally, type Dispatcher } from '../../http/dispatcher.ts';

export type AuthCall = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below `/api/authorization`, with query, for example `/offline_token`. */
  readonly path: string;
  readonly bearer?: string;
  readonly json?: unknown;
  readonly idempotencyKey?: string;
  readonly requestId: string;
};
export type AuthAnswer = { readonly status: number; readonly body: unknown };
export type AuthTransport = (call: AuthCall) => Promise<AuthAnswer>;

const prefix = '/api/authorization';
/** What changes nothing and may be asked twice. */
const questions = /^\/(validate|users\/(resolve|lookup|active))$/;

/** Calls the service's own routes without a socket. */
export function localTransport(dispatcher: Dispatcher, log: Logger): AuthTransport {
  return async ({ method, path, bearer, json, idempotencyKey, requestId }) =>
    await callLocally(dispatcher, {
      method,
      url: prefix + path,
      requestId,
      log,
      ...(idempotencyKey === undefined ? {} : { headers: { 'idempotency-key': idempotencyKey } }),
      ...(bearer === undefined ? {} : { bearer }),
      ...(json === undefined ? {} : { json }),
    });
}

/**
 * Calls a separate service at `authUrl`. Rejects when there is no whole JSON answer within `limits.authCallSeconds`,
 * however it fails to come: not at all, byte by byte, endless, as a redirect or as something else than JSON.
 */
export function httpTransport(
  authUrl: string,
  deadlineMs: number = limits.authCallSeconds * 1000,
): AuthTransport {
  const base = authUrl.replace(/\/+$/, '') + prefix;
  async function once(call: AuthCall, signal: AbortSignal): Promise<AuthAnswer> {
    const { method, path, bearer, json, idempotencyKey, requestId } = call;
    const response = await fetch(base + path, {
      method,
      headers: {
        'x-request-id': requestId,
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      redirect: 'error',
      signal,
    });
    return { status: response.status, body: parseAnswer(await readAnswer(response.body ?? emptyBody())) };
  }
  return async (call) => {
    const signal = AbortSignal.timeout(deadlineMs);
    try {
      return await once(call, signal);
    } catch (error) {
      // A kept connection may end just as it is used again.
      const changesNothing = call.method === 'GET' || questions.test(call.path);
      if (changesNothing && error instanceof TypeError && !signal.aborted) return await once(call, signal);
      throw error;
    }
  };
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}

/** The bytes of an answer; rejects above `limits.authAnswerBytes`. */
export async function readAnswer(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // Leaving the loop cancels the rest.
    if (bytes > limits.authAnswerBytes) throw new Error('The authentication service’s answer has no end.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The JSON of an answer; undefined for none. The parser's own words quote the text, so they are not passed on. */
export function parseAnswer(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new Error('The authentication service’s answer is not JSON.');
  }
}
