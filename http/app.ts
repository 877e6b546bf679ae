/** The Koa app around a dispatcher: request ids, security headers, one log line a request, the reply. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import helmet from 'koa-helmet';
import type { Logger } from 'pino';
import { Problem } from '../domain/errors.ts';
import { readJsonBody } from './bodies/json-body.ts';
import { openBody } from './bodies/upload.ts';
import { CallFacts } from './call-facts.ts';
import { CallLife } from './call-life.ts';
import type { Dispatcher, Outcome } from './dispatcher.ts';
import { errorReply, toProblem } from './errors.ts';
import { requestIdFrom } from './request-id.ts';
import type { Reply } from './route.ts';
import { sendReply } from './send.ts';
import { faultOf } from './server/request-smuggling.ts';

/** Answers GET and HEAD for paths that no route knows; null where it has nothing. */
export type Fallback = (request: IncomingMessage) => Promise<Reply | null>;

export type AppOptions = {
  readonly dispatcher: Dispatcher;
  readonly log: Logger;
  readonly shutdown: AbortSignal;
  /** Aborted when the server begins to leave: from then on every reply closes its connection. */
  readonly leaving?: AbortSignal;
  readonly fallback?: Fallback;
  /** Whether people reach it over TLS, which something in front of it ends; their browsers are then bound to TLS. */
  readonly isBehindTls?: boolean;
  /** Called after each request, for metrics. */
  readonly observe?: (routeId: string, status: number, seconds: number) => void;
};

const yearSeconds = 31_536_000;
/** No answer: its caller was gone before any of it went out. Proxies write it so. */
const callerGone = 499;

const securityHeaders = (isBehindTls: boolean) =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
      },
    },
    // This host alone: what else lies below its name is not ours to bind.
    strictTransportSecurity: isBehindTls ? { maxAge: yearSeconds, includeSubDomains: false } : false,
    referrerPolicy: { policy: 'no-referrer' },
    // As frame-ancestors, for browsers that do not know it.
    xFrameOptions: { action: 'deny' },
  });

export function createApp(options: AppOptions): Koa {
  const app = new Koa();
  app.silent = true;
  app.on('error', (error) => options.log.error({ err: error }, 'app error'));
  app.use(securityHeaders(options.isBehindTls === true));
  app.use(async (context) => {
    context.respond = false;
    await answer(context.req, context.res, options);
  });
  return app;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: AppOptions,
): Promise<void> {
  const startedAt = performance.now();
  // Whoever writes sees that the caller is gone; an error without a listener would end the process.
  response.on('error', () => undefined);
  const requestId = requestIdFrom(one(request.headers['x-request-id']));
  const log = options.log.child({ requestId });
  response.setHeader('x-request-id', requestId);
  // Replies are made for one caller; those that may be kept say so themselves.
  response.setHeader('cache-control', 'no-store');
  const life = new CallLife(() => {
    if (response.headersSent) response.destroy();
  });
  const facts = new CallFacts();
  const outcome = await findOutcome(request, response, { requestId, log, life, facts }, options);
  if (options.leaving?.aborted === true || options.shutdown.aborted) closeAfter(response);
  let delivered = false;
  try {
    delivered = await sendReply(request, response, outcome.reply, log);
  } catch (thrown) {
    log.error({ err: thrown }, 'reply failed');
    const reply = errorReply(toProblem(thrown), options.dispatcher.styleOf(request.url ?? '/'));
    delivered = await sendReply(request, response, reply, log).catch(() => false);
  }
  life.end();
  try {
    await outcome.reply.settled?.(delivered);
  } catch (error) {
    log.error({ err: error }, 'after the reply');
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const route = outcome.routeId ?? 'none';
  const status = response.headersSent ? response.statusCode : callerGone;
  options.observe?.(route, status, seconds);
  endSpan(outcome.span, status, facts);
  const line = {
    route,
    ...facts.ids,
    ...(outcome.span === undefined ? {} : { traceId: outcome.span.traceparent.slice(3, 35) }),
    method: request.method,
    status,
    ms: Math.round(seconds * 1000),
    delivered,
  };
  if (status >= 500) log.error(line, 'request');
  else if (status === callerGone) log.info(line, 'request cut by its caller');
  else log.info(line, 'request');
}

function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

function endSpan(span: Outcome['span'], status: number, facts: CallFacts): void {
  if (span === undefined) return;
  const ids = Object.entries(facts.ids).map(([name, value]) => [`sdp.${name}`, value]);
  span.set({ 'http.response.status_code': status, ...Object.fromEntries(ids) });
  if (status >= 500) span.failed();
  span.end();
}

type CallParts = {
  readonly requestId: string;
  readonly log: Logger;
  readonly life: CallLife;
  readonly facts: CallFacts;
};

async function findOutcome(
  request: IncomingMessage,
  response: ServerResponse,
  call: CallParts,
  options: AppOptions,
): Promise<Outcome> {
  const { log } = call;
  const fault = faultOf(request);
  if (fault !== null) {
    const reply = errorReply(new Problem(fault, { headers: { connection: 'close' } }), 'common');
    return { reply, routeId: null, problem: null };
  }
  const outcome = await dispatchSocket(request, response, call, options);
  if (outcome.routeId !== null || options.fallback === undefined) return outcome;
  if (request.method !== 'GET' && request.method !== 'HEAD') return outcome;
  try {
    const reply = await options.fallback(request);
    return reply === null ? outcome : { reply, routeId: 'static', problem: null };
  } catch (thrown) {
    log.error({ err: thrown }, 'static file failed');
    return { reply: errorReply(toProblem(thrown), 'common'), routeId: 'static', problem: null };
  }
}

async function dispatchSocket(
  request: IncomingMessage,
  response: ServerResponse,
  { requestId, log, life, facts }: CallParts,
  options: AppOptions,
): Promise<Outcome> {
  response.once('close', () => {
    if (!response.writableFinished) life.hangUp();
  });
  const onSlow = async (problem: Problem) => {
    // The stream is about to be destroyed with its socket, so the answer goes out first.
    if (response.headersSent) return;
    response.setHeader('connection', 'close');
    const style = options.dispatcher.styleOf(request.url ?? '/');
    await sendReply(request, response, errorReply(problem, style), log);
  };
  const open = () => openBody(request, response, onSlow);
  return await options.dispatcher.dispatch({
    method: request.method ?? 'GET',
    url: request.url ?? '/',
    headers: singleHeaders(request),
    remoteAddress: request.socket.remoteAddress ?? '',
    requestId,
    log,
    life,
    facts,
    shutdown: options.shutdown,
    readJson: () => readJsonBody(open, request.headers),
    upload: { open, declaredBytes: declaredBytes(request) },
  });
}

/** Node joins repeated headers itself, except Set-Cookie, which no request carries. */
function singleHeaders(request: IncomingMessage): Record<string, string | undefined> {
  return request.headers as Record<string, string | undefined>;
}

function one(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function declaredBytes(request: IncomingMessage): number | null {
  const header = request.headers['content-length'];
  return header === undefined
    ? request.headers['transfer-encoding'] === undefined
      ? 0
      : null
    : Number(header);
}
