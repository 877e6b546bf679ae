/**
 * What happens between a matched route and its handler, in this order: token (401), access table (401/403), path
 * (404), query and headers (400), body (400, 408, 413, 415); and after it: the reply against the route's own words.
 */
import type { Logger } from 'pino';
import type { z } from 'zod';
import { type Caller, decideAccess } from '../domain/access/access.ts';
import type { ShareName } from '../domain/access/shares.ts';
import { Problem, type ProblemKey } from '../domain/errors.ts';
import { isStorableText } from '../domain/text.ts';
import { readBearer } from './bearer.ts';
import { jsonItems } from './bodies/json-items.ts';
import type { CallFacts } from './call-facts.ts';
import type { CallLife } from './call-life.ts';
import { refusedInput } from './errors.ts';
import { withPascalNames } from './names.ts';
import { checkBody, checkProblem, checkReply } from './response-check.ts';
import type { Reply, Route, UploadBody } from './route.ts';
import { closeStream, guardStream } from './send.ts';

/** One request on its way to a route, from a socket or from within the process. */
export type Call = {
  readonly method: string;
  readonly url: string;
  readonly query: string;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly remoteAddress: string;
  readonly requestId: string;
  readonly log: Logger;
  readonly life: CallLife;
  readonly facts: CallFacts;
  /** Made within the process, as part of another. */
  readonly isLocal?: boolean;
  readonly shutdown: AbortSignal;
  /** Parsed JSON of the body, undefined for none; throws the problems of `readJsonBody`. */
  readonly readJson: () => Promise<unknown>;
  readonly upload: UploadBody;
};

/**
 * Maps a bearer token to its caller; null when it is unknown, expired or revoked. Throws `unavailable`. It may cut the
 * call when the token ends before the call does.
 */
type Identify = (bearer: string, call: Call) => Promise<Caller | null>;

/** What is known of a call when its handler begins. */
export type Handled = {
  readonly call: Call;
  readonly principal: Caller | null;
  readonly params: unknown;
  readonly body: unknown;
  /** The JSON body as it was parsed, before the schema; undefined for none. */
  readonly json: unknown;
};

export type GuardOptions<Services> = {
  readonly services: Services;
  readonly identify: Identify;
  /**
   * Counts a call to a route with a share; the call's end gives it back. Throws `unavailable` when the caller's share
   * or that of all is used up. Default: nothing is counted.
   */
  readonly takeShare?: (share: ShareName, caller: Caller | null, call: Call) => () => void;
  /** Runs a handler, with what the service does around each of its routes; default: the handler alone. */
  readonly around?: (route: Route, call: Handled, run: () => Promise<Reply>) => Promise<Reply>;
  /** `strict` (tests): a reply the route does not declare is a 500. `log`: it is sent and logged. */
  readonly responseChecks: 'strict' | 'log';
};

/** Runs a route for a call. Throws `Problem` for every refusal. */
export async function runRoute<Services>(
  route: Route<Services>,
  call: Call,
  options: GuardOptions<Services>,
): Promise<Reply> {
  try {
    const reply = await callHandler(route, call, options);
    try {
      if (call.life.refusal !== undefined) throw call.life.refusal;
      return checked(route, reply, call, options.responseChecks);
    } catch (refusal) {
      await drop(reply);
      throw refusal;
    }
  } catch (thrown) {
    // Whatever the handler made of being cut short.
    if (call.life.refusal !== undefined) throw call.life.refusal;
    const fault = thrown instanceof Problem ? checkProblem(route as unknown as Route, thrown) : null;
    if (fault === null) throw thrown;
    call.log.error({ route: route.id, fault }, 'undeclared error');
    if (options.responseChecks === 'strict') throw new Problem('internal', { cause: thrown });
    throw thrown;
  }
}

