/** Opens everything that the API needs, from the environment. Processes and tests use the same function. */
import { authRoutes, openAuthService } from '../auth/service.ts';
import { authSettings } from '../auth/settings.ts';
import { createLog } from '../http/log.ts';
import type { Route } from '../http/route.ts';
import type { RouteSet } from '../http/routing.ts';
import { type Environment, readSettings } from '../settings/read.ts';
import { readPlatformState } from '../store/administration/platform-state.ts';
import { Database } from '../store/connection/database.ts';
import { IdempotencyKeys } from '../store/connection/idempotency.ts';
import { ReportReader } from '../store/connection/report-reader.ts';
import { checkSchema } from '../store/connection/schema-check.ts';
import { databaseSettings, reportDatabaseSettings } from '../store/connection/settings.ts';
import { objectSettings, openObjectStore } from '../store/objects/object-store.ts';
import { ObjectStores } from '../store/objects/object-stores.ts';
import { PendingObjects } from '../store/objects/pending-objects.ts';
import { openStaging, stagingSettings } from '../store/objects/staging-settings.ts';
import { temporalCalled } from '../telemetry/metrics.ts';
import { watchPlatform } from '../telemetry/platform-gauges.ts';
import { type TelemetrySettings, telemetrySettings } from '../telemetry/settings.ts';
import { currentTraceparent } from '../telemetry/trace.ts';
import { WorkflowClient } from '../workflows/client.ts';
import { temporalSettings } from '../workflows/settings.ts';
import { SeriesService, seriesSettings } from './dashboards/series-service.ts';
import { keyKeeper } from './idempotency.ts';
import { createAuthClient } from './identity/auth-client.ts';
import { forwardTo } from './identity/auth-forward.ts';
import { authOverHttp } from './identity/auth-over-http.ts';
import { UploadWriters } from './resumable-uploads/writers.ts';
import { RunnerServices } from './runner/runner-services.ts';
import type { OpenServices } from './services.ts';
import { SessionFeeds } from './session-events/feeds.ts';
import { apiSettings } from './settings.ts';

const ownParts = {
  api: apiSettings,
  database: databaseSettings,
  reports: reportDatabaseSettings,
  objects: objectSettings,
  staging: stagingSettings,
  temporal: temporalSettings,
  series: seriesSettings,
  telemetry: telemetrySettings,
};

export type Composed = {
  readonly services: OpenServices;
  readonly telemetry: TelemetrySettings;
  /** The authentication service's routes: in this process, or passed on to the separate service. */
  readonly authRouteSet: RouteSet;
  /**
   * Whether schema and rights are what this version needs, as far as the database answers.
   * @throws SettingsError, with the sentence for the operator
   */
  check(): Promise<void>;
  close(): Promise<void>;
};

/** Throws `SettingsError` with every fault of the environment. Connects to nothing yet. */
export async function compose(environment: Environment): Promise<Composed> {
  // A separate authentication service has its own keys; this process does not need them.
  const isAuthInside = (environment.AUTH_URL ?? '') === '';
  const settings = isAuthInside
    ? readSettings({ ...ownParts, auth: authSettings }, environment)
    : { ...readSettings(ownParts, environment), auth: null };
  const log = createLog('api', settings.api.LOG_LEVEL);
  const authService =
    settings.auth === null ? null : openAuthService(settings.auth, log, settings.api.RESPONSE_CHECKS);
  const { AUTH_URL = '', AUTH_SERVICE_KEY } = settings.api;
  const { DATABASE_URL, DATABASE_POOL_SIZE } = settings.database;
  const database = await Database.open({ databaseUrl: DATABASE_URL, poolSize: DATABASE_POOL_SIZE });
  const { REPORT_DATABASE_URL } = settings.reports;
  const reportReader = REPORT_DATABASE_URL === undefined ? undefined : new ReportReader(REPORT_DATABASE_URL);
  const objects = new ObjectStores(settings.objects, openStaging(settings.staging));
  const keys = new IdempotencyKeys(database);
  const platformStore = openObjectStore(objects.platformAccess);
  const workflows = new WorkflowClient(settings.temporal, log, {
    called: temporalCalled,
    traceparent: currentTraceparent,
  });
  database.onSessionChanged = workflows.sessionChanged;
  const series = new SeriesService(settings.series);
  const auth = createAuthClient(authService?.functions ?? authOverHttp(AUTH_URL, AUTH_SERVICE_KEY));
  const services: OpenServices = {
    settings: settings.api,
    log,
    auth,
    database,
    reports: reportReader ?? database,
    objects,
    pending: new PendingObjects(database, objects),
    uploadWriters: new UploadWriters(database),
    keys: keyKeeper(keys, objects.secrets),
    workflows,
    runners: new RunnerServices({ database, workflows, auth, secrets: objects.secrets, log }),
    series,
    sessionEvents: new SessionFeeds(database, log),
    probes: {
      async database() {
        await database.query('select 1');
      },
      storage: () => platformStore.probe(),
    },
  };
  const unwatch = watchPlatform({
    state: () => readPlatformState(database),
    parts: {
      database: services.probes.database,
      storage: services.probes.storage,
      temporal: () => workflows.ping(),
    },
    claimsWaiting: () => services.runners.waiters.count,
  });
  return {
    services,
    telemetry: settings.telemetry,
    authRouteSet: authService?.routeSet ?? forwardTo(AUTH_URL, authRoutes as unknown as readonly Route[]),
    async check() {
      await checkSchema(database);
      const away = await reportReader?.check(database);
      if (away !== undefined)
        log.warn({ err: away }, 'REPORT_DATABASE_URL cannot be reached: reports fail until it can');
    },
    async close() {
      unwatch();
      await services.sessionEvents.stop();
      await services.runners.close();
      await series.close();
      await workflows.close();
      keys.close();
      services.uploadWriters.close();
      platformStore.close();
      objects.close();
      await authService?.close();
      await reportReader?.close();
      await database.close();
    },
  };
}
