/** Offline tokens for operator tools: the authentication service's three routes, on behalf of the caller. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { story } from '../../domain/examples.ts';
import { timestampOut, uuid } from '../../http/schemas.ts';
import { defineRoute } from '../route.ts';

const tags = ['Offline tokens'];
const path = '/api/v2/admin/offline-tokens';

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
  summary: 'Creates an offline token, for operator tools',
  description:
    'For a capture device. Its value is shown once. It expires after twelve months, or ends with its Administrator.',
  tags,
  access: access.adminOnly,
  audit: { object: 'offlineToken' },
  idempotent: 'forwarded',
  responses: { 200: { description: 'The token.', schema: createdSchema } },
  async handler({ principal, services, request, requestId }) {
    const key = request.headers['idempotency-key'];
    const body = await services.auth.createOfflineToken(principal.bearer, key, requestId);
    return { status: 200, body, headers: { 'cache-control': 'no-store' } };
  },
});

const listForwarded = defineRoute({
  id: 'listOfflineTokensForOperators',
  method: 'GET',
  path,
  summary: 'Lists the offline tokens of all Administrators, for operator tools',
  description: 'Without their values. `lastUsedAt` is written at most once a minute.',
  tags,
  access: access.adminOnly,
  responses: { 200: { description: 'The tokens.', schema: z.array(itemSchema) } },
  async handler({ principal, services, requestId }) {
    return { status: 200, body: await services.auth.listOfflineTokens(principal.bearer, requestId) };
  },
});

const revokeForwarded = defineRoute({
  id: 'revokeOfflineTokenForOperators',
  method: 'DELETE',
  path: `${path}/{secretId}`,
  summary: 'Revokes an offline token, for operator tools',
  description: 'It is refused from now on; other tokens of its Administrator stay valid.',
  tags,
  access: access.adminOnly,
  audit: { object: 'offlineToken', from: 'secretId' },
  params: z.object({
    secretId: uuid().meta({
      description: 'The id of the offline token in the list.',
      example: '7d0a3b52-4c1e-4f86-9d27-1e5f8a6b3c90',
    }),
  }),
  responses: { 204: { description: 'Revoked.' } },
  errors: ['tokenNotFound'],
  refusals: { params: 'tokenNotFound' },
  async handler({ params, principal, services, requestId }) {
    await services.auth.revokeOfflineToken(principal.bearer, params.secretId, requestId);
    return { status: 204 };
  },
});

export const offlineTokenRoutes = [createForwarded, listForwarded, revokeForwarded];
