/** Single requests and answers of the server. */
import type { IncomingMessage } from 'node:http';
import type { Headers } from './forms.ts';
import type { Call } from './journal.ts';
import type { Reply, Route } from './routes.ts';

/** The route of a method and path. */
export interface Found {
  readonly route: Route | undefined;
  readonly params: Readonly<Record<string, string>>;
  /** Methods that the path knows; empty for an unknown path. */
  readonly methods: readonly string[];
}

export function newCall(request: IncomingMessage, { route, params }: Found): Call {
  const headers = request.headers as Headers;
  return {
    route: route?.id ?? 'unknown',
    method: request.method ?? '',
    path: request.url ?? '',
    headers,
    atMs: performance.now(),
    taskId: params.taskId,
    instanceId: headers['x-platform-runner-instance'],
    bodyAtMs: undefined,
    bodyBytes: 0,
    bodySha256: undefined,
    json: undefined,
    status: undefined,
    code: undefined,
    message: undefined,
    reply: undefined,
    answeredAtMs: undefined,
    goneAtMs: undefined,
    fault: undefined,
    released: undefined,
  };
}

/** The whole body; undefined when it is too long, and the rest is dropped. Rejects when the connection breaks. */
export async function collect(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (!request.complete) throw new Error('The request broke off.');
  return bytes <= maxBytes ? Buffer.concat(chunks) : undefined;
}

/** Resets the connection once a part of the body has arrived, or at once when there is none. */
export async function cutBody(request: IncomingMessage): Promise<void> {
  const hasBody = Number(request.headers['content-length'] ?? '1') > 0;
  if (hasBody) await new Promise<void>((resolve) => request.once('readable', resolve));
  request.socket.resetAndDestroy();
}

export function readLeniently(body: Buffer | undefined): unknown {
  try {
    return JSON.parse(body?.toString('utf8') ?? '');
  } catch {
    return undefined;
  }
}

export function codeOf(json: unknown): { code?: string; message?: string } {
  const { code, message } = json as { readonly code?: string; readonly message?: string };
  return { ...(code === undefined ? {} : { code }), ...(message === undefined ? {} : { message }) };
}

export function faultReply(status: number, code: string, retryAfterSeconds: number | undefined): Reply {
  return {
    status,
    json: { status: 'error', code, message: 'Made by the conformance kit.' },
    headers: retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  };
}
