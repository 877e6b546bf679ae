/**
 * With a separate authentication service, its routes answer under this server's address too, so that the console and
 * simple clients need to know one address only. Nothing is decided here; the caller's address goes along for the
 * service's rate limits (its `TRUSTED_PROXIES` must count this server).
 */
import { Problem } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { type Dispatcher, type Incoming, splitTarget } from '../http/dispatcher.ts';
import { errorReply, errorSchema, toProblem } from '../http/errors.ts';
import { allPaths, PathTree } from '../http/paths.ts';
import type { Reply, Route } from '../http/route.ts';
import { parseAnswer, readAnswer } from './auth-transport.ts';

const sentHeaders = ['authorization', 'content-type', 'content-encoding', 'accept'];
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
  const target = { base: authUrl.replace(/\/+$/, ''), tree: new PathTree<Route>(), deadlineMs };
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
        if (problem.status >= 500) incoming.log.error({ err: problem.cause }, 'authentication service');
        return { reply: errorReply(toProblem(problem), 'common'), routeId: 'authentication', problem };
      }
    },
  };
}

type Target = { readonly base: string; readonly tree: PathTree<Route>; readonly deadlineMs: number };

async function forward({ base, tree, deadlineMs }: Target, incoming: Incoming): Promise<Reply> {
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
    signal: AbortSignal.any([incoming.life.signal, AbortSignal.timeout(deadlineMs)]),
  });
  const returned: Record<string, string> = {};
  for (const name of returnedHeaders) {
    const value = response.headers.get(name);
    if (value !== null) returned[name] = value;
  }
  const bytes = await readAnswer(response);
  const match = tree.match(incoming.method, path);
  const route = match.found === 'route' ? match.value : undefined;
  if (incoming.method !== 'HEAD' && !isAnswer(route, response.status, parseAnswer(bytes)))
    throw new Error('The authentication service’s answer is none of its own.');
  const { status } = response;
  return { status, headers: returned, ...(bytes.length === 0 ? {} : { stream: bytes }) };
}

/** What the route says, or a refusal with the common body: what else comes is told by something in between. */
function isAnswer(route: Route | undefined, status: number, body: unknown): boolean {
  if (status >= 400) return errorSchema.safeParse(body).success;
  const said = route?.responses[status];
  if (said === undefined) return false;
  return said.schema === undefined ? body === undefined : said.schema.safeParse(body).success;
}
