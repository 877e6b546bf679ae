/** The view in a dashboard's address: chosen channels, range, kind of time, clock. Pure: tested without a browser. */

import type { TimeKind, TimeSpan } from './model.ts';

/** How times may be written. */
export type ChosenClock = 'utc' | 'local' | 'elapsed';
/** How times are written: relative ones are always `elapsed`, and `rows` where rows are numbered for lack of a time. */
export type Clock = ChosenClock | 'rows';

/** In place of a layout: the channels of the address. */
export const noLayout = 'none';

export interface View {
  /** Null: no choice yet, so the dashboard's suggestion. An empty list: all were removed. */
  channels: string[] | null;
  /** Null: everything. */
  span: TimeSpan | null;
  kind: TimeKind | null;
  clock: ChosenClock;
  /** True: a column for each machine. */
  sideBySide: boolean;
  /** Machines side by side; null: the first few. */
  machines: string[] | null;
  /** Ids of further dashboards beside this one. */
  beside: string[];
  /** Panels in place of the channels, as `panels/link.ts` writes them; null: those with which the dashboard opens. */
  layout: string | null;
  /** Cursors that stay, in milliseconds; null where there is none. */
  a: number | null;
  b: number | null;
}

export function readView(query: URLSearchParams): View {
  const channels = query.get('channels');
  const fromMs = Date.parse(query.get('from') ?? '');
  const toMs = Date.parse(query.get('to') ?? '');
  const kind = query.get('time');
  const clock = query.get('clock');
  const machines = query.get('machines');
  return {
    channels: channels === null ? null : readKeys(channels),
    span: toMs > fromMs ? { fromMs, toMs } : null,
    kind: kind === 'absolute' || kind === 'relative' ? kind : null,
    clock: clock === 'local' || clock === 'elapsed' ? clock : 'utc',
    sideBySide: query.get('arrange') === 'machines',
    machines: machines === null ? null : readKeys(machines),
    beside: readKeys(query.get('beside') ?? '')
      .filter((id) => /^\d{1,15}$/.test(id))
      .slice(0, maxBeside),
    layout: query.get('layout') || null,
    a: readTime(query.get('a')),
    b: readTime(query.get('b')),
  };
}

function readTime(text: string | null): number | null {
  const timeMs = Date.parse(text ?? '');
  return Number.isNaN(timeMs) ? null : timeMs;
}

const maxBeside = 11;

function readKeys(text: string): string[] {
  return text
    .split(',')
    .filter((key) => key !== '')
    .map(decodeKey);
}

/** The query part for a view, with its question mark; empty for the default view. */
export function writeView(view: View): string {
  const parts: string[] = [];
  if (view.channels !== null) parts.push(`channels=${view.channels.map(encodeKey).join(',')}`);
  if (view.span !== null) {
    parts.push(
      `from=${new Date(view.span.fromMs).toISOString()}`,
      `to=${new Date(view.span.toMs).toISOString()}`,
    );
  }
  if (view.kind !== null) parts.push(`time=${view.kind}`);
  if (view.clock !== 'utc') parts.push(`clock=${view.clock}`);
  if (view.sideBySide) parts.push('arrange=machines');
  if (view.machines !== null) parts.push(`machines=${view.machines.map(encodeKey).join(',')}`);
  if (view.beside.length > 0) parts.push(`beside=${view.beside.join(',')}`);
  if (view.layout !== null) parts.push(`layout=${encodeURIComponent(view.layout)}`);
  if (view.a !== null) parts.push(`a=${new Date(view.a).toISOString()}`);
  if (view.b !== null) parts.push(`b=${new Date(view.b).toISOString()}`);
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

// A key may contain a comma, which also separates keys, so keys are escaped again inside the list. Colons stay
// unchanged: people read addresses too.
function encodeKey(key: string): string {
  const inner = key.replace(/[%,]/g, encodeURIComponent);
  return encodeURIComponent(inner).replaceAll('%3A', ':');
}

function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
