/** The services of handlers, as one typed object. `compose.ts` opens it, for the process and for tests. */
import type { Logger } from 'pino';
import type { KeyKeeper } from '../http/idempotency.ts';
import type { OpenApiDocument } from '../http/openapi/openapi.ts';
import type { Database, EntityReader, Reader } from '../store/connection/database.ts';
import type { PendingObjects } from '../store/objects/held-objects.ts';
import type { ObjectStores } from '../store/objects/object-stores.ts';
import type { WorkflowClient } from '../workflows/client.ts';
import type { SeriesService } from './dashboards/series-service.ts';
import type { AuthClient } from './identity/auth-client.ts';
import type { UploadWriters } from './resumable-uploads/writers.ts';
import type { RunnerServices } from './runner/runner-services.ts';
import type { SessionFeeds } from './session-events/feeds.ts';
import type { ApiSettings } from './settings.ts';

/** Rejects, or takes longer than two seconds, when the part is down. */
export type Probe = () => Promise<void>;

/** What `compose.ts` opens. */
export type OpenServices = {
  readonly settings: ApiSettings;
  readonly log: Logger;
  readonly auth: AuthClient;
  readonly database: Database;
  /** The connection for report downloads: `REPORT_DATABASE_URL`, or the database itself. */
  readonly reports: Reader & EntityReader;
  readonly objects: ObjectStores;
  readonly pending: PendingObjects;
  /** The writers of resumable uploads in this process. */
  readonly uploadWriters: UploadWriters;
  /** Idempotency keys of callers. */
  readonly keys: KeyKeeper;
  readonly workflows: WorkflowClient;
  readonly runners: RunnerServices;
  readonly series: SeriesService;
  readonly sessionEvents: SessionFeeds;
  readonly probes: { readonly database: Probe; readonly storage: Probe };
};

export type Services = OpenServices & {
  /** The OpenAPI document of all routes that this server answers. */
  readonly reference: () => OpenApiDocument;
  /** Aborted when this process begins to stop. */
  readonly leaving: AbortSignal;
};
