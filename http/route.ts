/**
 * A route is one value. Validation, access, the OpenAPI document, the handler's types and the tests derive from it.
 *
 *   export const getProject = defineRoute({
 *     id: 'getProject',
 *     method: 'GET',
 *     path: '/projects/{id}',                          // also answers under /api/v2 and /api/v2.0
 *     summary: 'One project',
 *     tags: ['Projects'],
 *     access: access.projectRead,                      // a row of domain/access/access.ts
 *     params: z.object({ id: pathId() }),              // a wrong form is the 404 that `refusals.params` names
 *     query: z.object({ page: integerParameter({ min: 1, initial: 1 }) }),
 *     responses: { 200: { description: 'The project.', schema: projectSchema } },
 *     errors: ['projectNotFound'],                     // keys of domain/errors.ts that the handler throws
 *     refusals: { params: 'projectNotFound', body: 'invalidProjectData' },
 *     async handler({ params, query, principal, services, signal }) {
 *       const row = await services.projects.find(params.id);
 *       if (row === null) throw new Problem('projectNotFound');
 *       return { status: 200, body: presentProject(row) };   // typed by `responses`
 *     },
 *   });
 *
 * `body: z.object(...)` parses JSON; `body: 'stream'` hands over the bytes (`body.open()`); without it a body is
 * ignored. `bodyNames: 'PascalCase'` also accepts the same names in camelCase. A response with `media` instead of
 * `schema` carries bytes: return `{ status, stream, headers }`, where `stream` is a Readable, a Buffer, or a function
 * that opens one (not called for HEAD). A response with neither has no body.
 *
 * A schema's own message that ends in a full stop reaches the caller unchanged; otherwise the entry named in `refusals`
 * is the message; with neither, the message names field and fault.
 */
import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import type { z } from 'zod';
import type { AccessRule, Caller } from '../domain/access/access.ts';
import type { AuditRule } from '../domain/access/audit.ts';
import type { ShareName } from '../domain/access/shares.ts';
import type { ProblemKey } from '../domain/errors.ts';
import type { CallIds } from './log-fields.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

export type ResponseSpec = {
  readonly description: string;
  /** The JSON body. */
  readonly schema?: z.ZodType;
  /** The schema of each item of a streamed JSON array: the reply has `items`, pages of them. */
  readonly items?: z.ZodType;
  /** A list field of `schema`, of any length: `items` are its pages, sent between the fields of `body` and `rest`. */
  readonly listed?: string;
  /**
   * Media type of a body of bytes, for example `application/octet-stream`, or all possible ones. Beside a `schema`: the
   * other form of the reply, for callers whose `Accept` names it.
   */
  readonly media?: string | readonly string[];
  /** Schemas, with an `id` each, of the pieces in such a body; the reference lists them among its schemas. */
  readonly pieces?: readonly z.ZodType[];
  /** An example of such a body, for the reference; default: a small table. */
  readonly example?: string;
  /** Response headers by lower-case name, with a description each. */
  readonly headers?: Readonly<Record<string, string>>;
};
export type ResponseSpecs = Readonly<Record<number, ResponseSpec>>;

type ReplyHeaders = Readonly<Record<string, string>>;
type ByteSource = Readable | Uint8Array | (() => Promise<Readable> | Readable);

/** `settled(true)` runs when the whole reply was passed to the network, `settled(false)` when the caller was gone. */
type ReplyExtras = {
  readonly headers?: ReplyHeaders;
  readonly settled?: (delivered: boolean) => void | Promise<void>;
};

/** Replies may be made of readonly lists and objects; nothing changes them. */
type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

type ReplyFor<Status, Spec> = Spec extends {
  readonly schema: infer Schema extends z.ZodType;
  readonly media: string;
}
  ?
      | ({ readonly status: Status; readonly body: Frozen<z.input<Schema>> } & ReplyExtras)
      | ({ readonly status: Status; readonly stream: ByteSource } & ReplyExtras)
  : Spec extends { readonly schema: infer Schema extends z.ZodType; readonly listed: infer Field }
    ? ListedReply<Status, z.input<Schema>, Field>
    : Spec extends { readonly schema: infer Schema extends z.ZodType }
      ? { readonly status: Status; readonly body: Frozen<z.input<Schema>> } & ReplyExtras
      : Spec extends { readonly items: infer Item extends z.ZodType }
        ? {
            readonly status: Status;
            readonly items: AsyncIterable<readonly Frozen<z.input<Item>>[]>;
          } & ReplyExtras
        : Spec extends { readonly media: string | readonly string[] }
          ? { readonly status: Status; readonly stream: ByteSource } & ReplyExtras
          : { readonly status: Status } & ReplyExtras;

