/** Offline tokens for operator tools: the authentication service's three routes, in the caller's own name. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { catalogue, Problem, type ProblemKey } from '../../domain/errors.ts';
import { story } from '../../domain/examples.ts';
import { errorSchema } from '../../http/errors.ts';
import { timestampOut, uuid } from '../../http/schemas.ts';
import type { AuthAnswer } from '../identity/auth-transport.ts';
import { defineRoute } from '../route.ts';

const tags = ['Offline tokens'];
const path = '/api/v2/admin/offline-tokens';
const upstream = '/offline_token';

const createdSchema = z
  .object({ token: z.string(), expiresAt: timestampOut() })
  .meta({ example: { token: 'hot_...', expiresAt: '2027-03-01T10:00:00.000Z' } });
const itemSchema = z
  .object({
    secretId: z.guid(),
    userId: z.guid(),
    username: z.string(),
    expiresAt: timestampOut(),
    lastUsedAt: timestampOut().nullable(),
    revoked: z.boolean(),
    tokenHint: z.string(),
  })
  .meta({
    example: {
      secretId: '7d0a3b52-4c1e-4f86-9d27-1e5f8a6b3c90',
      userId: story.userId,
      username: story.username,
      expiresAt: '2027-03-01T10:00:00.000Z',
      lastUsedAt: story.processedAt,
      revoked: false,
      tokenHint: '4xQ2',
    },
  });

const createForwarded = defineRoute({
  id: 'createOfflineTokenForOperators',
  method: 'POST',
  path,
  summary: 'Makes an offline token, for operator tools',
  description:
    'For a capture device. Its value is shown this once; it ends after twelve months or with its Administrator.',
  tags,
  access: access.adminOnly,
  idempotent: 'forwarded',
  responses: { 200: { description: 'The token.', schema: createdSchema } },
  async handler({ principal, services, request, requestId }) {
    const { bearer } = principal;
    const key = request.headers['idempotency-key'];
    const answer = await services.auth.call({
      method: 'POST',
      path: upstream,
      bearer,
      requestId,
      ...(key === undefined ? {} : { idempotencyKey: key }),
    });
    if (key !== undefined) refuseAsKey(answer);
    const body = expected(answer, createdSchema);
    return { status: 200, body, headers: { 'cache-control': 'no-store' } };
  },
});

const listForwarded = defineRoute({
  id: 'listOfflineTokensForOperators',
  method: 'GET',
  path,
  summary: 'The offline tokens of all Administrators, for operator tools',
  description: 'Without their values. `lastUsedAt` is written at most once a minute.',
  tags,
  access: access.adminOnly,
  responses: { 200: { description: 'The tokens.', schema: z.array(itemSchema) } },
  async handler({ principal, services, requestId }) {
    const { bearer } = principal;
    const answer = await services.auth.call({ method: 'GET', path: upstream, bearer, requestId });
    return { status: 200, body: expected(answer, z.array(itemSchema)) };
  },
});

const revokeForwarded = defineRoute({
  id: 'revokeOfflineTokenForOperators',
  method: 'DELETE',
  path: `${path}/{secretId}`,
  summary: 'Revokes one offline token, for operator tools',
  description: 'It is refused from now on; other tokens of its Administrator stay valid.',
  tags,
  access: access.adminOnly,
  params: z.object({
    secretId: uuid().meta({
      description: 'The offline token, as the list names it.',
      example: '7d0a3b52-4c1e-4f86-9d27-1e5f8a6b3c90',
    }),
  }),
  responses: { 204: { description: 'Revoked.' } },
  errors: ['tokenNotFound'],
  refusals: { params: 'tokenNotFound' },
  async handler({ params, principal, services, requestId }) {
    const { bearer } = principal;
    const call = { method: 'DELETE', path: `${upstream}/${params.secretId}`, bearer, requestId } as const;
    const answer = await services.auth.call(call);
    if (answer.status !== 204) throw refusalOf(answer);
    return { status: 204 };
  },
});

const refusals: Readonly<Record<number, ProblemKey>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'tokenNotFound',
};

const keyRefusals = [
  'invalidIdempotencyKey',
  'idempotencyKeyBusy',
  'idempotencyKeySpent',
  'idempotencyKeyReused',
] as const;

/** What the authentication service says of the key. @throws Problem */
function refuseAsKey({ status, body }: AuthAnswer): void {
  const said = errorSchema.safeParse(body);
  if (status < 400 || !said.success) return;
  const { message } = said.data;
  const key = keyRefusals.find(
    (one) => catalogue[one].status === status && catalogue[one].message === message,
  );
  if (key === undefined) return;
  throw new Problem(key, key === 'idempotencyKeyBusy' ? { headers: { 'retry-after': '1' } } : {});
}

function refusalOf(answer: AuthAnswer): Problem {
  return new Problem(refusals[answer.status] ?? 'unavailable', {
    cause: new Error(`authentication service: ${answer.status}`),
  });
}

function expected<Schema extends z.ZodType>(answer: AuthAnswer, schema: Schema): z.output<Schema> {
  if (answer.status !== 200) throw refusalOf(answer);
  const result = schema.safeParse(answer.body);
  if (!result.success) throw new Problem('unavailable', { cause: result.error });
  return result.data;
}

export const offlineTokenRoutes = [createForwarded, listForwarded, revokeForwarded];
