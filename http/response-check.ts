/** Checks responses against the route's declaration as strictly as requests. */
import { z } from 'zod';
import { type AccessRule, roles } from '../domain/access/access.ts';
import { type CatalogueEntry, catalogue, type Problem, type ProblemKey } from '../domain/errors.ts';
import type { Reply, ResponseSpec, Route } from './route.ts';

/** The errors that every route may answer without declaring them. */
const always: readonly ProblemKey[] = [
  'malformedRequest',
  'invalidRequest',
  'requestTimeout',
  'headersTooLarge',
  'internal',
  'unavailable',
];
const ofJsonBodies: readonly ProblemKey[] = [
  'malformedJson',
  'bodyTooLarge',
  'compressedBody',
  'unsupportedMediaType',
];

const ofKeys: readonly ProblemKey[] = ['invalidIdempotencyKey', 'idempotencyKeyReused', 'idempotencyKeyBusy'];

/** Every refusal a route may answer with, its declared ones first. */
export function problemsOf(route: Route): ProblemKey[] {
  const { refusals, params, body, idempotent } = route;
  const ofParams: ProblemKey[] = params === undefined ? [] : [refusals?.params ?? 'notFound'];
  const ofRefusals = Object.values(refusals ?? {}).filter((key) => key !== undefined);
  const ofBody = body === undefined ? [] : body === 'stream' ? ofJsonBodies.slice(1, 2) : ofJsonBodies;
  return [
    ...new Set([
      ...(route.errors ?? []),
      ...ofRefusals,
      ...ofParams,
      ...ofBody,
      ...ofAccess(route.access),
      ...(idempotent === undefined ? [] : ofKeys),
      ...(idempotent === 'secret' || idempotent === 'forwarded' ? (['idempotencyKeySpent'] as const) : []),
      ...always,
    ]),
  ];
}

/** The refusals of one row of the access table. */
function ofAccess(rule: AccessRule): ProblemKey[] {
  if (rule.open) return [];
  const keys: ProblemKey[] = ['unauthorized'];
  if (rule.tokens.includes('access') && !rule.evenBeforePasswordChange) keys.push('passwordChangeRequired');
  if (!rule.tokens.includes('offline')) keys.push('offlineTokenRefused');
  if (rule.roles.length < roles.length)
    keys.push(rule.underprivileged === 403 ? 'forbidden' : 'roleUnauthorized');
  if (rule.scope !== undefined) keys.push('scopeMissing');
  return keys;
}

/** The fault of a reply, or null; `body` is the JSON to send, as parsed by the schema. */
export type CheckedReply = { readonly fault: string | null; readonly body: unknown };

export function checkReply(route: Route, reply: Reply): CheckedReply {
  const spec = route.responses[reply.status];
  if (spec === undefined) return { fault: `status ${reply.status} is not declared`, body: reply.body };
  if (spec.listed !== undefined) {
    if (reply.items === undefined) return { fault: `${spec.listed} has no items`, body: reply.body };
    return checkBody(listedSchemas(spec).part, reply.body);
  }
  if (spec.items !== undefined && reply.items !== undefined) return { fault: null, body: undefined };
  if (spec.schema !== undefined && spec.media !== undefined && reply.stream !== undefined) {
    return { fault: null, body: undefined };
  }
  if (spec.schema === undefined) {
    return {
      fault: reply.body === undefined ? null : `status ${reply.status} declares no body`,
      body: reply.body,
    };
  }
  return checkBody(spec.schema, reply.body);
}

const schemasOf = new WeakMap<ResponseSpec, ReturnType<typeof makeListedSchemas>>();

/** The schemas of a reply with a `listed` field: of its items, and of the fields around them, some or all. */
export function listedSchemas(spec: ResponseSpec) {
  const known = schemasOf.get(spec) ?? makeListedSchemas(spec);
  schemasOf.set(spec, known);
  return known;
}

function makeListedSchemas({ schema, listed = '' }: ResponseSpec) {
  const whole = schema as z.ZodObject<Record<string, z.ZodType>>;
  const around = whole.omit({ [listed]: true } as never);
  return { item: (whole.shape[listed] as z.ZodArray<z.ZodType>).element, part: around.partial(), around };
}

/** A body, or an item of one that is sent as it is read, against its schema. */
export function checkBody(schema: z.ZodType, body: unknown): CheckedReply {
  const result = schema.safeParse(body);
  if (!result.success) return { fault: z.prettifyError(result.error).slice(0, 1000), body };
  const extra = undeclaredField(body, result.data, '$');
  return { fault: extra === null ? null : `undeclared field ${extra}`, body: result.data };
}

export function checkProblem(route: Route, problem: Problem): string | null {
  const declared = problemsOf(route);
  const known = declared.some((key) => {
    const entry: CatalogueEntry = catalogue[key];
    return key === problem.key || (entry.status === problem.status && entry.code === problem.code);
  });
  return known ? checkFields(route, problem) : `error ${problem.key} (${problem.status}) is not declared`;
}

/** An error with additional fields has its own body, which the route must declare. */
function checkFields(route: Route, problem: Problem): string | null {
  if (Object.keys(problem.fields).length === 0) return null;
  const schema = route.errorBodies?.[problem.key];
  if (schema === undefined) return `error ${problem.key} declares no fields of its own`;
  const { code, message, fields } = problem;
  const body = { ...fields, status: 'error', ...(route.errorStyle === 'coded' ? { code } : {}), message };
  const result = schema.safeParse(body);
  if (!result.success) return z.prettifyError(result.error).slice(0, 1000);
  const extra = undeclaredField(body, result.data, '$');
  return extra === null ? null : `undeclared field ${extra}`;
}

/** The path of the first field that the schema dropped, because it does not know it; null when there is none. */
function undeclaredField(given: unknown, parsed: unknown, path: string): string | null {
  if (given === parsed || typeof given !== 'object' || given === null) return null;
  if (typeof parsed !== 'object' || parsed === null) return null;
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(parsed, key)) return `${path}.${key}`;
    const below = undeclaredField(value, (parsed as Record<string, unknown>)[key], `${path}.${key}`);
    if (below !== null) return below;
  }
  return null;
}
