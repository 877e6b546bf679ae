/** The view in the address of a comparison. Pure: tested without a browser. */
import type { TimeSpan } from '../dashboard/model.ts';

/**
 * What lies at zero: the start of each recording, its annotation of a label, the first row at which a step channel (lap)
 * has a value, or the clock.
 */
export type Alignment =
  | { by: 'start' }
  | { by: 'clock' }
  | { by: 'label'; label: string }
  | { by: 'step'; measure: string; value: string };

export interface CompareView {
  /** Dashboards by the place of their colours. A number below zero: so many colours are free there. */
  places: number[];
  /** Chosen measures; null: those that the dashboards suggest. */
  channels: string[] | null;
  /** Recordings that are not drawn; null: those beyond the first ten. */
  hidden: string[] | null;
  align: Alignment;
  /** Milliseconds by which a recording is moved to the right. */
  offsets: ReadonlyMap<string, number>;
  /** On the common axis; null: everything. */
  span: TimeSpan | null;
  clock: 'utc' | 'local' | 'elapsed';
  /** The recording that others are compared with; null: the first that is drawn. */
  against: string | null;
  difference: boolean;
  statistics: boolean;
  /** The table of what differs is open. */
  differs: boolean;
  /** Cursors on the common axis. */
  a: number | null;
  b: number | null;
}

/** More dashboards are neither read nor drawn. */
export const maxDashboards = 20;
const maxOffsetMs = 366 * 86_400_000;

export function readCompareView(query: URLSearchParams): CompareView {
  const align = query.get('align') ?? '';
  const [fromMs, toMs] = [time(query.get('from')), time(query.get('to'))];
  const clock = query.get('clock');
  return {
    places: readPlaces(query.get('dashboards') ?? ''),
    channels: keys(query.get('channels')),
    hidden: keys(query.get('hide')),
    align: readAlignment(align),
    offsets: new Map(
      (keys(query.get('offsets')) ?? []).flatMap((part): [string, number][] => {
        const [id = '', text] = part.split(':');
        const ms = time(text ?? null);
        return ms === null || ms === 0 || Math.abs(ms) > maxOffsetMs ? [] : [[id, ms]];
      }),
    ),
    span: fromMs !== null && toMs !== null && toMs > fromMs ? { fromMs, toMs } : null,
    clock: clock === 'local' || clock === 'elapsed' ? clock : 'utc',
    against: query.get('against'),
    difference: query.get('difference') === 'true',
    statistics: query.get('statistics') === 'true',
    differs: query.get('differs') === 'true',
    a: time(query.get('a')),
    b: time(query.get('b')),
  };
}

/** `clock`, `label:Apex`, `step:3=lap`; anything else: the start. */
export function readAlignment(text: string): Alignment {
  if (text.startsWith('label:')) return { by: 'label', label: text.slice(6) };
  const [, value, measure] = /^step:([^=]*)=(.+)$/s.exec(text) ?? [];
  if (value !== undefined && measure !== undefined) return { by: 'step', measure, value: unescaped(value) };
  return { by: text === 'clock' ? 'clock' : 'start' };
}

export function alignmentText(align: Alignment): string {
  if (align.by === 'label') return `label:${align.label}`;
  return align.by === 'step'
    ? `step:${align.value.replace(/[%=]/g, encodeURIComponent)}=${align.measure}`
    : align.by;
}

function readPlaces(text: string): number[] {
  const places: number[] = [];
  for (const part of text.split(',')) {
    const place = /^-?\d{1,15}$/.test(part) ? Number(part) : 0;
    if (place < -99 || place === 0 || (place > 0 && places.includes(place))) continue;
    places.push(place);
    if (dashboardsOf(places).length === maxDashboards) break;
  }
  return places;
}

export const dashboardsOf = (places: readonly number[]) => places.filter((place) => place > 0);

function keys(text: string | null): string[] | null {
  return text === null
    ? null
    : text
        .split(',')
        .filter((key) => key !== '')
        .map(unescaped);
}

function time(text: string | null): number | null {
  return text !== null && /^-?\d{1,15}$/.test(text) ? Number(text) : null;
}

// A name may contain a comma, which also separates names, so names are escaped again inside the list.
const escaped = (key: string) => key.replace(/[%,]/g, encodeURIComponent);

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The shortest address for the view. Times are whole milliseconds on the common axis. */
export function compareAddress(view: CompareView): string {
  const { align, span } = view;
  const list = (names: readonly string[]) => names.map(escaped).join(',');
  const parts: Readonly<Record<string, string | number | null>> = {
    dashboards: view.places.join(','),
    channels: view.channels && list(view.channels),
    hide: view.hidden && list(view.hidden),
    align: align.by === 'start' ? null : alignmentText(align),
    offsets: view.offsets.size === 0 ? null : [...view.offsets].map(([id, ms]) => `${id}:${ms}`).join(','),
    from: span && Math.round(span.fromMs),
    to: span && Math.round(span.toMs),
    clock: view.clock === 'utc' ? null : view.clock,
    against: view.against,
    difference: view.difference ? 'true' : null,
    statistics: view.statistics ? 'true' : null,
    differs: view.differs ? 'true' : null,
    a: view.a,
    b: view.b,
  };
  const query = Object.entries(parts).flatMap(([name, value]) =>
    value === null ? [] : [`${name}=${readable(encodeURIComponent(String(value)))}`],
  );
  return `/compare?${query.join('&')}`;
}

const readable = (text: string) => text.replaceAll('%2C', ',').replaceAll('%3A', ':');

/** The address that compares these dashboards, in their order. */
export const compareDashboards = (ids: readonly number[], channels: readonly string[] | null = null) =>
  compareAddress({
    ...readCompareView(new URLSearchParams()),
    places: [...ids],
    channels: channels && [...channels],
  });

/** The places with one dashboard more: it takes colours that are free. */
export function withDashboard(places: readonly number[], id: number): number[] {
  if (places.includes(id)) return [...places];
  const free = places.indexOf(-1);
  return free < 0 ? [...places, id] : places.with(free, id);
}

/** The places without a dashboard; the `colours` of its recordings stay free, so that the others keep theirs. */
export function withoutDashboard(places: readonly number[], id: number, colours: number): number[] {
  const left = places.map((place) => (place === id ? -colours : place));
  while ((left.at(-1) ?? 1) < 0) left.pop();
  return left;
}
