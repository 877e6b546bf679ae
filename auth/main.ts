/** The authentication service alone, for a platform that names it in `AUTH_URL`. */
import { flushCompileCache } from 'node:module';
import { limits } from '../domain/limits.ts';
import { SettingsError } from '../domain/settings.ts';
import { createApp } from '../http/app.ts';
import { observeRoutes } from '../http/observe.ts';
import { listen, type RunningServer } from '../http/server/server.ts';
import { readCall } from '../settings/program-call.ts';
import { readSettings } from '../settings/read.ts';
import { createLog } from '../telemetry/log.ts';
import { telemetrySettings } from '../telemetry/settings.ts';
import { startTelemetry } from '../telemetry/start.ts';
import { endOnUnexpected } from '../telemetry/unexpected.ts';
import { checkAuthSchema } from './schema-check.ts';
import { openAuthService } from './service.ts';
import { type AuthSettings, authServerSettings, authSettings } from './settings.ts';

type ServerSettings = ReturnType<typeof authServerSettings.parse>;

/** Resolves when the service listens; `stop` ends server and database in order. */
export async function startAuth(
  settings: AuthSettings,
  serverSettings: ServerSettings,
): Promise<RunningServer> {
  const log = createLog({ service: 'auth' }, serverSettings.LOG_LEVEL);
  const leaving = new AbortController();
  const shutdown = new AbortController();
  const service = openAuthService(settings, log, serverSettings.RESPONSE_CHECKS, leaving.signal);
  const app = createApp({
    routeSets: [service.routeSet],
    log,
    shutdown: shutdown.signal,
    leaving: leaving.signal,
    observe: observeRoutes(service.routeSet.routes),
  });
  const server = await listen(app.callback(), {
    port: serverSettings.PORT,
    shutdown,
    leaving,
    leaveSeconds: serverSettings.SHUTDOWN_DELAY_SECONDS,
    ...(serverSettings.HOST === undefined ? {} : { host: serverSettings.HOST }),
  });
  log.info({ port: server.port }, 'listening');
  flushCompileCache();
  let stopping: Promise<void> | undefined;
  return {
    ...server,
    stop(graceSeconds) {
      if (stopping === undefined) log.info('stopping');
      stopping ??= server.stop(graceSeconds).then(() => service.close());
      return stopping;
    },
  };
}

const usage = `Usage: node auth/main.ts
Runs the authentication service alone. Its settings are variables: docs/reference/configuration.md.`;

if (import.meta.main) {
  readCall(usage, {});
  try {
    const parts = { auth: authSettings, server: authServerSettings, telemetry: telemetrySettings };
    const settings = readSettings(parts, process.env);
    await checkAuthSchema(settings.auth.DATABASE_URL);
    const log = createLog({ service: 'auth' }, settings.server.LOG_LEVEL);
    const telemetry = await startTelemetry(['auth'], settings.telemetry, log);
    const running = await startAuth(settings.auth, settings.server);
    const stop = () => running.stop().then(() => telemetry.stop());
    endOnUnexpected(log, stop, limits.shutdownGraceSeconds + settings.server.SHUTDOWN_DELAY_SECONDS);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop());
  } catch (error) {
    console.error(error instanceof SettingsError ? error.message : error);
    process.exit(1);
  }
}
