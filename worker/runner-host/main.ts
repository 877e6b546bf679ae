/** The process that hosts deployed runners: `SDK_RUNNERS_DIR` names the folder of their modules. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import pino from 'pino';
import { redacted } from '../../domain/redact.ts';
import { type Environment, readSettings, SettingsError } from '../../settings/read.ts';
import { Database } from '../../store/database.ts';
import { SecretBox } from '../../store/secrets.ts';
import { databaseSettings } from '../../store/settings.ts';
import { telemetrySettings } from '../../telemetry/settings.ts';
import { startTelemetry } from '../../telemetry/start.ts';
import { keepFresh } from '../ready-file.ts';
import { RunnerHost } from './host.ts';
import { runnerHostSettings } from './settings.ts';

const poolSize = 6;

export interface RunningHost {
  /** Stops the runners and resolves when they are gone. */
  stop(): Promise<void>;
}

/** Starts a host of deployed runners. @throws SettingsError */
export async function startRunnerHost(environment: Environment): Promise<RunningHost> {
  const parts = { database: databaseSettings, host: runnerHostSettings, telemetry: telemetrySettings };
  const { database: access, host: given, telemetry: asked } = readSettings(parts, environment);
  const settings = { ...given, SDK_RUNNERS_DIR: resolve(given.SDK_RUNNERS_DIR) };
  if (!statSync(settings.SDK_RUNNERS_DIR, { throwIfNoEntry: false })?.isDirectory()) {
    throw new SettingsError(['SDK_RUNNERS_DIR: there is no such folder.']);
  }
  const log = pino({
    level: settings.LOG_LEVEL,
    base: { process: 'runner-host' },
    // What runners write passes through here too.
    hooks: { streamWrite: redacted },
  });
  const telemetry = await startTelemetry('runner-host', asked, log);
  const database = await Database.open({ databaseUrl: access.DATABASE_URL, poolSize });
  const secrets = new SecretBox(settings.SECRETS_KEY);
  const url = settings.SDK_RUNNERS_URL ?? `http://127.0.0.1:${settings.PORT}`;
  const host = new RunnerHost({ database, secrets, settings, url, log });
  host.start();
  log.info({ url }, 'the host of deployed runners is at work');
  return {
    async stop() {
      await host.stop();
      await database.close();
      await telemetry.stop();
    },
  };
}

if (import.meta.main) {
  try {
    const running = await startRunnerHost(process.env);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void running.stop());
    if (process.env.READY_FILE) keepFresh(process.env.READY_FILE);
  } catch (error) {
    const lines = error instanceof SettingsError ? error.lines : [String(error)];
    for (const line of lines) process.stderr.write(`${line}\n`);
    process.exitCode = 1;
  }
}
