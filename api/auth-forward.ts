/**
 * With a separate authentication service, its routes answer under this server's address too, so that the console and
 * simple clients need to know one address only. Nothing is decided here; the caller's address goes along for the
 * service's rate limits (its `TRUSTED_PROXIES` must count this server).
 */
import { Problem } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { type Dispatcher, type Incoming, splitTarget } from '../http/dispatcher.ts';
import { errorReply, errorSchema, toProblem } from '../http/errors.ts';
import type { Reply, Route } from '../http/route.ts';
import { parseAnswer, readAnswer } from './auth-transport.ts';

const sentHeaders = ['authorization', 'content-type', 'content-encoding', 'accept'];
const returnedHeaders = ['retry-after', 'www-authenticate', 'allow', 'cache-control', 'content-type'];

/** A dispatcher that passes every call on to the service at `authUrl`; `routes` are for the reference alone. */
export function forwardTo(authUrl: string, routes: readonly Route[]): Dispatcher {
  const base = authUrl.replace(/\/+$/, '');
  return {
    routes,
    async dispatch(incoming) {
      try {
        return { reply: await forward(base, incoming), routeId: 'authentication', problem: null };
      } catch (thrown) {
        const problem = thrown instanceof Problem ? thrown : new Problem('unavailable', { cause: thrown });
        if (problem.status >= 500) incoming.log.error({ err: problem.cause }, 'authentication service');
        return { reply: errorReply(toProblem(problem), 'common'), routeId: 'authentication', problem };
      }
    },
  };
}

async function forward(base: string, incoming: Incoming): Promise<Reply> {
  const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD';
  const json = hasBody ? await incoming.readJson() : undefined;
  const headers: Record<string, string> = {
    'x-request-id': incoming.requestId,
    'x-forwarded-for': [incoming.headers['x-forwarded-for'], incoming.remoteAddress]
      .filter(Boolean)
      .join(', '),
  };
  for (const name of sentHeaders) {
    const value = incoming.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  // A target in absolute form names a host, which is not the one to ask.
  const { path, query } = splitTarget(incoming.url);
  const response = await fetch(base + path + (query === '' ? '' : `?${query}`), {
    method: incoming.method,
    headers,
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    redirect: 'error',
    signal: AbortSignal.any([incoming.life.signal, AbortSignal.timeout(limits.authForwardSeconds * 1000)]),
  });
  const returned: Record<string, string> = {};
  for (const name of returnedHeaders) {
    const value = response.headers.get(name);
    if (value !== null) returned[name] = value;
  }
  const bytes = await readAnswer(response);
  if (bytes.length === 0 && response.ok) return { status: response.status, headers: returned };
  if (!isAnswer(response.status, parseAnswer(bytes)))
    throw new Error('The authentication service’s answer is none of its own.');
  return { status: response.status, headers: returned, stream: bytes };
}

/** JSON, and of refusals the common body: what else comes is told by something in between, or by a broken service. */
function isAnswer(status: number, body: unknown): boolean {
  return status < 400 ? body !== undefined : errorSchema.safeParse(body).success;
}
