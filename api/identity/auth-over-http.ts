/** A separate authentication service, called over HTTP. */
import type { z } from 'zod';
import { catalogue, Problem, type ProblemKey } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { errorSchema } from '../../http/errors.ts';
import { parseAnswer, readAnswer } from './auth-answer.ts';
import type { AuthService } from './auth-client.ts';
import {
  activeSchema,
  newOfflineTokenSchema,
  offlineTokensSchema,
  peopleSchema,
  personSchema,
  userPageSchema,
  validationSchema,
} from './auth-forms.ts';

/** As operators know it. */
const named = 'The authentication service (AUTH_URL)';

type Call = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below `/api/authorization`, with query, for example `/offline_token`. */
  readonly path: string;
  readonly bearer?: string;
  readonly json?: unknown;
  readonly idempotencyKey?: string | undefined;
  readonly requestId: string;
};
type Answer = { readonly status: number; readonly body: unknown };
type Send = (call: Call) => Promise<Answer>;

/** @param serviceKey the platform's own credential (`AUTH_SERVICE_KEY`) */
export function authOverHttp(authUrl: string, serviceKey: string): AuthService {
  const send = transport(authUrl);
  return {
    async validate(bearer, requestId) {
      const answer = await send({ method: 'POST', path: '/validate', json: { token: bearer }, requestId });
      return isRefused(answer, [400, 401]) ? null : parsed(validationSchema, answer);
    },
    async resolveEmail(bearer, email, requestId) {
      const path = '/users/resolve';
      const answer = await send({ method: 'POST', path, bearer, json: { email }, requestId });
      return isRefused(answer, [400, 401, 403, 404]) ? null : parsed(personSchema, answer);
    },
    async findPerson(bearer, userId, requestId) {
      const answer = await send({
        method: 'GET',
        path: `/users/${encodeURIComponent(userId)}`,
        bearer,
        requestId,
      });
      return isRefused(answer, [401, 403, 404]) ? null : parsed(personSchema, answer);
    },
    async findPeople(bearer, userIds, requestId) {
      const found = [];
      for (let at = 0; at < userIds.length; at += limits.usersLookup) {
        const json = { ids: userIds.slice(at, at + limits.usersLookup) };
        const answer = await send({ method: 'POST', path: '/users/lookup', bearer, json, requestId });
        if (!isRefused(answer, [401, 403])) found.push(...parsed(peopleSchema, answer).users);
      }
      return found;
    },
    async peoplePage(bearer, page, requestId) {
      const path = `/users?page=${page}&pageSize=${limits.sessionPageSizeMax}`;
      return parsed(userPageSchema, await send({ method: 'GET', path, bearer, requestId }));
    },
    async findActive(userIds, requestId) {
      const json = { ids: userIds };
      const call = { method: 'POST', path: '/users/active', bearer: serviceKey, json, requestId } as const;
      const answer = await send(call);
      if (isRefused(answer, [401, 403])) throw new Error(`${named} has another AUTH_SERVICE_KEY, or none.`);
      return parsed(activeSchema, answer).users;
    },
    ...offlineTokens(send),
  };
}

function offlineTokens(send: Send) {
  return {
    async createOfflineToken(bearer, idempotencyKey, requestId) {
      const call = { method: 'POST', path: '/offline_token', bearer, idempotencyKey, requestId } as const;
      return parsed(newOfflineTokenSchema, accepted(await send(call)));
    },
    async listOfflineTokens(bearer, requestId) {
      const answer = await send({ method: 'GET', path: '/offline_token', bearer, requestId });
      return parsed(offlineTokensSchema, accepted(answer));
    },
    async revokeOfflineToken(bearer, secretId, requestId) {
      accepted(await send({ method: 'DELETE', path: `/offline_token/${secretId}`, bearer, requestId }));
    },
  } satisfies Partial<AuthService>;
}

/** Whether the service itself refuses; a refusal by a proxy in between is no answer. */
function isRefused({ status, body }: Answer, definite: readonly number[]): boolean {
  return definite.includes(status) && errorSchema.safeParse(body).success;
}

function parsed<Schema extends z.ZodType>(schema: Schema, { status, body }: Answer): z.output<Schema> {
  if (status !== 200) throw new Error(`authentication service: ${status}`);
  return schema.parse(body);
}

const byStatus: Readonly<Record<number, ProblemKey>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'tokenNotFound',
};
const ofKeys = [
  'invalidIdempotencyKey',
  'idempotencyKeyBusy',
  'idempotencyKeySpent',
  'idempotencyKeyReused',
] as const;

/** @throws Problem when the service refuses */
function accepted(answer: Answer): Answer {
  const { status, body } = answer;
  if (status < 400) return answer;
  const said = errorSchema.safeParse(body).data?.message;
  const ofKey = ofKeys.find((key) => catalogue[key].status === status && catalogue[key].message === said);
  const key = ofKey ?? byStatus[status];
  const cause = new Error(`authentication service: ${status}`);
  if (key === undefined) throw cause;
  throw new Problem(key, {
    cause,
    ...(key === 'idempotencyKeyBusy' ? { headers: { 'retry-after': '1' } } : {}),
  });
}

const prefix = '/api/authorization';
/** Calls that change nothing and may be repeated. */
const questions = /^\/(validate|users\/(resolve|lookup|active))$/;

/**
 * Rejects when there is no complete JSON answer within `limits.authCallSeconds`: none at all, too slow, endless, a
 * redirect, or not JSON.
 */
function transport(authUrl: string): Send {
  const base = authUrl.replace(/\/+$/, '') + prefix;
  async function once(call: Call, signal: AbortSignal): Promise<Answer> {
    const { method, path, bearer, json, idempotencyKey, requestId } = call;
    const response = await fetch(base + path, {
      method,
      headers: {
        'x-request-id': requestId,
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      redirect: 'error',
      signal,
    });
    return { status: response.status, body: parseAnswer(await readAnswer(response.body ?? emptyBody())) };
  }
  async function twice(call: Call): Promise<Answer> {
    const signal = AbortSignal.timeout(limits.authCallSeconds * 1000);
    try {
      return await once(call, signal);
    } catch (error) {
      // The server may close a kept connection just as it is used again.
      const changesNothing = call.method === 'GET' || questions.test(call.path);
      if (!changesNothing || !(error instanceof TypeError) || signal.aborted) throw error;
      return await once(call, signal);
    }
  }
  return async (call) => {
    try {
      return await twice(call);
    } catch (cause) {
      throw new Error(`${named} gave no valid answer.`, { cause });
    }
  };
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}
