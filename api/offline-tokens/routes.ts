/** Offline tokens for operator tools: the authentication service's three routes, on behalf of the caller. */
import { access } from '../../domain/access/access.ts';
import { offlineTokenRoutesAt } from '../../http/offline-token-routes.ts';
import { defineRoute } from '../route.ts';

const routes = offlineTokenRoutesAt('/api/v2/admin/offline-tokens', ', for operator tools');

const createForwarded = defineRoute({
  ...routes.create,
  id: 'createOfflineTokenForOperators',
  access: access.adminOnly,
  audit: { object: 'offlineToken' },
  idempotent: 'forwarded',
  async handler({ principal, services, request, requestId }) {
    const key = request.headers['idempotency-key'];
    const body = await services.auth.createOfflineToken(principal.bearer, key, requestId);
    return { status: 200, body, headers: { 'cache-control': 'no-store' } };
  },
});

const listForwarded = defineRoute({
  ...routes.list,
  id: 'listOfflineTokensForOperators',
  access: access.adminOnly,
  async handler({ principal, services, requestId }) {
    return { status: 200, body: await services.auth.listOfflineTokens(principal.bearer, requestId) };
  },
});

const revokeForwarded = defineRoute({
  ...routes.revoke,
  id: 'revokeOfflineTokenForOperators',
  access: access.adminOnly,
  audit: { object: 'offlineToken', from: 'secretId' },
  async handler({ params, principal, services, requestId }) {
    await services.auth.revokeOfflineToken(principal.bearer, params.secretId, requestId);
    return { status: 204 };
  },
});

export const offlineTokenRoutes = [createForwarded, listForwarded, revokeForwarded];
