/** Offline tokens: twelve months, for capture devices; made, listed and revoked by Administrators. */
import { access } from '../../domain/access/access.ts';
import { offlineTokenRoutesAt } from '../../http/offline-token-routes.ts';
import { originOf } from '../audit.ts';
import { createOfflineToken, listOfflineTokens, revokeOfflineToken } from '../offline-tokens.ts';
import { defineRoute } from '../route.ts';

const routes = offlineTokenRoutesAt('/api/authorization/offline_token');

const createRoute = defineRoute({
  ...routes.create,
  id: 'createOfflineToken',
  access: access.offlineTokens,
  idempotent: 'secret',
  async handler({ principal, services, request, requestId }) {
    const origin = originOf({ services, request, requestId });
    const body = await createOfflineToken(services, principal, origin);
    return { status: 200, body, headers: { 'cache-control': 'no-store' } };
  },
});

const listRoute = defineRoute({
  ...routes.list,
  id: 'listOfflineTokens',
  access: access.offlineTokens,
  async handler({ services }) {
    return { status: 200, body: await listOfflineTokens(services) };
  },
});

const revokeRoute = defineRoute({
  ...routes.revoke,
  id: 'revokeOfflineToken',
  access: access.offlineTokens,
  async handler({ params: { secretId }, principal, services, request, requestId }) {
    await revokeOfflineToken(services, principal, secretId, originOf({ services, request, requestId }));
    return { status: 204 };
  },
});

export const offlineTokenRoutes = [createRoute, listRoute, revokeRoute];
