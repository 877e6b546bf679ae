/** The metrics for Prometheus, at the address of the interface: for callers who may see all work. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { access, decideAccess } from '../../domain/access/access.ts';
import { tokenPrefixes } from '../../domain/access/token-format.ts';
import { Problem } from '../../domain/errors.ts';
import { acceptsGzip } from '../../http/bodies/download.ts';
import { isSharedKey } from '../../http/shared-key.ts';
import { contentType } from '../../telemetry/registry.ts';
import { scrapeAll } from '../../telemetry/server.ts';
import { defineRoute } from '../route.ts';
import type { Services } from '../services.ts';

const compress = promisify(gzip);

const metrics = defineRoute({
  id: 'metrics',
  method: 'GET',
  path: '/metrics',
  versions: 'as-listed',
  hidden: true,
  traced: false,
  summary: 'Returns the metrics of this process in Prometheus text format',
  description:
    'Accepts `METRICS_TOKEN` as bearer token, and access tokens of Administrators and Developers. `METRICS_PORT` serves the ' +
    'same metrics without a token, on a separate port.',
  tags: ['Health'],
  access: access.open,
  responses: { 200: { description: 'The metrics.', media: 'text/plain' } },
  errors: ['unauthorized', 'forbidden', 'offlineTokenRefused', 'passwordChangeRequired', 'unavailable'],
  async handler({ request, services, requestId }) {
    await admit(services, request.bearer, requestId);
    const text = Buffer.from(await scrapeAll());
    const headers = { 'content-type': contentType, 'cache-control': 'no-store', vary: 'accept-encoding' };
    if (!acceptsGzip(request.headers['accept-encoding'])) return { status: 200, stream: text, headers };
    // A tenth of the bytes: Prometheus and the console of operators ask again and again.
    return { status: 200, stream: await compress(text), headers: { ...headers, 'content-encoding': 'gzip' } };
  },
});

/** @throws Problem `unauthorized`, `forbidden` */
async function admit(services: Services, bearer: string | null, requestId: string): Promise<void> {
  if (bearer === null) throw new Problem('unauthorized');
  const { METRICS_TOKEN: own } = services.settings;
  if (isSharedKey(bearer, own)) return;
  if (bearer.startsWith(tokenPrefixes.runner)) throw new Problem('forbidden');
  const caller = await services.auth.identify(bearer, requestId);
  if (caller === null) throw new Problem('unauthorized');
  const decision = decideAccess(access.admin, caller);
  if (!decision.allowed) throw new Problem(decision.problem);
}

export const metricsRoutes = [metrics];
