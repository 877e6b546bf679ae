/** Maps any thrown value to the error that a caller may see; the only such mapper (contract: Errors). */
import { z } from 'zod';
import { Problem, type ProblemKey } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { isDatabaseUnavailable } from '../domain/network/database-fault.ts';
import { redacted } from '../domain/redact.ts';
import { inputFault } from './input-faults.ts';

export type ErrorStyle = 'common' | 'coded';
export type ErrorReply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
};

/** The common error body; runner routes add the stable `code`, some others fields that their routes declare. */
export const errorSchema = z
  .object({ status: z.literal('error'), message: z.string() })
  .meta({ id: 'Error', example: { status: 'error', message: 'Project not found' } });
export const codedErrorSchema = z
  .object({ status: z.literal('error'), code: z.string(), message: z.string() })
  .meta({
    id: 'CodedError',
    example: {
      status: 'error',
      code: 'task_not_found',
      message:
        'Task not found: this token and instance do not hold it, or no longer. Stop its work and claim again.',
    },
  });

/**
 * Any other error than a `Problem` is `internal`, so that no internals are shown. A database that is down or busy is
 * `unavailable` in every route: the caller tries again.
 */
export function toProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  return new Problem(isDatabaseUnavailable(thrown) ? 'unavailable' : 'internal', { cause: thrown });
}

/** Every 401 names the required scheme, and every 503 the time to try again. */
const headersByStatus: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'www-authenticate': 'Bearer' },
  503: { 'retry-after': String(limits.unavailableRetryAfterSeconds) },
};

export function errorReply(problem: Problem, style: ErrorStyle): ErrorReply {
  return {
    status: problem.status,
    headers: { ...headersByStatus[problem.status], ...problem.headers },
    body: {
      ...(redactedDeep(problem.fields) as Readonly<Record<string, unknown>>),
      status: 'error',
      ...(style === 'coded' ? { code: problem.code } : {}),
      message: redacted(problem.message),
    },
  };
}

/**
 * Error bodies end up in logs of callers and proxies: a value that a caller sent in place of a name is not repeated
 * there.
 */
function redactedDeep(value: unknown): unknown {
  if (typeof value === 'string') return redacted(value);
  if (Array.isArray(value)) return value.map(redactedDeep);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, redactedDeep(item)]));
}

/**
 * A part of a request as its schema parses it.
 * @throws Problem `refusal` for input that the schema refuses. A sentence written by the schema's author (it ends in a
 *   full stop) is the message; else the text of `refusal`; else field and fault by name
 */
export function readInput(
  where: string,
  schema: z.ZodType,
  value: unknown,
  refusal: ProblemKey | undefined,
): unknown {
  const result = schema.safeParse(value, { error: inputFault });
  if (result.success) return result.data;
  throw refusedInput(where, result.error, refusal);
}

function refusedInput(where: string, error: z.ZodError, refusal: ProblemKey | undefined): Problem {
  const issue = error.issues[0];
  const key = refusal ?? 'invalidRequest';
  if (issue === undefined) return new Problem(key);
  if (issue.message.endsWith('.')) return new Problem(key, { message: issue.message });
  if (refusal !== undefined) return new Problem(refusal);
  const path = [where, ...issue.path.map(String)].join('.').slice(0, 200);
  return new Problem(key, { message: `${path}: ${issue.message.slice(0, 300)}.` });
}
