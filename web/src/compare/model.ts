/** Recordings of several dashboards over one axis. Pure: tested without a browser. */
import type { Dashboard } from '../../../client/types.ts';
import {
  type Channel,
  channelsOf,
  firstChoice,
  fullSpan,
  type Panel,
  sourceName,
  type TimeKind,
  type TimeSpan,
  timeKinds,
} from '../dashboard/model.ts';
import { hasRowNumbers } from '../dashboard/time.ts';
import type { CompareView } from './address.ts';

export interface Recording {
  /** `12.1`: the first recording of dashboard 12. */
  id: string;
  dashboardId: number;
  sessionId: string;
  title: string;
  /** Place among the series colours. */
  colour: number;
  kind: TimeKind;
  /** It has no time: its axis counts rows. */
  hasRowNumbers: boolean;
  /** The span of its rows, on its own axis. */
  span: TimeSpan;
  channels: Channel[];
  /** Keys of channels whose values are steps: whole numbers, states, words. */
  steps: ReadonlySet<string>;
}

/** Drawn from the start. */
const firstRecordings = 10;
const firstMeasures = 4;

/** The recordings with rows in the order of the places, each with the colour that stays with it. */
export function recordingsOf(dashboards: readonly Dashboard[], places: readonly number[]): Recording[] {
  const byId = new Map(dashboards.map((dashboard) => [dashboard.id, dashboard]));
  const recordings: Recording[] = [];
  const outputs = new Set<number>();
  let colour = 0;
  for (const place of places) {
    const dashboard = byId.get(place);
    for (const [index, source] of (dashboard?.sources ?? []).entries()) {
      const one = { ...dashboard!, sources: [source] };
      const kind = timeKinds(one)[0]!;
      const span = fullSpan(one, kind);
      // Two dashboards of a session may show the same output.
      if (span === null || outputs.has(source.outputId)) continue;
      outputs.add(source.outputId);
      const isOnly = dashboard!.sources.length === 1;
      const title = isOnly ? one.sessionName : `${one.sessionName} · ${sourceName(source, index)}`;
      const { id: dashboardId, sessionId } = one;
      const id = `${dashboardId}.${index + 1}`;
      recordings.push({
        id,
        dashboardId,
        sessionId,
        title,
        colour: colour + index,
        kind,
        hasRowNumbers: hasRowNumbers(one),
        span,
        channels: channelsOf(one),
        steps: new Set(source.channels.filter(({ type }) => type !== 'number').map(({ key }) => key)),
      });
    }
    colour += place < 0 ? -place : Math.max(1, dashboard?.sources.length ?? 1);
  }
  return numbered(recordings);
}

/** Recordings of one title get numbers. */
function numbered(recordings: Recording[]): Recording[] {
  const seen = new Map<string, number>();
  return recordings.map((recording) => {
    const count = (seen.get(recording.title) ?? 0) + 1;
    seen.set(recording.title, count);
    const title = count === 1 ? recording.title : `${recording.title} (${count})`;
    return {
      ...recording,
      title,
      channels: recording.channels.map((channel) => ({
        ...channel,
        label: title,
        sourceName: title,
        colour: recording.colour,
      })),
    };
  });
}

/** What channels of several recordings have in common, as it stands in the address. */
export function measureOf({ name, unit, kind }: Channel): string {
  const measure = unit === '' ? name : `${name} [${unit}]`;
  return kind === 'number' ? measure : `${measure} as ${kind}`;
}

/** The measures of chosen channels of a dashboard; null without a choice. */
export function measuresNamed(dashboard: Dashboard, keys: readonly string[] | null): string[] | null {
  if (keys === null) return null;
  const chosen = new Set(keys);
  return [
    ...new Set(
      channelsOf(dashboard)
        .filter(({ key }) => chosen.has(key))
        .map(measureOf),
    ),
  ];
}

/** A channel for each measure, for the list in which it is chosen for all recordings: its key is the measure. */
export function measuresOf(recordings: readonly Recording[]): Channel[] {
  const found = new Map<string, { channel: Channel; count: number }>();
  for (const recording of recordings) {
    for (const channel of recording.channels) {
      const measure = measureOf(channel);
      const before = found.get(measure);
      found.set(measure, { channel: before?.channel ?? channel, count: (before?.count ?? 0) + 1 });
    }
  }
  return [...found].map(([measure, { channel, count }]) => ({
    ...channel,
    key: measure,
    realm: '',
    groupId: '',
    groupName: '',
    sourceName: `in ${count} of ${recordings.length} recordings`,
  }));
}

/** What the first dashboard suggests, as far as other recordings have it too. */
export function suggestedMeasures(first: Dashboard, recordings: readonly Recording[]): string[] {
  const kind = timeKinds(first)[0] ?? 'absolute';
  const channels = channelsOf(first);
  const chosen = new Set(firstChoice(first, channels, kind));
  const measures = new Set(channels.filter(({ key }) => chosen.has(key)).map(measureOf));
  const isCommon = (measure: string) =>
    recordings.filter((one) => one.channels.some((channel) => measureOf(channel) === measure)).length > 1;
  const common = [...measures].filter(isCommon);
  return (common.length > 0 ? common : [...measures]).slice(0, firstMeasures);
}

export function shownRecordings(
  recordings: readonly Recording[],
  hidden: CompareView['hidden'],
): Recording[] {
  return recordings.filter(({ id }, index) =>
    hidden === null ? index < firstRecordings : !hidden.includes(id),
  );
}

/** From the first to the last row on the common axis; null without recordings. */
export function commonSpan(
  recordings: readonly Recording[],
  shifts: ReadonlyMap<string, number>,
): TimeSpan | null {
  if (recordings.length === 0) return null;
  const shift = (id: string) => shifts.get(id) ?? 0;
  return {
    fromMs: Math.min(...recordings.map(({ id, span }) => span.fromMs + shift(id))),
    toMs: Math.max(...recordings.map(({ id, span }) => span.toMs + shift(id))),
  };
}

/** The part of a span on the common axis in which a recording has rows, on its own axis; null: none. */
export function ownSpan({ span }: Recording, shiftMs: number, shown: TimeSpan): TimeSpan | null {
  const fromMs = Math.max(span.fromMs, shown.fromMs - shiftMs);
  const toMs = Math.min(span.toMs, shown.toMs - shiftMs);
  return toMs > fromMs ? { fromMs, toMs } : null;
}

/** A panel for each measure with the channels of all recordings that are drawn. */
export function panelsOf(measures: readonly string[], shown: readonly Recording[]): Panel[] {
  return measures.flatMap((measure) => {
    const channels = shown.flatMap((recording) =>
      recording.channels.filter((channel) => measureOf(channel) === measure),
    );
    const [first] = channels;
    return first === undefined ? [] : [{ id: measure, title: first.name, unit: first.unit, channels }];
  });
}
