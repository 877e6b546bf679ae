/** Times, sizes and numbers as people read them. Pure: tested without a browser. */

const dateTimeIn = (timeZone: string | undefined) =>
  new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone,
    // Another zone than that of the machine is named.
    ...(timeZone === undefined ? {} : { timeZoneName: 'short' as const }),
  });
const exactIn = (timeZone: string | undefined) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long', timeZone });
const dateIn = (timeZone: string | undefined) =>
  new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone });
let dateTime = dateTimeIn(undefined);
let exact = exactIn(undefined);
let date = dateIn(undefined);
/** The zone of all times that are shown; undefined: that of the machine. */
export let shownZone: string | undefined;

/** Sets the zone of all times that are shown from now on. @param timeZone undefined: that of the machine */
export function setTimeZone(timeZone: string | undefined): void {
  shownZone = timeZone;
  dateTime = dateTimeIn(timeZone);
  exact = exactIn(timeZone);
  date = dateIn(timeZone);
}
const relative = new Intl.RelativeTimeFormat('en-GB', { numeric: 'auto', style: 'long' });
const whole = new Intl.NumberFormat('en-GB');

/** `14 Mar 2026, 09:30`, in the chosen zone. */
export function formatDateTime(iso: string): string {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? iso : dateTime.format(at);
}

/** `14 Mar 2026, 09:30:05 CET`, in the chosen zone. */
export function formatExactly(iso: string): string {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? iso : exact.format(at);
}

/** `14 Mar 2026`, in the chosen zone. */
export const formatDate = (iso: string) => date.format(new Date(iso));

/** `3 min ago`; a time more than a week ago as `older` says it. */
export function formatAgo(iso: string, nowMs: number, older = formatDateTime): string {
  const seconds = (Date.parse(iso) - nowMs) / 1000;
  if (Number.isNaN(seconds)) return iso;
  const size = Math.abs(seconds);
  if (size < 45) return 'just now';
  if (size < 59.5 * 60) return away(Math.round(seconds / 60), 'min');
  if (size < 23.5 * 3600) return away(Math.round(seconds / 3600), 'h');
  if (size < 7 * 86_400) return relative.format(Math.round(seconds / 86_400), 'day');
  return older(iso);
}

const away = (count: number, unit: string) => (count < 0 ? `${-count} ${unit} ago` : `in ${count} ${unit}`);

/** A sentence of the platform with its ISO times as `14 Mar 2026, 09:30`. */
export function formatTimesIn(sentence: string): string {
  return sentence.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, formatDateTime);
}

/** `1.4 MB`; powers of 1,024, as everywhere in the platform. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const below = Math.floor(Math.log2(bytes) / 10);
  // What would be rounded to 1,024 is 1.0 of the next unit.
  const power = Math.min(4, Math.round(bytes / 1024 ** below) === 1024 ? below + 1 : below);
  const value = bytes / 1024 ** power;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${'KMGT'[power - 1]}B`;
}

export function formatCount(count: number): string {
  return whole.format(count);
}

/** `1 row`, `2 rows`. */
export function plural(count: number, one: string, many: string): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** A measured value with at most six significant digits: `12.3457`, `1.2e-7`, `4,500`. */
export function formatValue(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e9 || size < 1e-4) return value.toExponential(3).replace(/\.?0+e/, 'e');
  const digits = size >= 1e5 ? 0 : Math.max(0, 5 - Math.floor(Math.log10(size)));
  return Number(value.toFixed(Math.min(digits, 8))).toLocaleString('en-GB', { maximumFractionDigits: 8 });
}

/** How long something took: `420 ms`, `3.2 s`, `4 min 10 s`, `2 h 5 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (!(ms >= 0)) return '';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const units = [
    { size: 86_400, name: 'd', below: 3600, belowName: 'h' },
    { size: 3600, name: 'h', below: 60, belowName: 'min' },
    { size: 60, name: 'min', below: 1, belowName: 's' },
  ];
  const unit = units.find(({ size }) => seconds >= size) ?? units[2]!;
  const rest = Math.floor((seconds % unit.size) / unit.below);
  const whole = `${Math.floor(seconds / unit.size)} ${unit.name}`;
  return rest === 0 ? whole : `${whole} ${rest} ${unit.belowName}`;
}
