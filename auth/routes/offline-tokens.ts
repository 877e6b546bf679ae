/** Offline tokens: twelve months, for capture devices; made, listed and revoked by Administrators. */
import { z } from 'zod';
import { access } from '../../domain/access.ts';
import { Problem } from '../../domain/errors.ts';
import { timestampOut, uuid } from '../../http/schemas.ts';
import { defineRoute } from '../route.ts';
import { endOfflineToken, issueToken, listOfflineTokens } from '../tokens.ts';

const tags = ['Offline tokens'];
const path = '/api/authorization/offline_token';

export const offlineTokenSchema = z
  .object({ token: z.string(), expiresAt: timestampOut() })
  .meta({ id: 'OfflineToken' });

export const offlineTokenItemSchema = z
  .object({
    secretId: z.guid(),
    userId: z.guid(),
    username: z.string(),
    expiresAt: timestampOut(),
    lastUsedAt: timestampOut().nullable(),
    revoked: z.boolean(),
    tokenHint: z.string(),
  })
  .meta({ id: 'OfflineTokenMetadata' });

export const createOfflineToken = defineRoute({
  id: 'createOfflineToken',
  method: 'POST',
  path,
  summary: 'Makes an offline token; its value is shown once',
  tags,
  access: access.offlineTokens,
  responses: { 200: { description: 'The token.', schema: offlineTokenSchema } },
  async handler({ principal, services }) {
    const token = await issueToken(
      services.database,
      services.settings.TOKEN_KEY,
      'offline',
      principal.user.id,
      null,
    );
    if (token === null) throw new Problem('unauthorized');
    return {
      status: 200,
      body: { token: token.value, expiresAt: token.expiresAt.toISOString() },
      headers: { 'cache-control': 'no-store' },
    };
  },
});

export const listOffline = defineRoute({
  id: 'listOfflineTokens',
  method: 'GET',
  path,
  summary: 'The offline tokens of all Administrators, without their values',
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

export const deleteOfflineToken = defineRoute({
  id: 'revokeOfflineToken',
  method: 'DELETE',
  path: `${path}/{secretId}`,
  summary: 'Revokes one offline token',
  tags,
  access: access.offlineTokens,
  params: z.object({ secretId: uuid() }),
  responses: { 204: { description: 'Revoked.' } },
  errors: ['tokenNotFound'],
  refusals: { params: 'tokenNotFound' },
  async handler({ params, services }) {
    if (!(await endOfflineToken(services.database, params.secretId))) throw new Problem('tokenNotFound');
    return { status: 204 };
  },
});

export const offlineTokenRoutes = [createOfflineToken, listOffline, deleteOfflineToken];
