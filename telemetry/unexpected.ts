/**
 * The end of a process by an exception that its code did not foresee. What the process knows may be wrong from then on,
 * so it ends; but what is under way may finish, and the log tells why.
 */

export interface FatalLog {
  fatal(facts: object, message: string): void;
}

/** Beyond the grace, for what comes after the work: connections, servers, the last spans. */
const closingSeconds = 5;
const messageCharacters = 500;

/**
 * From now on an uncaught exception or an unhandled rejection is logged as fatal with its cause, and ends the process
 * with code 1. To be called once, as soon as there is a log.
 * @param stop the end of the process in order, as by SIGTERM; called at the most once
 * @param graceSeconds how long that may take; then the process ends all the same
 */
export function endOnUnexpected(log: FatalLog, stop: () => Promise<unknown>, graceSeconds = 30): void {
  let isEnding = false;
  const report = (error: unknown, message: string) => {
    try {
      log.fatal({ err: error }, message);
    } catch {
      // The log itself is what failed; the exit code tells.
    }
  };
  const end = (error: unknown) => {
    report(error, isEnding ? 'another unexpected exception' : 'an unexpected exception; the process ends');
    if (isEnding) return;
    isEnding = true;
    process.exitCode = 1;
    setTimeout(
      () => {
        report(new Error('It did not end in time.'), 'the process is ended at once');
        process.exit(1);
      },
      (graceSeconds + closingSeconds) * 1000,
    ).unref();
    Promise.resolve()
      .then(stop)
      .catch((failure: unknown) => report(failure, 'the process could not end in order'))
      .finally(() => process.exit(1));
  };
  // Rejections by a listener of their own: a library that listens for them would keep them from the other.
  process.on('uncaughtException', end).on('unhandledRejection', end);
}

/**
 * A log of fatal lines alone, for a small process without another: JSON on standard error. Of a message it takes the
 * first line, because libraries put what they failed on into the others.
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
