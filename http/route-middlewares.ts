/** The middlewares of one route. Each is made from the route's declaration; unneeded ones are left out. */
import { Readable } from 'node:stream';
import type { z } from 'zod';
import { type Caller, decideAccess } from '../domain/access/access.ts';
import type { ShareName } from '../domain/access/shares.ts';
import { Problem, type ProblemKey } from '../domain/errors.ts';
import { redacted } from '../domain/redact.ts';
import { isStorableText } from '../domain/text.ts';
import { isTracing, startSpan } from '../telemetry/trace.ts';
import { jsonPieces } from './bodies/json-items.ts';
import type { Call, RouteMiddleware } from './call.ts';
import { readInput } from './errors.ts';
import { checkBody, checkProblem, checkReply, listedSchemas } from './response-check.ts';
import type { Reply, Route } from './route.ts';
import { parametersOf } from './schemas.ts';
import { ownTurn } from './turns.ts';

/** A span around the call, which ends when its answer was sent. */
export const traced: RouteMiddleware = ({ method, path, traced }) => {
  if (traced === false) return undefined;
  return ({ state }, next) => {
    if (!isTracing()) return next();
    state.span = startSpan(`${method} ${path}`, {
      kind: 'server',
      parent: state.headers.traceparent ?? null,
      attributes: {
        'http.request.method': state.method,
        'http.route': path,
        // The caller may have chosen the id.
        'sdp.request.id': redacted(state.requestId),
      },
    });
    return state.span?.within(next);
  };
};

/** `strict` (tests): a reply the route does not declare is a 500. `log`: it is sent and logged. */
export type ResponseChecks = 'strict' | 'log';

/** Checks replies and refusals against the route's declaration. */
export function checked(checks: ResponseChecks): RouteMiddleware {
  return (route) =>
    async ({ state }, next) => {
      try {
        await next();
        if (state.reply !== null) state.reply = checkedReply(route, state.reply, state, checks);
        if (state.life.refusal !== undefined) throw state.life.refusal;
      } catch (thrown) {
        // The refusal takes precedence over the handler's result.
        if (state.life.refusal !== undefined) throw state.life.refusal;
        const fault = thrown instanceof Problem ? checkProblem(route, thrown) : null;
        if (fault !== null) state.log.error({ route: route.id, fault }, 'undeclared error');
        if (fault === null || checks === 'log') throw thrown;
        throw new Problem('internal', { cause: thrown });
      }
    };
}

/** @param call whose log is made only when there is something to say */
function checkedReply(route: Route, reply: Reply, call: Pick<Call, 'log'>, checks: ResponseChecks): Reply {
  const { fault, body } = checkReply(route, reply);
  if (fault !== null) {
    call.log.error({ route: route.id, fault }, 'undeclared response');
    if (checks === 'strict') throw new Problem('internal', { cause: new Error(`${route.id}: ${fault}`) });
  }
  if (reply.items !== undefined) return withItems(route, { ...reply, body }, call, checks);
  return body === undefined ? reply : { ...reply, body };
}

/** The reply with the pieces of its JSON, each item checked as it is sent. */
function withItems(
  route: Route,
  { items = none(), body: before = {}, rest = () => ({}), ...reply }: Reply,
  call: Pick<Call, 'log'>,
  checks: ResponseChecks,
): Reply {
  const spec = route.responses[reply.status];
  let isLogged = false;
  const check = (schema: z.ZodType | undefined, value: unknown) => {
    const { fault, body } =
      schema === undefined ? { fault: 'no item is declared', body: value } : checkBody(schema, value);
    if (fault === null) return body;
    if (!isLogged) call.log.error({ route: route.id, fault }, 'undeclared response');
    isLogged = true;
    if (checks === 'strict') throw new Error(`${route.id}: ${fault}`);
    return body;
  };
  if (spec?.listed === undefined)
    return { ...reply, pieces: jsonPieces(items, (item) => check(spec?.items, item)) };
  const { item: itemSchema, around } = listedSchemas(spec);
  const after = () => {
    const fields = rest();
    check(around, { ...(before as object), ...fields });
    return fields;
  };
  const { listed: field } = spec;
  const pieces = jsonPieces(items, (item) => check(itemSchema, item), {
    field,
    before: before as object,
    after,
  });
  return { ...reply, pieces };
}

