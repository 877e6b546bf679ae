/**
 * The routes that create and accept `Idempotency-Key`, made from the platform's OpenAPI document. Do not edit:
 * `npm run generate:client` writes this file anew.
 */
export const creatingRoutes = [
  'POST /projects',
  'POST /api/v2/admin/session-templates',
  'POST /api/v2/session/views',
  'POST /session',
  'POST /api/v2/session/shared_session',
  'POST /api/v2/session/{id}/adopt-template',
  'POST /{sessionId}/scenario_instances',
  'POST /api/v2/session/{id}/annotations',
  'POST /api/v2/node-instance/{nodeInstanceId}/outputs/data',
  'POST /api/v2/node-instance/{nodeInstanceId}/reprocess',
  'POST /api/v2/node-instance/{nodeInstanceId}/uploads',
  'POST /api/v2/admin/ingests',
  'POST /api/v2/admin/ingests/{id}/rotate-secret',
  'POST /ingest/{urlPath}',
  'POST /api/v2/ingest-uploads/{pathOrId}',
  'POST /config',
  'POST /api/v2/dashboard/layouts',
  'POST /api/v2/dashboard/reports',
  'POST /api/v2/dashboard/report-schedules',
  'POST /api/v2/dashboard/report-schedules/{id}/run',
  'POST /api/v2/admin/statics',
  'POST /api/v2/admin/statics/{code}/instances',
  'POST /api/v2/admin/data-sources',
  'POST /api/v2/admin/webhooks',
  'POST /api/v2/admin/webhooks/{id}/rotate-secret',
  'POST /api/v2/admin/webhooks/{id}/test',
  'POST /api/v2/admin/webhooks/{id}/deliveries/{deliveryId}/redeliver',
  'POST /api/v2/admin/offline-tokens',
  'POST /api/v2/admin/runner-tokens',
  'POST /api/authorization/offline_token',
  'POST /api/authorization/users',
] as const;
export type CreatingRoute = (typeof creatingRoutes)[number];
