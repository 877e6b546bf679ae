/** Opens everything that the API needs, from the environment. Processes and tests use the same function. */
import type { Logger } from 'pino';
import { type AuthService, authRoutes, openAuthService } from '../auth/service.ts';
import { authSettings } from '../auth/settings.ts';
import type { RouteSet } from '../http/routing.ts';
import { type Environment, readSettings } from '../settings/read.ts';
import { readPlatformState } from '../store/administration/platform-state.ts';
import { Database } from '../store/connection/database.ts';
import { IdempotencyKeys } from '../store/connection/idempotency.ts';
import { checkSchema } from '../store/connection/schema-check.ts';
import { databaseSettings, reportDatabaseSettings } from '../store/connection/settings.ts';
import { PendingObjects } from '../store/objects/held-objects.ts';
import { objectSettings, openObjectStore } from '../store/objects/object-store.ts';
import { ObjectStores } from '../store/objects/object-stores.ts';
import { openStaging, stagingSettings } from '../store/objects/staging-settings.ts';
import { ReportReader } from '../store/reports/report-reader.ts';
import { createLog } from '../telemetry/log.ts';
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

export type ComposedApi = {
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

function readAllSettings(environment: Environment) {
  // A separate authentication service has its own keys; this process does not need them.
  const isAuthInside = (environment.AUTH_URL ?? '') === '';
  return isAuthInside
    ? readSettings({ ...ownParts, auth: authSettings }, environment)
    : { ...readSettings(ownParts, environment), auth: null };
}

type AllSettings = ReturnType<typeof readAllSettings>;

/** @param inside the authentication service, when it runs in this process */
async function openServices(settings: AllSettings, log: Logger, inside: AuthService | null) {
  const { AUTH_URL = '', AUTH_SERVICE_KEY, S3_DOWNLOAD_ENDPOINT } = settings.api;
  const { DATABASE_URL, DATABASE_POOL_SIZE } = settings.database;
  const { REPORT_DATABASE_URL } = settings.reports;
  const database = await Database.open({ databaseUrl: DATABASE_URL, poolSize: DATABASE_POOL_SIZE });
  const reportReader = REPORT_DATABASE_URL === undefined ? undefined : new ReportReader(REPORT_DATABASE_URL);
  const objects = new ObjectStores(settings.objects, openStaging(settings.staging), S3_DOWNLOAD_ENDPOINT);
  const platformStore = openObjectStore(objects.platformAccess);
  const keys = new IdempotencyKeys(database);
  const workflows = new WorkflowClient(settings.temporal, log, {
    called: temporalCalled,
    traceparent: currentTraceparent,
  });
  database.onSessionChanged = workflows.sessionChanged;
  const auth = createAuthClient(inside?.functions ?? authOverHttp(AUTH_URL, AUTH_SERVICE_KEY));
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
    series: new SeriesService(settings.series),
    sessionEvents: new SessionFeeds(database, log),
    probes: {
      async database() {
        await database.query('select 1');
      },
      storage: () => platformStore.probe(),
    },
  };
  return { services, reportReader, platformStore, keys };
}

/** Throws `SettingsError` with every fault of the environment. Connects to nothing yet. */
export async function compose(environment: Environment): Promise<ComposedApi> {
  const settings = readAllSettings(environment);
  const log = createLog({ service: 'api' }, settings.api.LOG_LEVEL);
  const inside =
    settings.auth === null ? null : openAuthService(settings.auth, log, settings.api.RESPONSE_CHECKS);
  const { services, reportReader, platformStore, keys } = await openServices(settings, log, inside);
  const { database, workflows, runners, probes } = services;
  const unwatch = watchPlatform({
    state: () => readPlatformState(database),
    parts: { ...probes, temporal: () => workflows.ping() },
    claimsWaiting: () => runners.waiters.count,
  });
  const { AUTH_URL = '' } = settings.api;
  return {
    services,
    telemetry: settings.telemetry,
    authRouteSet:
      inside?.routeSet ??
      forwardTo(AUTH_URL, authRoutes, (requestId) => services.auth.findActive([], requestId)),
    async check() {
      await checkSchema(database);
      const away = await reportReader?.check(database);
      if (away !== undefined)
        log.warn({ err: away }, 'REPORT_DATABASE_URL cannot be reached: reports fail until it can');
    },
    async close() {
      unwatch();
      await services.sessionEvents.stop();
      await runners.close();
      await services.series.close();
      await workflows.close();
      keys.close();
      services.uploadWriters.close();
      platformStore.close();
      services.objects.close();
      await inside?.close();
      await reportReader?.close();
      await database.close();
    },
  };
}
