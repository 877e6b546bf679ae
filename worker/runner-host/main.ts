/** The process that hosts deployed runners: `SDK_RUNNERS_DIR` names the folder of their modules. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { readCall } from '../../settings/program-call.ts';
import { type Environment, readSettings, SettingsError } from '../../settings/read.ts';
import { createLog } from '../../telemetry/log.ts';
import { telemetrySettings } from '../../telemetry/settings.ts';
import { startTelemetry } from '../../telemetry/start.ts';
import { endOnUnexpected } from '../../telemetry/unexpected.ts';
import { touchRegularly } from '../ready-file.ts';
import { ApiCalls } from './api-calls.ts';
import { removeLeftFolders } from './confinement.ts';
import { RunnerHost } from './host.ts';
import { runnerHostSettings } from './settings.ts';

/** For runners that do not end, and for three calls to an API that does not answer. */
const beyondGraceSeconds = 20;

export interface RunningHost {
  /** Stops the runners and resolves when they are gone. */
  stop(): Promise<void>;
  readonly log: Logger;
  /** Longest time that stopping takes. */
  readonly stopSeconds: number;
}

/** Starts a host of deployed runners. @throws SettingsError */
export async function startRunnerHost(environment: Environment): Promise<RunningHost> {
  const parts = { host: runnerHostSettings, telemetry: telemetrySettings };
  const { host: given, telemetry: asked } = readSettings(parts, environment);
  const settings = { ...given, SDK_RUNNERS_DIR: resolve(given.SDK_RUNNERS_DIR) };
  if (!statSync(settings.SDK_RUNNERS_DIR, { throwIfNoEntry: false })?.isDirectory()) {
    throw new SettingsError(['SDK_RUNNERS_DIR: the folder does not exist.']);
  }
  const log = createLog({ process: 'runner-host' }, settings.LOG_LEVEL);
  const telemetry = await startTelemetry(['runner-host'], asked, log);
  const url = settings.SDK_RUNNERS_URL ?? `http://127.0.0.1:${settings.PORT}`;
  const api = new ApiCalls(url, settings.RUNNER_HOST_KEY);
  removeLeftFolders();
  const host = new RunnerHost({ api, settings, url, log });
  host.start();
  log.info({ url }, 'the host of deployed runners is running');
  const end = async () => {
    log.info('stopping');
    await host.stop();
    await telemetry.stop();
  };
  let stopping: Promise<void> | undefined;
  return {
    log,
    // Its runners end after their grace and the time allowed beyond it.
    stopSeconds: settings.SDK_RUNNERS_GRACE_SECONDS + beyondGraceSeconds,
    stop() {
      stopping ??= end();
      return stopping;
    },
  };
}

const usage = `Usage: node worker/runner-host/main.ts
Runs the deployed runners of SDK_RUNNERS_DIR. Its settings are variables: docs/reference/configuration.md.`;

if (import.meta.main) {
  readCall(usage, {});
  try {
    const running = await startRunnerHost(process.env);
    endOnUnexpected(running.log, running.stop, running.stopSeconds);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void running.stop());
    if (process.env.READY_FILE) touchRegularly(process.env.READY_FILE);
  } catch (error) {
    const lines = error instanceof SettingsError ? error.lines : [String(error)];
    for (const line of lines) process.stderr.write(`${line}\n`);
    process.exitCode = 1;
  }
}
