/** The middlewares of every request: its id, its log line, its answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { RouterContext } from '@koa/router';
import type { Logger } from 'pino';
import { Problem } from '../domain/errors.ts';
import { limitUnreadBody } from './bodies/unread-body.ts';
import { openBody } from './bodies/upload.ts';
import { type Call, type Context, type Middleware, replyAfter } from './call.ts';
import { type ErrorReply, type ErrorStyle, errorReply, toProblem } from './errors.ts';
import { LogFields } from './log-fields.ts';
import { splitTarget } from './paths.ts';
import { requestIdFrom } from './request-id.ts';
import { RequestLifetime } from './request-lifetime.ts';
import type { Reply } from './route.ts';
import { pathsOf, patternOf, type RouteSet } from './routing.ts';
import { faultOf } from './server/request-smuggling.ts';
import { watchReader } from './server/slow-reader.ts';

const bearerForm = /^bearer +([\x21-\x7e]{1,1024})$/i;
/** No answer: the caller was gone before any of it was sent. Proxies use the same number. */
const callerGone = 499;

/** What later middlewares find out of a call. */
const unknownYet = {
  routeId: null,
  route: null,
  span: undefined,
  principal: null,
  params: {},
  queryValues: {},
  headerValues: {},
  body: undefined,
  json: undefined,
  reply: null,
  mustWait: false,
} satisfies Partial<Call>;

/** Gives the request its id and its state. @param styleOf the form of errors for a path */
export function identified(
  log: Logger,
  shutdown: AbortSignal,
  styleOf: (path: string) => ErrorStyle,
): Middleware {
  return (context, next) => {
    const { req, res } = context;
    // The writer sees that the caller is gone; an error without a listener would end the process.
    res.on('error', () => undefined);
    const { path, query } = splitTarget(req.url ?? '/');
    // Koa reads it too, and an invalid host would be an error there.
    req.url = query === '' ? path : `${path}?${query}`;
    const headers = req.headers as Call['headers'];
    const requestId = requestIdFrom(headers['x-request-id']);
    res.setHeader('x-request-id', requestId);
    // Replies are for one caller; cacheable ones set their own header.
    res.setHeader('cache-control', 'no-store');
    const life = new RequestLifetime(() => {
      if (res.headersSent) res.destroy();
    });
    let own: Logger | undefined;
    context.state = {
      ...unknownYet,
      method: req.method ?? 'GET',
      url: req.url,
      path,
      query,
      headers,
      bearer: bearerForm.exec(headers.authorization?.trim() ?? '')?.[1] ?? null,
      remoteAddress: req.socket.remoteAddress ?? '',
      requestId,
      life,
      facts: new LogFields(),
      shutdown,
      upload: {
        open: () => openBody(req, res, (problem) => refuseSlow(res, errorReply(problem, styleOf(path)))),
        declaredBytes: declaredBytes(req),
      },
      // Most requests write their one line alone, which needs no logger of its own.
      get log() {
        const { route, facts } = context.state;
        own ??= log.child({ requestId, ...(route === null ? {} : { route: route.id }), ...facts.ids });
        return own;
      },
    };
    return next();
  };
}

function declaredBytes({ headers }: IncomingMessage): number | null {
  const length = headers['content-length'];
  if (length !== undefined) return Number(length);
  return headers['transfer-encoding'] === undefined ? 0 : null;
}

/** The request is about to be destroyed with its connection, so the answer is sent first. */
async function refuseSlow(response: ServerResponse, { status, headers, body }: ErrorReply): Promise<void> {
  if (response.headersSent) return;
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  });
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
    response.end(text);
  });
}

/** Writes one line, and ends the span, when the answer was sent or the caller is gone. @param observe for metrics */
export function logged(
  log: Logger,
  observe?: (routeId: string, status: number, seconds: number) => void,
): Middleware {
  return async ({ res, state, method }, next) => {
    const startedAtMs = performance.now();
    const { life, requestId } = state;
    res.once('close', () => {
      if (!res.writableFinished) life.hangUp();
      // Koa sends the answer when the last middleware is done; the caller may have hung up before.
      if (isDone) void finish(false);
    });
    let isDone = false;
    await next();
    isDone = true;
    if (res.closed) await finish(!res.headersSent);

    async function finish(isGone: boolean): Promise<void> {
      const isDelivered = res.writableFinished;
      state.life.end();
      await settle(state, isDelivered);
      const seconds = (performance.now() - startedAtMs) / 1000;
      const status = isGone ? callerGone : res.statusCode;
      const route = state.routeId ?? 'none';
      observe?.(route, status, seconds);
      endSpan(state, status);
      const traceId = state.span?.traceparent.slice(3, 35);
      const line = {
        requestId,
        route,
        ...state.facts.ids,
        ...(traceId === undefined ? {} : { traceId }),
        method,
        status,
        ms: Math.round(seconds * 1000),
        delivered: isDelivered,
      };
      if (status >= 500 && !state.mustWait) log.error(line, 'request');
      else if (isGone) log.info(line, 'request aborted by its caller');
      else log.info(line, 'request');
    }
  };
}

