/**
 * With a separate authentication service, its routes answer under this server's address too, so that the console and
 * simple clients need to know one address only. Nothing is decided here; the caller's address is passed on for the
 * service's rate limits (its `TRUSTED_PROXIES` must count this server).
 */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import type { Call, Middleware } from '../../http/call.ts';
import { errorSchema } from '../../http/errors.ts';
import type { Reply, Route } from '../../http/route.ts';
import type { RouteSet } from '../../http/routing.ts';
import { parseAnswer, readAnswer } from './auth-answer.ts';

const sentHeaders = ['authorization', 'content-type', 'content-encoding', 'accept', 'idempotency-key'];
const returnedHeaders = ['retry-after', 'www-authenticate', 'allow', 'cache-control', 'content-type'];

const healthPath = '/api/authorization/health';

/**
 * Routes that pass every call on to the service at `authUrl`.
 * @param routes the service's own: its answers are checked against them
 * @param checkKey rejects when the service does not know this platform: then it is not well for this platform
 */
export function forwardTo(
  authUrl: string,
  routes: readonly Route[],
  checkKey?: (requestId: string) => Promise<unknown>,
  deadlineMs: number = limits.authForwardSeconds * 1000,
): RouteSet {
  const target = { url: new URL(authUrl), deadlineMs };
  const forward =
    (route?: Route): Middleware =>
    async ({ state }) => {
      // Paths that no route has are the service's to refuse; `(none)` in metrics, as everywhere.
      if (route === undefined) state.routeId = 'authentication';
      try {
        state.reply = await answerOf(target, state, route);
        const isWell = route?.path === healthPath && state.reply.status === 200;
        if (isWell) await checkKey?.(state.requestId);
      } catch (thrown) {
        throw thrown instanceof Problem ? thrown : new Problem('unavailable', { cause: thrown });
      }
    };
  return {
    routes,
    middlewares: (route) => [forward(route)],
    // Unknown paths and methods are for the service to refuse.
    others: { below: '/api/authorization', middleware: forward() },
  };
}

type Target = { readonly url: URL; readonly deadlineMs: number };
type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly bytes: Buffer };

async function answerOf(target: Target, call: Call, route: Route | undefined): Promise<Reply> {
  const { status, headers, bytes } = await ask(target, call);
  if (call.method !== 'HEAD' && !isAnswer(route, status, parseAnswer(bytes)))
    throw new Error('The response does not come from the authentication service.');
  const returned = returnedHeaders.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return {
    status,
    headers: Object.fromEntries(returned),
    ...(bytes.length === 0 ? {} : { stream: bytes }),
  };
}

/**
 * Sends path, query and body on unchanged: the service reports what is wrong with them. It uses a new connection, since
 * the service may close a kept one just as it is used.
 */
function ask(target: Target, call: Call): Promise<Answer> {
  const { url, deadlineMs } = target;
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const outgoing = send(
      url,
      {
        method: call.method,
        path: url.pathname.replace(/\/+$/, '') + call.url,
        headers: headersFor(call),
        agent: false,
        signal: AbortSignal.any([call.life.signal, AbortSignal.timeout(deadlineMs)]),
      },
      (answer) => {
        const { statusCode: status = 502, headers } = answer;
        // An answer that comes before the whole body was sent counts too.
        body?.unpipe(outgoing);
        readAnswer(answer)
          .then((bytes) => resolve({ status, headers, bytes }), reject)
          .finally(() => outgoing.destroy());
      },
    );
    outgoing.on('error', reject);
    const body = hasNoBody(call) ? undefined : call.upload.open().on('error', reject);
    if (body === undefined) outgoing.end();
    else body.pipe(outgoing);
  });
}

function hasNoBody({ method, upload }: Call): boolean {
  return method === 'GET' || method === 'HEAD' || upload.declaredBytes === 0;
}

function headersFor(call: Call): Record<string, string> {
  const { declaredBytes } = call.upload;
  const chain = [call.headers['x-forwarded-for'], call.remoteAddress].filter(Boolean);
  const headers: Record<string, string> = {
    // With `close` the service would end the connection, and its answer with it, while the body still arrives.
    connection: 'keep-alive',
    'x-request-id': call.requestId,
    'x-forwarded-for': chain.join(', '),
    ...(hasNoBody(call) || declaredBytes === null ? {} : { 'content-length': String(declaredBytes) }),
  };
  for (const name of sentHeaders) {
    const value = call.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}

/**
 * A response that the route declares, or a refusal with the common body: anything else comes from a proxy in between.
 */
function isAnswer(route: Route | undefined, status: number, body: unknown): boolean {
  if (status >= 400) return errorSchema.safeParse(body).success;
  const said = route?.responses[status];
  if (said === undefined) return false;
  return said.schema === undefined ? body === undefined : said.schema.safeParse(body).success;
}
