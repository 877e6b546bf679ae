/**
 * With a separate authentication service, its routes answer under this server's address too, so that the console and
 * simple clients need to know one address only. Nothing is decided here; the caller's address goes along for the
 * service's rate limits (its `TRUSTED_PROXIES` must count this server).
 */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { type Dispatcher, type Incoming, splitTarget } from '../../http/dispatcher.ts';
import { errorReply, errorSchema, toProblem } from '../../http/errors.ts';
import { allPaths, PathTree } from '../../http/paths.ts';
import type { Reply, Route } from '../../http/route.ts';
import { parseAnswer, readAnswer } from './auth-transport.ts';

const sentHeaders = ['authorization', 'content-type', 'content-encoding', 'accept', 'idempotency-key'];
const returnedHeaders = ['retry-after', 'www-authenticate', 'allow', 'cache-control', 'content-type'];

/**
 * A dispatcher that passes every call on to the service at `authUrl`.
 * @param routes the service's own: what it answers is held to their words
 */
export function forwardTo(
  authUrl: string,
  routes: readonly Route[],
  deadlineMs: number = limits.authForwardSeconds * 1000,
): Dispatcher {
  const target = { url: new URL(authUrl), tree: new PathTree<Route>(), deadlineMs };
  for (const route of routes) {
    for (const path of allPaths(route.path, route.aliases ?? [], route.versions ?? 'versioned'))
      target.tree.add(route.method, path, route);
  }
  return {
    routes,
    styleOf: () => 'common',
    async dispatch(incoming) {
      try {
        return { reply: await forward(target, incoming), routeId: 'authentication', problem: null };
      } catch (thrown) {
        const problem = thrown instanceof Problem ? thrown : new Problem('unavailable', { cause: thrown });
        if (problem.status >= 500 && !incoming.life.signal.aborted)
          incoming.log.error({ err: problem.cause }, 'authentication service');
        return { reply: errorReply(toProblem(problem), 'common'), routeId: 'authentication', problem };
      }
    },
  };
}

type Target = { readonly url: URL; readonly tree: PathTree<Route>; readonly deadlineMs: number };
type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly bytes: Buffer };

async function forward(target: Target, incoming: Incoming): Promise<Reply> {
  const { status, headers, bytes } = await ask(target, incoming);
  const match = target.tree.match(incoming.method, splitTarget(incoming.url).path);
  const route = match.found === 'route' ? match.value : undefined;
  if (incoming.method !== 'HEAD' && !isAnswer(route, status, parseAnswer(bytes)))
    throw new Error('The authentication service’s answer is none of its own.');
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
 * Sends path, query and body on as they came, letter by letter: what is wrong with them is for the service to say. Over
 * a connection of its own, since a kept one may end just as it is used.
 */
function ask(target: Target, incoming: Incoming): Promise<Answer> {
  const { url, deadlineMs } = target;
  const { path, query } = splitTarget(incoming.url);
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const outgoing = send(
      url,
      {
        method: incoming.method,
        path: url.pathname.replace(/\/+$/, '') + path + (query === '' ? '' : `?${query}`),
        headers: headersFor(incoming),
        agent: false,
        signal: AbortSignal.any([incoming.life.signal, AbortSignal.timeout(deadlineMs)]),
      },
      (answer) => {
        const { statusCode: status = 502, headers } = answer;
        // An answer that comes before the whole body is the answer all the same.
        body?.unpipe(outgoing);
        readAnswer(answer)
          .then((bytes) => resolve({ status, headers, bytes }), reject)
          .finally(() => outgoing.destroy());
      },
    );
    outgoing.on('error', reject);
    const body = hasNoBody(incoming) ? undefined : incoming.upload.open().on('error', reject);
    if (body === undefined) outgoing.end();
    else body.pipe(outgoing);
  });
}

function hasNoBody({ method, upload }: Incoming): boolean {
  return method === 'GET' || method === 'HEAD' || upload.declaredBytes === 0;
}

function headersFor(incoming: Incoming): Record<string, string> {
  const { declaredBytes } = incoming.upload;
  const chain = [incoming.headers['x-forwarded-for'], incoming.remoteAddress].filter(Boolean);
  const headers: Record<string, string> = {
    // With `close` the service would end the connection, and with it its answer, while a body still comes.
    connection: 'keep-alive',
    'x-request-id': incoming.requestId,
    'x-forwarded-for': chain.join(', '),
    ...(hasNoBody(incoming) || declaredBytes === null ? {} : { 'content-length': String(declaredBytes) }),
  };
  for (const name of sentHeaders) {
    const value = incoming.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}

/** What the route says, or a refusal with the common body: what else comes is told by something in between. */
function isAnswer(route: Route | undefined, status: number, body: unknown): boolean {
  if (status >= 400) return errorSchema.safeParse(body).success;
  const said = route?.responses[status];
  if (said === undefined) return false;
  return said.schema === undefined ? body === undefined : said.schema.safeParse(body).success;
}
