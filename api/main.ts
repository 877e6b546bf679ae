/** The API process: platform interface, authentication service (unless it runs separately) and web console. */
import { flushCompileCache } from 'node:module';
import { limits } from '../domain/limits.ts';
import { SettingsError } from '../domain/settings.ts';
import type { RunningServer } from '../http/server/server.ts';
import { readCall } from '../settings/program-call.ts';
import { collectAfterStart } from '../store/objects/buffer-garbage.ts';
import { startTelemetry, type Telemetry } from '../telemetry/start.ts';
import { endOnUnexpected } from '../telemetry/unexpected.ts';
import { compose } from './compose.ts';
import { startApi } from './start.ts';

readCall(
  `Usage: node api/main.ts
Runs the API, with the authentication service unless AUTH_URL names one, and the console. Its settings are variables:
docs/reference/configuration.md.`,
  {},
);
try {
  const composed = await compose(process.env);
  const { log } = composed.services;
  let running: RunningServer | undefined;
  let telemetry: Telemetry | undefined;
  let stopping: Promise<void> | undefined;
  const end = async () => {
    log.info('stopping');
    await running?.stop();
    await composed.close();
    await telemetry?.stop();
  };
  const stop = () => {
    stopping ??= end();
    return stopping;
  };
  endOnUnexpected(log, stop, limits.shutdownGraceSeconds + composed.services.settings.SHUTDOWN_DELAY_SECONDS);
  telemetry = await startTelemetry(['api'], composed.telemetry, log);
  await composed.check();
  running = await startApi(composed);
  log.info({ port: running.port }, 'listening');
  flushCompileCache();
  collectAfterStart();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      stop().catch((error) => {
        log.error({ err: error }, 'stop failed');
        process.exit(1);
      });
    });
  }
} catch (error) {
  console.error(error instanceof SettingsError ? error.message : error);
  process.exit(1);
}
