/** What the processes that the chart runs read from their environment, by the name of the part. */
import { seriesSettings } from '../../api/dashboards/series-service.ts';
import { apiSettings } from '../../api/settings.ts';
import { authMigrateSettings, authSettings } from '../../auth/settings.ts';
import { secretVariables } from '../../domain/settings.ts';
import { databaseSettings, reportDatabaseSettings } from '../../store/connection/settings.ts';
import { objectSettings } from '../../store/objects/settings.ts';
import { stagingSettings } from '../../store/objects/staging-settings.ts';
import { telemetrySettings } from '../../telemetry/settings.ts';
import { runnerHostSettings } from '../../worker/runner-host/settings.ts';
import { workerSettings } from '../../worker/settings.ts';
import { temporalSettings } from '../../workflows/settings.ts';

const worker = {
  database: databaseSettings,
  objects: objectSettings,
  staging: stagingSettings,
  temporal: temporalSettings,
  worker: workerSettings,
  telemetry: telemetrySettings,
};

export const processParts = {
  api: {
    api: apiSettings,
    database: databaseSettings,
    reports: reportDatabaseSettings,
    objects: objectSettings,
    staging: stagingSettings,
    temporal: temporalSettings,
    series: seriesSettings,
    telemetry: telemetrySettings,
    auth: authSettings,
  },
  worker,
  'builtin-worker': worker,
  'runner-host': { host: runnerHostSettings, telemetry: telemetrySettings },
  migrations: { database: databaseSettings, auth: authMigrateSettings, objects: objectSettings },
};

export const secretNames = new Set(
  Object.values(processParts).flatMap((parts) => [...secretVariables(parts)]),
);
