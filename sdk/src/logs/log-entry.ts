/** Lines of a run's log as the platform accepts them. */
import { clip } from '../text.ts';

export type RunLogLevel = 'debug' | 'info' | 'warning' | 'error';
export type LogFields = Readonly<Record<string, unknown>>;

export interface LogEntry {
  readonly at: string;
  readonly level: RunLogLevel;
  readonly message: string;
  readonly fields?: LogFields;
}

export const messageBytes = 8 * 1024;
const fieldsBytes = 4 * 1024;
const fieldsLevels = 20;

/**
 * @param fields replaced by a sentence when they have no JSON form, are above 4 KB or have more than 20 levels: the platform
 * would refuse all lines that are sent with them
 */
export function logEntry(level: RunLogLevel, message: string, fields?: LogFields): LogEntry {
  const entry = { at: new Date().toISOString(), level, message: clipBytes(message, messageBytes) };
  return fields === undefined ? entry : { ...entry, fields: fit(fields) };
}

/** Text that the platform accepts, within so many bytes of UTF-8. */
export function clipBytes(text: string, maxBytes: number): string {
  // One character has up to three bytes, or four in two units.
  if (text.length * 3 <= maxBytes) return clip(text, text.length + 1);
  const bytes = Buffer.from(clip(text, maxBytes), 'utf8');
  if (bytes.length <= maxBytes) return bytes.toString('utf8');
  // A cut may split a character, which then is replaced by a longer one.
  return `${bytes
    .subarray(0, maxBytes - 6)
    .toString('utf8')
    .replace(/\uFFFD$/, '')}…`;
}

function fit(fields: LogFields): LogFields {
  try {
    const text = JSON.stringify(fields, (_name, value: unknown) =>
      typeof value === 'string' ? clip(value, fieldsBytes) : value,
    );
    if (Buffer.byteLength(text) > fieldsBytes)
      return { omitted: `The fields hold more than ${fieldsBytes} bytes.` };
    const fitting = JSON.parse(text) as LogFields;
    return levelsOf(fitting) > fieldsLevels
      ? { omitted: `The fields have more than ${fieldsLevels} levels.` }
      : fitting;
  } catch {
    return { omitted: 'The fields have no JSON form.' };
  }
}

/** `{}` has one. Its depth is bounded by the bytes of the fields. */
function levelsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(levelsOf));
}