/** Runs `settled` of the reply, whose failure changes no answer. */
async function settle(state: Call, isDelivered: boolean): Promise<void> {
  try {
    await state.reply?.settled?.(isDelivered);
  } catch (error) {
    state.log.error({ err: error }, 'after the reply');
  }
}

function endSpan({ span, facts }: Call, status: number): void {
  if (span === undefined) return;
  const ids = Object.entries(facts.ids).map(([name, value]) => [`sdp.${name}`, value]);
  span.set({ 'http.response.status_code': status, ...Object.fromEntries(ids) });
  if (status >= 500) span.failed();
  span.end();
}

/** Makes Koa's answer from the reply, or from the error. @param leaving when aborted, replies close their connection */
export function answered(styleOf: (path: string) => ErrorStyle, leaving: AbortSignal): Middleware {
  return async (context, next) => {
    const { req, res, state } = context;
    try {
      await put(context, await replyAfter(state, next));
    } catch (thrown) {
      await dropReply(state);
      const problem = toProblem(thrown);
      const err = problem.cause ?? problem;
      // What is away or broken has a cause.
      state.mustWait = problem.status === 503 && problem.cause === undefined;
      // A caller that leaves is no fault of the platform; the line of the request says so.
      if (problem.status >= 500 && !state.mustWait && err !== req.errored && !isBrokenOff(state, err))
        state.log.error({ err, key: problem.key }, 'request failed');
      await put(context, errorReply(problem, state.route?.errorStyle ?? styleOf(state.path)));
    }
    if (leaving.aborted && !res.headersSent) res.setHeader('connection', 'close');
  };
}

/** Whether it failed because its caller hung up. */
function isBrokenOff({ life }: Call, error: unknown): boolean {
  const isAbort = error instanceof Error && error.name === 'AbortError';
  return isAbort && life.signal.aborted && life.refusal === undefined;
}

/** Drops a reply that is not sent, and releases its stream's resources (a row, a listener, a file). */
async function dropReply(state: Call): Promise<void> {
  const { reply } = state;
  if (reply?.stream instanceof Readable) reply.stream.destroy();
  await settle(state, false);
  state.reply = null;
}

async function put(context: Context, reply: Reply): Promise<void> {
  const { req, res } = context;
  const isBare = context.method === 'HEAD' || reply.status === 204 || reply.status === 304;
  // The caller is gone, or was refused as too slow.
  context.respond = !res.headersSent && !res.closed;
  if ((isBare || !context.respond) && reply.stream instanceof Readable) reply.stream.destroy();
  if (!context.respond) return;
  const body = await bodyOf(reply, isBare);
  const headers = { ...context.state.route?.replyHeaders, ...reply.headers };
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (reply.body !== undefined && !res.hasHeader('content-type'))
    res.setHeader('content-type', 'application/json; charset=utf-8');
  if (body !== undefined) context.body = body;
  context.status = reply.status;
  limitUnreadBody(req, res);
  watchReader(res);
}

/** The body for Koa to send; undefined when the headers describe bytes that are not sent. */
async function bodyOf(
  { body, stream }: Reply,
  isBare: boolean,
): Promise<string | Buffer | Readable | null | undefined> {
  if (stream === undefined) return body === undefined ? null : JSON.stringify(body);
  if (typeof stream === 'string') return stream;
  if (stream instanceof Uint8Array) return Buffer.from(stream.buffer, stream.byteOffset, stream.byteLength);
  if (isBare) return undefined;
  const opened = stream instanceof Readable ? stream : await stream();
  // It failed before the head was sent: the caller can still get an error.
  if (opened.errored !== null) throw opened.errored;
  return opened;
}

/** Refuses requests that a proxy in between might read differently. */
export const refuseSmuggled: Middleware = ({ req }, next) => {
  const fault = faultOf(req);
  if (fault !== null) throw new Problem(fault, { headers: { connection: 'close' } });
  return next();
};

/** Answers GET and HEAD for paths without a route; null when it has nothing. */
export type Fallback = (request: IncomingMessage) => Promise<Reply | null>;

/** Answers requests without a route: 405 with the methods of the path, a file, or 404. */
export function unrouted(sets: readonly RouteSet[], fallback?: Fallback): Middleware {
  const routes = sets.flatMap((set) => set.routes);
  const headersOf = new Map(
    routes.flatMap((route) => pathsOf(route).map((path) => [patternOf(path), route.replyHeaders])),
  );
  return async (context) => {
    const { req, method, state } = context;
    const { matched = [] } = context as unknown as RouterContext<Call>;
    const methods = [...new Set(matched.flatMap((layer) => layer.methods))];
    if (methods.length > 0) {
      state.routeId = 'methodNotAllowed';
      const ofPath = matched.map(({ path }) => headersOf.get(String(path)));
      const allow = methods.sort().join(', ');
      throw new Problem('methodNotAllowed', { headers: Object.assign({ allow }, ...ofPath) });
    }
    if (fallback !== undefined && (method === 'GET' || method === 'HEAD')) {
      state.routeId = 'static';
      state.reply = await fallback(req);
      if (state.reply !== null) return;
      state.routeId = null;
    }
    throw new Problem('notFound');
  };
}
