import type { Logger as RuntimeLogger } from '@temporalio/worker';
import type { Logger } from 'pino';

/** Temporal's own log lines as ours: JSON, warnings and errors only, and their error as `err`. */
export function runtimeLog(log: Logger): RuntimeLogger {
  const line =
    (level: 'warn' | 'error') =>
    (message: string, { error, ...facts }: Readonly<Record<string, unknown>> = {}) =>
      log[level](error === undefined ? facts : { ...facts, err: error }, message);
  const nothing = () => {};
  return {
    log: nothing,
    trace: nothing,
    debug: nothing,
    info: nothing,
    warn: line('warn'),
    error: line('error'),
  };
}