type ListedReply<Status, Whole, Field> = {
  readonly status: Status;
  readonly body: Frozen<Partial<Omit<Whole, Field & keyof Whole>>>;
  readonly items: AsyncIterable<Frozen<Whole[Field & keyof Whole]>>;
  readonly rest: () => Frozen<Partial<Omit<Whole, Field & keyof Whole>>>;
} & ReplyExtras;

export type ReplyOf<Specs> = { [S in keyof Specs & number]: ReplyFor<S, Specs[S]> }[keyof Specs & number];

/** Any handler's reply, as the machinery sees it. */
export type Reply = {
  readonly status: number;
  readonly body?: unknown;
  readonly items?: AsyncIterable<readonly unknown[]>;
  readonly rest?: () => object;
  /** JSON that is made as it is read. */
  readonly pieces?: AsyncGenerator<string, string, undefined>;
  /** A text is UTF-8. */
  readonly stream?: ByteSource | string;
} & ReplyExtras;

/** The bytes of a request. Nothing is read, and no `100 Continue` is sent, before `open` is called. */
export type UploadBody = {
  /** The stream of bytes as they arrive; cut with 408 while it stays below 1 KB/s for 30 s. Call once. */
  open(): Readable;
  /** From Content-Length, or null for a chunked body. */
  readonly declaredBytes: number | null;
  /** Who sends it, as shares count callers: one for all without a token. */
  readonly caller?: string | undefined;
};

type BodyOf<Body> = Body extends z.ZodType ? z.output<Body> : Body extends 'stream' ? UploadBody : undefined;
type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : Readonly<Record<string, never>>;
type OfKind<Principal, Kind> = Principal extends { readonly kind: infer Own }
  ? [Own & Kind] extends [never]
    ? never
    : Principal & { readonly kind: Own & Kind }
  : never;
type WhoFor<Principal, Rule> = Rule extends { readonly open: false; readonly tokens: readonly (infer Kind)[] }
  ? OfKind<Principal, Kind>
  : null;

export type RouteContext<Params, Query, Headers, Body, Who, Services> = {
  readonly routeId: string;
  readonly params: Params;
  readonly query: Query;
  /** Parsed by the route's `headers` schema; `request.headers` has all of them. */
  readonly headers: Headers;
  readonly body: Body;
  /** The caller; null on open routes. Only the kinds of token that the route's access row admits. */
  readonly principal: Who;
  readonly services: Services;
  readonly request: {
    readonly method: string;
    /** Path and query as sent. */
    readonly url: string;
    readonly headers: Readonly<Record<string, string | undefined>>;
    /** The peer's address, for rate limits; never logged or stored. An audit stores only its network. */
    readonly remoteAddress: string;
    /** The bearer token as sent, to pass on to the authentication service; null without one. */
    readonly bearer: string | null;
  };
  readonly requestId: string;
  readonly log: Logger;
  /** Adds ids to the log line and the span of the request; ids in the path are known already. */
  readonly note: (ids: CallIds) => void;
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal;
  /** Aborted when the process begins to stop: answer waiting calls (204 for a claim) at once. */
  readonly shutdown: AbortSignal;
};

