/** The shared state of one request's middlewares. Koa passes it on as `context.state`. */
import type Koa from 'koa';
import type { Logger } from 'pino';
import type { Caller } from '../domain/access/access.ts';
import type { OpenSpan } from '../telemetry/trace.ts';
import type { LogFields } from './log-fields.ts';
import type { RequestLifetime } from './request-lifetime.ts';
import type { Reply, Route, UploadBody } from './route.ts';

export type Call = {
  readonly method: string;
  /** Path and query, without scheme and host. */
  readonly url: string;
  readonly path: string;
  /** As sent, without the question mark. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The bearer token as sent; null without one. */
  readonly bearer: string | null;
  readonly remoteAddress: string;
  readonly requestId: string;
  readonly life: RequestLifetime;
  readonly facts: LogFields;
  /** Aborted when the process begins to stop. */
  readonly shutdown: AbortSignal;
  /** The bytes of the request, for routes that read a stream. */
  readonly upload: UploadBody;
  /** Its lines carry the request's id, and the route and ids that are known at its first use. */
  readonly log: Logger;
  /** For log and metrics: the route's id, or a name for the other handler. */
  routeId: string | null;
  /** Set by the router. */
  route: Route | null;
  span: OpenSpan | undefined;
  /** The caller; null on open routes. */
  principal: Caller | null;
  /** The parts of the request as the route's schemas parsed them. */
  params: unknown;
  queryValues: unknown;
  headerValues: unknown;
  body: unknown;
  /** The JSON body as it was parsed, before the schema, on routes that take an idempotency key; undefined for none. */
  json: unknown;
  /** Made by the handler; the final value is sent. */
  reply: Reply | null;
  /** Its caller is only asked to wait (a share that is used up): no fault, although its status is a 5xx. */
  mustWait: boolean;
};

export type Context = Koa.ParameterizedContext<Call>;
export type Middleware = Koa.Middleware<Call>;
/** Makes the middleware of one route; undefined when the route needs none. */
export type RouteMiddleware = (route: Route) => Middleware | undefined;

/** The reply of the middlewares after this one. */
export async function replyAfter(state: Call, next: () => Promise<unknown>): Promise<Reply> {
  await next();
  if (state.reply === null) throw new Error('No middleware has answered.');
  return state.reply;
}
