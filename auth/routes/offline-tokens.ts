/** Offline tokens: twelve months, for capture devices; made, listed and revoked by Administrators. */

import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { story } from '../../domain/examples.ts';
import { timestampOut, uuid } from '../../http/schemas.ts';
import { originOf } from '../audit.ts';
import { createOfflineToken, listOfflineTokens, revokeOfflineToken } from '../offline-tokens.ts';
import { defineRoute } from '../route.ts';

const tags = ['Offline tokens'];
const path = '/api/authorization/offline_token';

const offlineTokenSchema = z
  .object({ token: z.string(), expiresAt: timestampOut() })
  .meta({ id: 'OfflineToken', example: { token: 'hot_...', expiresAt: '2027-03-01T10:00:00.000Z' } });

const offlineTokenItemSchema = z
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
    id: 'OfflineTokenMetadata',
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

const createRoute = defineRoute({
  id: 'createOfflineToken',
  method: 'POST',
  path,
  summary: 'Creates an offline token',
  description:
    'For a capture device. Its value is shown once. It expires after twelve months, or ends with its Administrator.',
  tags,
  access: access.offlineTokens,
  idempotent: 'secret',
  responses: { 200: { description: 'The token.', schema: offlineTokenSchema } },
  async handler({ principal, services, request, requestId }) {
    const origin = originOf({ services, request, requestId });
    const body = await createOfflineToken(services, principal, origin);
    return { status: 200, body, headers: { 'cache-control': 'no-store' } };
  },
});

const listRoute = defineRoute({
  id: 'listOfflineTokens',
  method: 'GET',
  path,
  summary: 'Lists the offline tokens of all Administrators',
  description: 'Without their values. `lastUsedAt` is written at most once a minute.',
  tags,
  access: access.offlineTokens,
  responses: { 200: { description: 'The tokens.', schema: z.array(offlineTokenItemSchema) } },
  async handler({ services }) {
    return { status: 200, body: await listOfflineTokens(services) };
  },
});

const revokeRoute = defineRoute({
  id: 'revokeOfflineToken',
  method: 'DELETE',
  path: `${path}/{secretId}`,
  summary: 'Revokes an offline token',
  description: 'It is refused from now on; other tokens of its Administrator stay valid.',
  tags,
  access: access.offlineTokens,
  params: z.object({
    secretId: uuid().meta({
      description: 'The id of the offline token in the list.',
      example: '7d0a3b52-4c1e-4f86-9d27-1e5f8a6b3c90',
    }),
  }),
  responses: { 204: { description: 'Revoked.' } },
  errors: ['tokenNotFound'],
  refusals: { params: 'tokenNotFound' },
  async handler({ params: { secretId }, principal, services, request, requestId }) {
    await revokeOfflineToken(services, principal, secretId, originOf({ services, request, requestId }));
    return { status: 204 };
  },
});

export const offlineTokenRoutes = [createRoute, listRoute, revokeRoute];
