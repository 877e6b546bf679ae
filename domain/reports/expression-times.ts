/** The parts of a time, as in `from.getHours("Europe/Berlin")`. Those of the engine change with the time zone of the server. */
import type { Environment } from '@marcbachmann/cel-js';

const dayMilliseconds = 86_400_000;

const dayOfYear = (time: Date) =>
  Math.floor((time.getTime() - Date.UTC(time.getUTCFullYear(), 0)) / dayMilliseconds);
const parts: Readonly<Record<string, (time: Date) => number>> = {
  getFullYear: (time) => time.getUTCFullYear(),
  getMonth: (time) => time.getUTCMonth(),
  getDate: (time) => time.getUTCDate(),
  getDayOfMonth: (time) => time.getUTCDate() - 1,
  getDayOfWeek: (time) => time.getUTCDay(),
  getDayOfYear: dayOfYear,
  getHours: (time) => time.getUTCHours(),
  getMinutes: (time) => time.getUTCMinutes(),
  getSeconds: (time) => time.getUTCSeconds(),
};
const ownName = (name: string) => `${name}OfTime`;

export const ownTimeFunctions: readonly string[] = Object.keys(parts).map(ownName);

export function registerTimeParts(environment: Environment): void {
  const type = 'google.protobuf.Timestamp';
  for (const [name, part] of Object.entries(parts)) {
    environment.registerFunction(`${type}.${ownName(name)}(string): int`, (time: Date, zone: string) =>
      BigInt(part(inZone(time, zone))),
    );
  }
  environment.registerFunction(`${type}.${ownName('getDayOfYear')}(): int`, (time: Date) =>
    BigInt(dayOfYear(time)),
  );
}

/** The function of ours for a call `[name, receiver, parameters]` of the engine's; undefined where its own is right. */
export function timeFunction([name, , parameters]: readonly unknown[]): string | undefined {
  if (typeof name !== 'string' || !Object.hasOwn(parts, name) || !Array.isArray(parameters)) return undefined;
  return parameters.length > 0 || name === 'getDayOfYear' ? ownName(name) : undefined;
}

const numeric = 'numeric';
const allFields = {
  hourCycle: 'h23',
  year: numeric,
  month: numeric,
  day: numeric,
  hour: numeric,
  minute: numeric,
  second: numeric,
} as const;
/** Making one takes as long as a hundred uses. */
const formats = new Map<string, Intl.DateTimeFormat>();
const keptFormats = 100;

/** The time whose parts in UTC are those of the given one in the zone. */
function inZone(time: Date, zone: string): Date {
  let format = formats.get(zone);
  if (format === undefined) {
    if (formats.size >= keptFormats) formats.clear();
    const timeZone = zone.replace(/^(?=\d)/, '+');
    format = new Intl.DateTimeFormat('en-US', { ...allFields, timeZone });
    formats.set(zone, format);
  }
  return new Date(`${format.format(time)} UTC`);
}