async function* none(): AsyncGenerator<readonly unknown[]> {}

/**
 * Maps a bearer token to its caller; null when it is unknown, expired or revoked. Throws `unavailable`. It may end the
 * call when the token ends first.
 */
export type Identify = (bearer: string, call: Call) => Promise<Caller | null>;

/** The token (401), then the access table (401/403). */
export function bearer(identify: Identify): RouteMiddleware {
  return ({ access }) => {
    if (access.open) return undefined;
    return async ({ state }, next) => {
      const caller = state.bearer === null ? null : await identify(state.bearer, state);
      if (caller === null) throw new Problem('unauthorized');
      const decision = decideAccess(access, caller);
      if (!decision.allowed) throw new Problem(decision.problem);
      state.principal = caller;
      await next();
    };
  };
}

/**
 * Counts a call to a route with a share; the call's end releases it. Throws `unavailable` when the caller's share or
 * the total is used up.
 */
export type AcquireShare = (share: ShareName, caller: Caller | null, call: Call) => () => void;

export function shared(acquireShare: AcquireShare): RouteMiddleware {
  return ({ share }) => {
    if (share === undefined) return undefined;
    return ({ state }, next) => {
      state.life.onEnd(acquireShare(share, state.principal, state));
      return next();
    };
  };
}

/** As {@link shared}, once the body is read. */
export function sharedByBody(acquireShare: AcquireShare): RouteMiddleware {
  return ({ shareOf }) => {
    if (shareOf === undefined) return undefined;
    return ({ state }, next) => {
      const share = shareOf(state.body);
      if (share !== undefined) state.life.onEnd(acquireShare(share, state.principal, state));
      return next();
    };
  };
}

/** Waits for a turn, before the body is read. */
export function waitForTurn({ yields }: Route): ReturnType<RouteMiddleware> {
  if (yields !== true) return undefined;
  return async (_context, next) => {
    await ownTurn();
    await next();
  };
}

/** Path (404), query and headers (400). */
export const validated: RouteMiddleware = (route) => {
  const { query, headers, refusals } = route;
  const known = query === undefined ? {} : parametersOf(query).shape;
  return ({ state, params }, next) => {
    if (route.params !== undefined)
      state.params = parseParams(route.params, params, refusals?.params ?? 'notFound');
    const values = readQuery(state.query, known);
    if (query !== undefined) state.queryValues = readInput('query', query, values, refusals?.query);
    if (headers !== undefined)
      state.headerValues = readInput('headers', headers, state.headers, refusals?.headers);
    return next();
  };
};

function parseParams(schema: z.ZodType, params: Readonly<Record<string, string>>, refusal: ProblemKey) {
  const result = Object.values(params).every(isStorableText) ? schema.safeParse(params) : null;
  if (result?.success) return result.data;
  throw new Problem(refusal);
}

/** Refuses a known name that is repeated, as many clients send a list: all values but one would be passed over. */
function readQuery(query: string, known: object): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  if (query === '') return values;
  for (const [name, value] of new URLSearchParams(query)) {
    if (!isStorableText(value))
      throw new Problem('invalidRequest', { message: `query.${name}: must hold no NUL.` });
    if (name in values && Object.hasOwn(known, name))
      throw new Problem('invalidRequest', {
        message: `query.${name}: is given more than once; several values are one text, with commas between them.`,
      });
    values[name] = value;
  }
  return { ...values };
}

/** Runs the route's handler; the middlewares before it then process its reply. */
export function handled<Services>(services: Services): RouteMiddleware {
  return ({ id, handler }) =>
    async ({ state }) => {
      const { method, url, headers, bearer, remoteAddress, requestId, life, facts, shutdown } = state;
      const reply = await (handler as Route<Services>['handler'])({
        routeId: id,
        params: state.params,
        query: state.queryValues,
        headers: state.headerValues,
        body: state.body,
        principal: state.principal,
        services,
        request: { method, url, headers, remoteAddress, bearer },
        note: (ids) => facts.note(ids),
        requestId,
        get log() {
          return state.log;
        },
        signal: life.signal,
        shutdown,
      });
      // It may fail before it is sent; an error without a listener would end the process. The sender sees it later.
      if (reply.stream instanceof Readable) reply.stream.on('error', () => undefined);
      state.reply = reply;
    };
}
