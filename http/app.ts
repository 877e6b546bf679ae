/** The Koa app: its middlewares in the order in which they run. */
import { Readable } from 'node:stream';
import Koa from 'koa';
import helmet from 'koa-helmet';
import type { Logger } from 'pino';
import { type CallerKey, jsonBody } from './bodies/json-body.ts';
import { roomForReply } from './bodies/reply-room.ts';
import type { Call, Context, RouteMiddleware } from './call.ts';
import type { ErrorStyle } from './errors.ts';
import { overridden } from './method-override.ts';
import { answered, type Fallback, identified, logged, refuseSmuggled, unrouted } from './middlewares.ts';
import type { Route } from './route.ts';
import {
  type AcquireShare,
  bearer,
  checked,
  handled,
  type Identify,
  type ResponseChecks,
  shared,
  sharedByBody,
  traced,
  validated,
  waitForTurn,
} from './route-middlewares.ts';
import { type RouteSet, routed } from './routing.ts';

export type AppOptions = {
  readonly routeSets: readonly RouteSet[];
  readonly log: Logger;
  readonly shutdown: AbortSignal;
  /** Aborted when the server begins to leave: every later reply closes its connection. */
  readonly leaving?: AbortSignal;
  /** Answers GET and HEAD for paths without a route. */
  readonly fallback?: Fallback;
  /** Whether people reach it over TLS, which a proxy terminates; their browsers are then bound to TLS. */
  readonly isBehindTls?: boolean;
  /** Called after each request, for metrics. */
  readonly observe?: (routeId: string, status: number, seconds: number) => void;
  /** Under these paths, errors of unknown paths and methods carry `code` too. */
  readonly codedPrefixes?: readonly string[];
};

/**
 * Whether the caller has left while it read, which is no fault of the platform; the line of the request says so. A stream of
 * the platform that breaks off ends the connection with the same errors: with its own, or before the reply is closed.
 */
function hasLeft(error: NodeJS.ErrnoException, { req, res, body }: Koa.Context): boolean {
  if (error.code === 'ERR_STREAM_PREMATURE_CLOSE') return res.closed;
  const isOfStream = body instanceof Readable && body.errored === error;
  return error === req.socket.errored && !isOfStream;
}

export function createApp({
  log,
  shutdown,
  leaving = shutdown,
  codedPrefixes = [],
  ...options
}: AppOptions): Koa<Call> {
  const styleOf = (path: string): ErrorStyle =>
    codedPrefixes.some((prefix) => path.startsWith(prefix)) ? 'coded' : 'common';
  const app = new Koa<Call>();
  app.silent = true;
  app.on('error', (error: NodeJS.ErrnoException, context?: Context) => {
    if (context !== undefined && hasLeft(error, context)) return;
    (context?.state.log ?? log).error({ err: error }, 'app error');
  });
  return app
    .use(securityHeaders(options.isBehindTls === true))
    .use(overridden(options.routeSets))
    .use(identified(log, shutdown, styleOf))
    .use(logged(log, options.observe))
    .use(answered(styleOf, leaving))
    .use(refuseSmuggled)
    .use(routed(options.routeSets))
    .use(unrouted(options.routeSets, options.fallback));
}

export type RouteSetOptions<Services> = {
  readonly services: Services;
  readonly identify: Identify;
  /** Default: nothing is counted. */
  readonly acquireShare?: AcquireShare;
  /** Default: each token is a caller of its own. */
  readonly callerKey?: CallerKey;
  /** The service's middlewares around its handlers, the outermost first. */
  readonly middlewares?: readonly RouteMiddleware[];
  readonly responseChecks: ResponseChecks;
};

/** Routes with their middlewares, in the order in which they run. */
export function routeSet<Services>(
  routes: readonly Route<Services>[],
  options: RouteSetOptions<Services>,
): RouteSet {
  const { services, identify, acquireShare, middlewares = [], responseChecks } = options;
  const { callerKey = ({ principal, bearer }) => (principal === null ? null : bearer) } = options;
  const list: readonly RouteMiddleware[] = [
    traced,
    roomForReply(callerKey),
    checked(responseChecks),
    bearer(identify),
    ...(acquireShare === undefined ? [] : [shared(acquireShare)]),
    waitForTurn,
    validated,
    jsonBody(callerKey),
    ...(acquireShare === undefined ? [] : [sharedByBody(acquireShare)]),
    ...middlewares,
    handled(services),
  ];
  return {
    routes,
    middlewares: (route) => list.flatMap((make) => make(route) ?? []),
  };
}

const yearSeconds = 31_536_000;

const securityHeaders = (isBehindTls: boolean) =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        // Pictures and video of outputs, which the console fetches with its token.
        imgSrc: ["'self'", 'blob:'],
        mediaSrc: ["'self'", 'blob:'],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
      },
    },
    // This host only: its subdomains are not ours to bind.
    strictTransportSecurity: isBehindTls ? { maxAge: yearSeconds, includeSubDomains: false } : false,
    referrerPolicy: { policy: 'no-referrer' },
    // The same as frame-ancestors, for browsers that do not support it.
    xFrameOptions: { action: 'deny' },
  });