export type RouteSpec<Params, Query, Headers, Body, Responses, Rule, Principal, Services, Result> = {
  /** Unique; the OpenAPI operation id. */
  readonly id: string;
  readonly method: Method;
  /** As the document lists it, `{name}` for one segment, `{name+}` for the rest of the path. */
  readonly path: string;
  /** Further paths, as written. Version prefixes are added automatically (see paths.ts). */
  readonly aliases?: readonly string[];
  /** `as-listed`: no further paths under /api/v2 or /api/v2.0. Default: `versioned`. */
  readonly versions?: 'versioned' | 'as-listed';
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly access: Rule;
  /** The audit entry of a call. Every route of the platform other than GET has one (see `AuditOf`). */
  readonly audit?: AuditRule;
  readonly params?: Params;
  readonly query?: Query;
  readonly headers?: Headers;
  readonly body?: Body;
  /** Media type that a body of bytes must have; default: any. The handler checks it. */
  readonly bodyMedia?: string;
  readonly bodyNames?: 'PascalCase';
  readonly responses: Responses;
  /** Errors of the handler, in addition to those of every route. Strict checks refuse others. */
  readonly errors?: readonly ProblemKey[];
  /** The error when a schema refuses a part of the request. Params: default `notFound`; others: `invalidRequest`. */
  readonly refusals?: {
    readonly params?: ProblemKey;
    readonly query?: ProblemKey;
    readonly headers?: ProblemKey;
    readonly body?: ProblemKey;
  };
  /** Bodies of errors with more fields than the common one; a schema describes the whole body. */
  readonly errorBodies?: Readonly<Partial<Record<ProblemKey, z.ZodType>>>;
  /**
   * The credentials that an open route checks itself, as security schemes of the reference; `none` when they are
   * optional.
   */
  readonly credentials?: readonly ('ingestSecret' | 'ingestToken' | 'serviceKey' | 'none')[];
  /** `coded`: error bodies carry `code` (runner routes). Default `common`. */
  readonly errorStyle?: 'common' | 'coded';
  /**
   * A repeat would make or start something again, so it accepts `Idempotency-Key`: `plain` saves the reply for repeats,
   * `secret` does not, since the reply shows a secret, `forwarded` leaves the key to another service, and a `handled`
   * route answers by `answerOnce` itself, once it knows its caller. The transaction that makes it must run in `oncePerKey` of
   * the service's own keys.
   */
  readonly idempotent?: 'plain' | 'secret' | 'forwarded' | 'handled';
  /**
   * A POST to its path with `X-HTTP-Method-Override` is a request of the method that the header names. Only for paths
   * all of whose routes say so.
   */
  readonly methodOverride?: true;
  /** Headers of every reply, refusals included. */
  readonly replyHeaders?: Readonly<Record<string, string>>;
  /** Not in the OpenAPI document (pages for people). */
  readonly hidden?: boolean;
  /** The share that an open call counts towards; each caller's is limited (domain/access/shares.ts). */
  readonly share?: ShareName;
  /** The same, for calls whose body decides. */
  readonly shareOf?: (body: BodyOf<Body>) => ShareName | undefined;
  /** False for calls that would only fill traces: probes, claims that wait, heartbeats. */
  readonly traced?: false;
  /** Its calls let all others go first while the process is busy. For frequent calls whose callers go on meanwhile. */
  readonly yields?: true;
  /** It changes nothing, although it is no GET: it may be refused after its work. */
  readonly readOnly?: true;
  readonly handler: (
    context: RouteContext<
      OutputOf<Params>,
      OutputOf<Query>,
      OutputOf<Headers>,
      BodyOf<Body>,
      WhoFor<Principal, Rule>,
      Services
    >,
  ) => Promise<Result> | Result;
};

/** A route as the machinery sees it: the schemas' results are checked at run time, so they are `unknown` here. */
export type Route<Services = never> = Omit<
  RouteSpec<
    z.ZodType,
    z.ZodType,
    z.ZodType,
    z.ZodType | 'stream',
    ResponseSpecs,
    AccessRule,
    Caller,
    Services,
    Reply
  >,
  'handler' | 'shareOf'
> & {
  readonly shareOf?: (body: unknown) => ShareName | undefined;
  readonly handler: (
    context: RouteContext<unknown, unknown, unknown, unknown, unknown, Services>,
  ) => Promise<Reply> | Reply;
};

/** What the compiler asks of a route of an audited service: a read, or a rule for the entry of each call. */
type AuditOf<Audited> = Audited extends true
  ? { readonly method: 'GET' } | { readonly method: Exclude<Method, 'GET'>; readonly audit: AuditRule }
  : unknown;

/**
 * Gives a service its `defineRoute`, with its own services and principals:
 * `export const defineRoute = routeFactory<Services, Principal>();`
 * With `Audited` true, a route that writes does not compile without its `audit`.
 */
export function routeFactory<Services, Principal extends Caller, Audited extends boolean = false>() {
  return function defineRoute<
    const Responses extends ResponseSpecs,
    const Rule extends AccessRule,
    Params extends z.ZodType | undefined = undefined,
    Query extends z.ZodType | undefined = undefined,
    Headers extends z.ZodType | undefined = undefined,
    Body extends z.ZodType | 'stream' | undefined = undefined,
    const Result extends ReplyOf<NoInfer<Responses>> = ReplyOf<NoInfer<Responses>>,
  >(
    spec: RouteSpec<Params, Query, Headers, Body, Responses, Rule, Principal, Services, Result> &
      AuditOf<Audited>,
  ): Route<Services> {
    // The only place that drops the schemas' types: `validated` parses the values that the handler gets.
    return Object.freeze(spec) as unknown as Route<Services>;
  };
}