async function callHandler<Services>(
  route: Route<Services>,
  call: Call,
  options: GuardOptions<Services>,
): Promise<Reply> {
  const bearer = readBearer(call.headers.authorization);
  const principal = await admit(route, bearer, call, options);
  if (route.share !== undefined && options.takeShare !== undefined) {
    call.life.onEnd(options.takeShare(route.share, principal, call));
  }
  const params = parseParams(route, call.params);
  const query = parse('query', route.query, readQuery(call.query), route.refusals?.query);
  const headers = parse('headers', route.headers, call.headers, route.refusals?.headers);
  const { body, json } = await readBody(route, call);
  const { method, url, remoteAddress, requestId, log, shutdown } = call;
  const { signal } = call.life;
  const run = async () => {
    const reply = await route.handler({
      params,
      query,
      headers,
      body,
      principal,
      services: options.services,
      request: { method, url, headers: call.headers, remoteAddress, bearer },
      note: (ids) => call.facts.note(ids),
      requestId,
      log,
      signal,
      shutdown,
    });
    guardStream(reply);
    return reply;
  };
  const { around } = options;
  if (around === undefined) return await run();
  return await around(route as unknown as Route, { call, principal, params, body, json }, run);
}

/** A reply that is not sent. */
async function drop(reply: Reply): Promise<void> {
  closeStream(reply);
  await reply.settled?.(false);
}

async function admit<Services>(
  route: Route<Services>,
  bearer: string | null,
  call: Call,
  options: GuardOptions<Services>,
): Promise<Caller | null> {
  if (route.access.open) return null;
  if (bearer === null) throw new Problem('unauthorized');
  const caller = await options.identify(bearer, call);
  if (caller === null) throw new Problem('unauthorized');
  const decision = decideAccess(route.access, caller);
  if (!decision.allowed) throw new Problem(decision.problem);
  return caller;
}

function parseParams(route: Route<never>, params: Readonly<Record<string, string>>): unknown {
  if (route.params === undefined) return {};
  const result = Object.values(params).every(isStorableText) ? route.params.safeParse(params) : null;
  if (result?.success) return result.data;
  throw new Problem(route.refusals?.params ?? 'notFound');
}

function parse(
  where: string,
  schema: z.ZodType | undefined,
  value: unknown,
  refusal: ProblemKey | undefined,
): unknown {
  if (schema === undefined) return {};
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw refusedInput(where, result.error, refusal);
}

/** The first value of each name. */
function readQuery(query: string): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(query)) {
    if (!isStorableText(value)) throw new Problem('invalidRequest');
    if (!(name in values)) values[name] = value;
  }
  return { ...values };
}

async function readBody(route: Route<never>, call: Call): Promise<Pick<Handled, 'body' | 'json'>> {
  if (route.body === undefined) return { body: undefined, json: undefined };
  if (route.body === 'stream') return { body: call.upload, json: undefined };
  const json = await call.readJson();
  const named = route.bodyNames === 'PascalCase' ? withPascalNames(json, route.body) : json;
  const result = route.body.safeParse(named);
  if (result.success) return { body: result.data, json };
  throw refusedInput('body', result.error, route.refusals?.body);
}

function checked<Services>(
  route: Route<Services>,
  reply: Reply,
  call: Call,
  checks: 'strict' | 'log',
): Reply {
  const { fault, body } = checkReply(route as unknown as Route, reply);
  if (fault !== null) {
    call.log.error({ route: route.id, fault }, 'undeclared response');
    if (checks === 'strict') throw new Problem('internal', { cause: new Error(`${route.id}: ${fault}`) });
  }
  if (reply.items !== undefined) return withItems(route, reply, call, checks);
  return body === undefined ? reply : { ...reply, body };
}

/** The reply with its items as a stream, each of which is checked as it goes. */
function withItems<Services>(
  route: Route<Services>,
  { items = none(), ...reply }: Reply,
  call: Call,
  checks: 'strict' | 'log',
): Reply {
  const schema = route.responses[reply.status]?.items;
  let isTold = false;
  const stream = jsonItems(items, (item) => {
    const { fault, body } =
      schema === undefined ? { fault: 'no item is declared', body: item } : checkBody(schema, item);
    if (fault === null) return body;
    if (!isTold) call.log.error({ route: route.id, fault }, 'undeclared response');
    isTold = true;
    if (checks === 'strict') throw new Error(`${route.id}: ${fault}`);
    return body;
  });
  return {
    ...reply,
    headers: { 'content-type': 'application/json; charset=utf-8', ...reply.headers },
    stream,
  };
}

async function* none(): AsyncGenerator<readonly unknown[]> {}
