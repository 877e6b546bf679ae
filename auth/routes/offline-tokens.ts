/** Offline tokens: twelve months, for capture devices; made, listed and revoked by Administrators. */

import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { story } from '../../domain/examples.ts';
import { timestampOut, uuid } from '../../http/schemas.ts';
import { audit, originOf } from '../audit.ts';
import { once } from '../idempotency.ts';
import { defineRoute } from '../route.ts';
import { endOfflineToken, issueToken, listOfflineTokens } from '../tokens.ts';

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

const createOfflineToken = defineRoute({
  id: 'createOfflineToken',
  method: 'POST',
  path,
  summary: 'Makes an offline token',
  description:
    'For a capture device. Its value is shown this once; it ends after twelve months or with its Administrator.',
  tags,
  access: access.offlineTokens,
  idempotent: 'secret',
  responses: { 200: { description: 'The token.', schema: offlineTokenSchema } },
  async handler({ principal, services, request, requestId }) {
    const { database, settings } = services;
    const token = await database.transaction(
      once(async (tx) => {
        const issued = await issueToken(tx, settings.TOKEN_KEY, 'offline', principal.user.id, null);
        if (issued === null) throw new Problem('unauthorized');
        const origin = originOf({ services, request, requestId });
        await audit(tx, 'createOfflineToken', principal, { type: 'offlineToken', id: issued.id }, origin);
        return issued;
      }),
    );
    return {
      status: 200,
      body: { token: token.value, expiresAt: token.expiresAt.toISOString() },
      headers: { 'cache-control': 'no-store' },
    };
  },
});

const listOffline = defineRoute({
  id: 'listOfflineTokens',
  method: 'GET',
  path,
  summary: 'The offline tokens of all Administrators',
  description: 'Without their values. `lastUsedAt` is written at most once a minute.',
  tags,
  access: access.offlineTokens,
  responses: { 200: { description: 'The tokens.', schema: z.array(offlineTokenItemSchema) } },
  async handler({ services }) {
    const rows = await listOfflineTokens(services.database);
    const body = rows.map((row) => ({
      ...row,
      expiresAt: row.expiresAt.toISOString(),
      lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    }));
    return { status: 200, body };
  },
});

const deleteOfflineToken = defineRoute({
  id: 'revokeOfflineToken',
  method: 'DELETE',
  path: `${path}/{secretId}`,
  summary: 'Revokes one offline token',
  description: 'It is refused from now on; other tokens of its Administrator stay valid.',
  tags,
  access: access.offlineTokens,
  params: z.object({
    secretId: uuid().meta({
      description: 'The offline token, as the list names it.',
      example: '7d0a3b52-4c1e-4f86-9d27-1e5f8a6b3c90',
    }),
  }),
  responses: { 204: { description: 'Revoked.' } },
  errors: ['tokenNotFound'],
  refusals: { params: 'tokenNotFound' },
  async handler({ params: { secretId }, principal, services, request, requestId }) {
    await services.database.transaction(async (tx) => {
      if (!(await endOfflineToken(tx, secretId))) throw new Problem('tokenNotFound');
      const origin = originOf({ services, request, requestId });
      await audit(tx, 'revokeOfflineToken', principal, { type: 'offlineToken', id: secretId }, origin);
    });
    return { status: 204 };
  },
});

export const offlineTokenRoutes = [createOfflineToken, listOffline, deleteOfflineToken];
