/** Routes by path, and one call through its route to an outcome. Serves sockets and calls within the process alike. */
import type { Logger } from 'pino';
import { Problem } from '../domain/errors.ts';
import { redacted } from '../domain/redact.ts';
import { isTracing, type OpenSpan, startSpan } from '../telemetry/trace.ts';
import { parseJsonBytes } from './bodies/json-body.ts';
import { CallFacts, idsInPath } from './call-facts.ts';
import { CallLife } from './call-life.ts';
import { type ErrorStyle, errorReply, toProblem } from './errors.ts';
import { type Call, type GuardOptions, runRoute } from './guard.ts';
import { allPaths, PathTree } from './paths.ts';
import { requestIdFrom } from './request-id.ts';
import type { Reply, Route } from './route.ts';

export type Incoming = Omit<Call, 'params' | 'query'>;

/** `routeId` is null where no route answers the path, so that a caller may look elsewhere (static files). */
export type Outcome = {
  readonly reply: Reply;
  readonly routeId: string | null;
  readonly problem: Problem | null;
  /** Of the call, to be ended when its answer is out; absent while tracing is off. */
  readonly span?: OpenSpan | undefined;
};

export type DispatcherOptions<Services> = GuardOptions<Services> & {
  /** Under these paths, errors of unknown paths and methods carry `code` too. */
  readonly codedPrefixes?: readonly string[];
};

export type Dispatcher = {
  readonly routes: readonly Route[];
  /** Never throws: every refusal and failure is an outcome. */
  dispatch(incoming: Incoming): Promise<Outcome>;
  /** How errors of a request are told that arise outside of any route. @param url path and query */
  styleOf(url: string): ErrorStyle;
};

/** Throws when two routes claim the same method and path, or the same id. */
export function createDispatcher<Services>(
  routes: readonly Route<Services>[],
  options: DispatcherOptions<Services>,
): Dispatcher {
  const tree = new PathTree<Route<Services>>();
  const ids = new Set<string>();
  for (const route of routes) {
    if (ids.has(route.id)) throw new Error(`Two routes are named ${route.id}.`);
    ids.add(route.id);
    for (const path of allPaths(route.path, route.aliases ?? [], route.versions ?? 'versioned')) {
      tree.add(route.method, path, route);
    }
  }
  const styleOf = (url: string): ErrorStyle => {
    const { path } = splitTarget(url);
    return options.codedPrefixes?.some((prefix) => path.startsWith(prefix)) ? 'coded' : 'common';
  };

  return {
    routes: routes as unknown as readonly Route[],
    styleOf,
    async dispatch(incoming) {
      const { path, query } = splitTarget(incoming.url);
      const match = tree.match(incoming.method, path);
      if (match.found === 'nothing') return refused(new Problem('notFound'), styleOf(path), null);
      if (match.found === 'path') {
        const headers = { allow: match.methods.join(', ') };
        return refused(new Problem('methodNotAllowed', { headers }), styleOf(path), 'methodNotAllowed');
      }
      const route = match.value;
      const ids = idsInPath(route.path, match.params);
      incoming.facts.note(ids);
      const log = incoming.log.child({ route: route.id, ...ids });
      const span = spanOf(route, incoming);
      const run = () => runRoute(route, { ...incoming, log, params: match.params, query }, options);
      try {
        const reply = await (span === undefined ? run() : span.within(run));
        return { reply, routeId: route.id, problem: null, span };
      } catch (thrown) {
        const problem = toProblem(thrown);
        if (problem.status >= 500)
          log.error({ err: problem.cause ?? problem, key: problem.key }, 'request failed');
        return { ...refused(problem, route.errorStyle ?? 'common', route.id), span };
      }
    },
  };
}

/** A call from within the process is part of the span of whoever makes it. */
function spanOf<Services>(route: Route<Services>, incoming: Incoming): OpenSpan | undefined {
  if (!isTracing() || incoming.isLocal === true || route.traced === false) return undefined;
  return startSpan(`${route.method} ${route.path}`, {
    kind: 'server',
    parent: incoming.headers.traceparent ?? null,
    attributes: {
      'http.request.method': incoming.method,
      'http.route': route.path,
      // The caller may have chosen it.
      'sdp.request.id': redacted(incoming.requestId),
    },
  });
}

/** Sends calls under a prefix to one dispatcher, all others to another: two services on one port. */
export function withPrefix(prefix: string, under: Dispatcher, others: Dispatcher): Dispatcher {
  const responsible = (url: string): Dispatcher => {
    const { path } = splitTarget(url);
    return path === prefix || path.startsWith(`${prefix}/`) ? under : others;
  };
  return {
    routes: [...others.routes, ...under.routes],
    dispatch: (incoming) => responsible(incoming.url).dispatch(incoming),
    styleOf: (url) => responsible(url).styleOf(url),
  };
}

function refused(problem: Problem, style: ErrorStyle, routeId: string | null): Outcome {
  return { reply: errorReply(problem, style), routeId, problem };
}

/** Path and query of a request target, which may also be in absolute form. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const origin = /^https?:\/\/[^/?#]*/i.exec(target)?.[0] ?? '';
  const rest = target.slice(origin.length);
  const at = rest.indexOf('?');
  return at < 0
    ? { path: rest || '/', query: '' }
    : { path: rest.slice(0, at) || '/', query: rest.slice(at + 1) };
}

/** A call from within the process: the same route, guard and checks as over a socket, without the socket. */
export type LocalCall = {
  readonly method: string;
  readonly url: string;
  readonly bearer?: string;
  /** Sent as JSON; undefined for no body. */
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly requestId?: string;
  readonly remoteAddress?: string;
  readonly log: Logger;
};
const never = new AbortController().signal;

export async function callLocally(
  dispatcher: Dispatcher,
  call: LocalCall,
): Promise<{
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}> {
  const life = new CallLife();
  const authorization = call.bearer === undefined ? {} : { authorization: `Bearer ${call.bearer}` };
  const { reply } = await dispatcher.dispatch({
    method: call.method,
    url: call.url,
    headers: { ...call.headers, ...authorization },
    remoteAddress: call.remoteAddress ?? '',
    requestId: requestIdFrom(call.requestId),
    log: call.log,
    life,
    facts: new CallFacts(),
    isLocal: true,
    shutdown: never,
    // Through text, as over a socket: what JSON cannot carry must not arrive here either.
    readJson: async () =>
      call.json === undefined ? undefined : parseJsonBytes(Buffer.from(JSON.stringify(call.json))),
    upload: {
      open() {
        throw new Error('A call within the process carries no stream.');
      },
      declaredBytes: 0,
    },
  });
  life.end();
  return { status: reply.status, body: reply.body, headers: reply.headers ?? {} };
}
