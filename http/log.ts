/** JSON logs. Tokens, passwords and addresses never reach them: nothing here logs headers, bodies or query texts. */
import { type Logger, pino } from 'pino';

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/** A last net under the rule that secrets are not given to the log at all. */
const secretFields = [
  'authorization',
  'token',
  'accessToken',
  'refreshToken',
  'password',
  'currentPassword',
  'bearer',
  'secret',
  'email',
].flatMap((name) => [name, `*.${name}`]);

export function createLog(service: string, level: LogLevel = 'info'): Logger {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: secretFields, censor: '[redacted]' },
  });
}
