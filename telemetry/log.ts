/**
 * The JSON log of every process. Tokens, passwords and addresses never reach it: no process logs headers, bodies or query
 * texts.
 */
import { type DestinationStream, type Logger, pino } from 'pino';
import { redacted } from '../domain/redact.ts';
import type { LogLevel } from '../domain/settings.ts';
import { currentTraceIds } from './trace.ts';

/** What writes the log; on each line. */
type LogSource = { readonly service: string } | { readonly process: string };

/** A last safeguard; secrets must not be passed to the log at all. */
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
];
const censor = '[redacted]';

/** Lines that wait for a full disk; later ones are lost. */
const waitingBytes = 1024 * 1024;

/** A disk without room for the log must not end the process: its lines wait, and what it does goes on. */
function standardOutput(): DestinationStream {
  // Any other way of writing tries without an end to write what waits when the process ends.
  const destination = pino.destination({ dest: 1, sync: true, maxLength: waitingBytes });
  destination.on('error', () => undefined);
  // A line that is lost does not cause what waits to be written.
  destination.on('drop', () => void destination.write(''));
  return destination;
}

/** @param destination where lines go; default: standard output */
export function createLog(
  source: LogSource,
  level: LogLevel = 'info',
  destination: DestinationStream = standardOutput(),
): Logger {
  return pino(
    {
      level,
      base: source,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: withoutSecrets },
      mixin: currentTraceIds,
      redact: { paths: secretFields, censor },
      serializers: { err: (error: unknown) => plainError(error) },
      hooks: { streamWrite: redacted },
    },
    destination,
  );
}

/**
 * The fields of a line, with the safe fields alone of errors and without the secrets in other objects; pino removes its
 * own. With wildcards (`*.token`) pino would look for each path in each value of each line, which cost a third of all
 * memory that requests allocated.
 */
function withoutSecrets(fields: Record<string, unknown>): Record<string, unknown> {
  let result = fields;
  for (const [name, value] of Object.entries(fields)) {
    // `err` has its serializer.
    if (typeof value !== 'object' || value === null || name === 'err') continue;
    if (value instanceof Error) {
      result = { ...result, [name]: plainError(value) };
      continue;
    }
    const secrets = secretFields.filter((secret) => Object.hasOwn(value, secret));
    if (secrets.length === 0) continue;
    const censored = Object.fromEntries(secrets.map((secret) => [secret, censor]));
    result = { ...result, [name]: { ...value, ...censored } };
  }
  return result;
}

const causesDeep = 4;
const errorsWide = 5;
/** The fields that locate a database's refusal, without the values of the write. */
const safeFields = [
  'code',
  'key',
  'severity',
  'schema',
  'table',
  'column',
  'constraint',
  'routine',
  'syscall',
];

/**
 * An error as the log shows it. Libraries attach the row, the parameters or the answer of the failure to their errors,
 * or quote them after the first line of the message: all of that is dropped.
 */
function plainError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { type: typeof error, message: firstLine(String(error)) };
  const fields = error as Error & Record<string, unknown>;
  const { cause, errors, issues } = fields;
  return {
    type: error.constructor.name,
    message: Array.isArray(issues)
      ? issues.slice(0, errorsWide).map(issueLine).join('; ')
      : firstLine(error.message),
    stack: stackOf(error),
    ...Object.fromEntries(
      safeFields.flatMap((name) => (typeof fields[name] === 'string' ? [[name, fields[name]]] : [])),
    ),
    ...(Array.isArray(errors) && depth < causesDeep
      ? { errors: errors.slice(0, errorsWide).map((one) => plainError(one, depth + 1)) }
      : {}),
    ...(cause === undefined || depth >= causesDeep ? {} : { cause: plainError(cause, depth + 1) }),
  };
}

/** Path and rule of a schema's refusal, as the schema words it. */
const issueLine = ({ path = [], message = '' }: { path?: PropertyKey[]; message?: string }) =>
  `${path.map(String).join('.')}: ${firstLine(message)}`;

const firstLine = (text: string) => text.split('\n', 1)[0] ?? '';

/** The stack without the message above it. */
function stackOf(error: Error): string {
  const lines = (error.stack ?? '').split('\n');
  return lines.filter((line) => /^\s+at /.test(line)).join('\n');
}
