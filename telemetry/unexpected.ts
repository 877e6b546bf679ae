/**
 * The end of a process by an exception that its code did not expect. The state of the process may be wrong from then
 * on, so it ends; but work under way may finish, and the log says why.
 */

export interface FatalLog {
  fatal(facts: object, message: string): void;
}

/** Added to the grace, to close connections and servers and send the last spans. */
const closingSeconds = 5;
const messageCharacters = 500;

/**
 * From now on an uncaught exception or an unhandled rejection is logged as fatal with its cause, and ends the process
 * with code 1. Call it once, as soon as there is a log.
 * @param stop ends the process in order, as SIGTERM does; called at most once
 * @param graceSeconds how long that may take; then the process ends anyway
 */
export function endOnUnexpected(log: FatalLog, stop: () => Promise<unknown>, graceSeconds = 30): void {
  let isEnding = false;
  const report = (error: unknown, message: string) => {
    try {
      log.fatal({ err: error }, message);
    } catch {
      // The log itself failed; the exit code reports the end.
    }
  };
  const end = (error: unknown) => {
    report(error, isEnding ? 'another unexpected exception' : 'an unexpected exception; the process ends');
    if (isEnding) return;
    isEnding = true;
    process.exitCode = 1;
    setTimeout(
      () => {
        report(new Error('It did not end in time.'), 'the process exits at once');
        process.exit(1);
      },
      (graceSeconds + closingSeconds) * 1000,
    ).unref();
    Promise.resolve()
      .then(stop)
      .catch((failure: unknown) => report(failure, 'the process could not stop gracefully'))
      .finally(() => process.exit(1));
  };
  // Rejections have a listener of their own: a library that listens for them would hide them from the other one.
  process.on('uncaughtException', end).on('unhandledRejection', end);
}

/**
 * A log of fatal lines alone, for a small process without another log: JSON on standard error. It logs the first line
 * of a message, because libraries put the failed input into the others.
 */
export function fatalLines(name: string): FatalLog {
  return {
    fatal(facts, message) {
      const { err } = facts as { readonly err?: unknown };
      const error = err instanceof Error ? err : new Error(String(err));
      const line = {
        level: 'fatal',
        time: new Date().toISOString(),
        process: name,
        err: {
          type: error.constructor.name,
          message: (error.message.split('\n', 1)[0] ?? '').slice(0, messageCharacters),
          stack: (error.stack ?? '').split('\n').filter((text) => /^\s+at /.test(text)),
        },
        msg: message,
      };
      process.stderr.write(`${JSON.stringify(line)}\n`);
    },
  };
}
