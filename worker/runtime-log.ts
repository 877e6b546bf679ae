import type { Logger as RuntimeLogger } from '@temporalio/worker';
import type { Logger } from 'pino';

/** Logged for each worker that has activities alone, as those of built-in nodes and webhooks: this is intended. */
const activitiesAlone = 'No workflows registered, not polling for workflow tasks';

/** Temporal's own log lines as ours: JSON, warnings and errors only, and their error as `err`. */
export function runtimeLog(log: Logger): RuntimeLogger {
  const line =
    (level: 'warn' | 'error') =>
    (message: string, { error, ...facts }: Readonly<Record<string, unknown>> = {}) =>
      log[level](error === undefined ? facts : { ...facts, err: error }, message);
  const nothing = () => {};
  const [write, error] = [line('warn'), line('error')];
  const warn: typeof write = (message, facts) => {
    if (message !== activitiesAlone) write(message, facts);
  };
  return {
    // All that is forwarded comes here.
    log(level, message, facts) {
      if (level === 'WARN') warn(message, facts);
      if (level === 'ERROR') error(message, facts);
    },
    trace: nothing,
    debug: nothing,
    info: nothing,
    warn,
    error,
  };
}
