/** The one list of all routes of the platform. Each resource folder exports its own list. */
import { annotationRoutes } from './annotations/routes.ts';
import { auditRoutes } from './audit/routes.ts';
import { concurrencyRoutes } from './concurrency/routes.ts';
import { configurationRoutes } from './configuration/routes.ts';
import { dashboardRoutes } from './dashboards/routes.ts';
import { dataSourceRoutes } from './data-sources/routes.ts';
import { docsRoutes } from './docs/routes.ts';
import { healthRoutes } from './health/routes.ts';
import { ingestRoutes } from './ingests/routes.ts';
import { layoutRoutes } from './layouts/routes.ts';
import { manifestRoutes } from './manifests/routes.ts';
import { metricsRoutes } from './metrics/routes.ts';
import { nodeInstanceRoutes } from './node-instances/routes.ts';
import { runLogRoutes } from './node-runs/log-routes.ts';
import { replayRoutes } from './node-runs/replay-routes.ts';
import { nodeRunRoutes } from './node-runs/routes.ts';
import { runRoutes } from './node-runs/run-routes.ts';
import { offlineTokenRoutes } from './offline-tokens/routes.ts';
import { projectRoutes } from './projects/routes.ts';
import { reportRoutes } from './reports/routes.ts';
import { ingestUploadRoutes } from './resumable-uploads/ingest-routes.ts';
import { resumableUploadRoutes } from './resumable-uploads/routes.ts';
import { retentionRoutes } from './retention/routes.ts';
import type { ApiRoute } from './route.ts';
import { runnerRoutes } from './runner/routes.ts';
import { runnerHostRoutes } from './runner-host/routes.ts';
import { runnerTokenRoutes } from './runner-tokens/routes.ts';
import { queueRoutes } from './runners/queues.ts';
import { runnerAdministrationRoutes } from './runners/routes.ts';
import { scenarioRoutes } from './scenarios/routes.ts';
import { sessionEventRoutes } from './session-events/routes.ts';
import { sessionQueryRoutes } from './session-query/routes.ts';
import { sessionTemplateRoutes } from './session-templates/routes.ts';
import { sessionViewRoutes } from './session-views/routes.ts';
import { sessionRoutes } from './sessions/routes.ts';
import { staticRoutes } from './statics/routes.ts';
import { userRoutes } from './user/routes.ts';
import { platformUserRoutes } from './users/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';
import { workflowUiRoutes } from './workflow-ui/routes.ts';

export const routes: readonly ApiRoute[] = [
  ...healthRoutes,
  ...metricsRoutes,
  ...userRoutes,
  ...platformUserRoutes,
  ...projectRoutes,
  ...sessionTemplateRoutes,
  ...manifestRoutes,
  ...sessionViewRoutes,
  ...sessionRoutes,
  ...sessionEventRoutes,
  ...sessionQueryRoutes,
  ...scenarioRoutes,
  ...annotationRoutes,
  ...nodeInstanceRoutes,
  ...resumableUploadRoutes,
  ...nodeRunRoutes,
  ...runRoutes,
  ...runLogRoutes,
  ...replayRoutes,
  ...workflowUiRoutes,
  ...ingestRoutes,
  ...ingestUploadRoutes,
  ...configurationRoutes,
  ...dashboardRoutes,
  ...layoutRoutes,
  ...reportRoutes,
  ...staticRoutes,
  ...dataSourceRoutes,
  ...concurrencyRoutes,
  ...webhookRoutes,
  ...offlineTokenRoutes,
  ...docsRoutes,
  ...auditRoutes,
  ...retentionRoutes,
  ...runnerTokenRoutes,
  ...runnerAdministrationRoutes,
  ...queueRoutes,
  ...runnerRoutes,
  ...runnerHostRoutes,
];
