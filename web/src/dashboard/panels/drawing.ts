/** What is drawn over another channel than the time. Pure. */
import type { ChannelSeries } from '../../../../client/types.ts';
import { lonelyPoints } from '../chart/curve.ts';
import type { Channel } from '../model.ts';
import { recordingName } from './derived-members.ts';
import {
  channelsNamed,
  type LayoutForm,
  type PanelForm,
  pair,
  pairRows,
  type Scale,
  scaleOf,
  type Trace,
  traceOf,
} from './model.ts';
import type { Place } from './place.ts';

/** What a person holds of a plot. */
export interface Held {
  readonly x: Scale;
  readonly y: Scale;
}

/** Traces over two axes, with the words at the axes. */
export interface Drawing {
  label: string;
  traces: readonly Trace[];
  as: 'line' | 'dots';
  across: string;
  up: string;
  /** The axes are longitude and latitude: as many pixels a metre on both. */
  isMap: boolean;
}

/** The channels of a panel with what was read of them. */
export interface PanelChannels {
  form: PanelForm;
  layout: LayoutForm;
  /** All channels of the dashboard. */
  channels: readonly Channel[];
  members: Channel[];
  series: readonly ChannelSeries[];
  /** Drawn over the x axis of the layout, or as its traces. */
  isOverX: boolean;
  /** Rows are numbered for lack of a time. */
  hasRows: boolean;
}

/** A channel with its unit; empty without one. */
export const labelled = (one: Channel | undefined) =>
  one === undefined ? '' : one.unit === '' ? one.name : `${one.name} [${one.unit}]`;

/** More names than these would not stand at an axis. */
const maxNames = 3;

/** The channels of an axis with their units; of many, the units alone. */
function axisOf(members: readonly Channel[]): string {
  const labels = new Set(members.map(labelled));
  if (labels.size <= maxNames) return [...labels].join(', ');
  const units = new Set(members.flatMap(({ unit }) => (unit === '' ? [] : `[${unit}]`)));
  return [...units].join(', ');
}

/** What is drawn over another channel; null for panels of other kinds. */
export function drawingOf({
  form,
  channels,
  members,
  series,
  layout,
  isOverX,
  hasRows,
}: PanelChannels): Drawing | null {
  if (isOverX) {
    const [x] = layout.x === null ? [] : channelsNamed(layout.x, channels, layout.derived);
    const across = labelled(x) || (layout.x ?? `${hasRows ? 'rows' : 'seconds'} of each trace`);
    const label = `${members.map(({ name }) => name).join(', ')} over ${across}`;
    const isMixed = new Set(series.map(recordingOf)).size > 1;
    const traces = series.map((one) => {
      const trace = traceOf(one, layout.split, members.length === 1, hasRows ? 1 : 1000);
      return isMixed ? { ...trace, name: ofSource(trace.name, recordingOf(one), channels) } : trace;
    });
    return { label, traces, as: 'line', across, up: axisOf(members), isMap: false };
  }
  if (form.kind !== 'track' && form.kind !== 'xy') return null;
  const named = form.channels.map((name) => members.filter((member) => isCalled(member, name)));
  const [[first] = [], [second] = []] = named;
  const read = named.map((some) => readOf(some, series));
  const [start = [], ...others] = read;
  if (form.kind === 'track') {
    const [longitudes = []] = others;
    return {
      label: `Track of ${first?.name} and ${second?.name}`,
      traces: pairsOf(longitudes, start, channels, () => 'track'),
      as: 'line',
      across: labelled(second),
      up: labelled(first),
      isMap: true,
    };
  }
  const ups = new Set(named.slice(1).flatMap((some) => some.map(({ name }) => name)));
  const label = `${[...ups].join(', ')} over ${first?.name}`;
  const traces = pairsOf(start, others.flat(), channels, ({ name }) => name);
  const up = axisOf(named.slice(1).flat());
  return { label, traces, as: 'dots', across: labelled(first), up, isMap: false };
}

/** What was read of a channel. A derived channel has a series of each recording. */
interface Read {
  channel: Channel;
  series: ChannelSeries;
  recording: string;
}

const isDerived = (key: string) => key.startsWith('=');

const isCalled = ({ key, name }: Channel, text: string) => key === text || (!isDerived(key) && name === text);

const readOf = (channels: readonly Channel[], series: readonly ChannelSeries[]): Read[] =>
  channels.flatMap((channel) =>
    series
      .filter((one) => one.channel === channel.key)
      .map((one) => ({ channel, series: one, recording: recordingOf(one) })),
  );

/** The output that holds the rows of a series. */
const recordingOf = ({ outputId, channel }: ChannelSeries) =>
  String(outputId ?? channel.slice(0, channel.indexOf(':')));

const ofSource = (name: string, recording: string, channels: readonly Channel[]) =>
  `${name} (${recordingName(recording, channels)})`;

/** Each is drawn over the channel of its own recording; over that of another only where its own has none. */
function pairsOf(
  across: readonly Read[],
  ups: readonly Read[],
  channels: readonly Channel[],
  nameOf: (channel: Channel) => string,
): Trace[] {
  const [other] = across;
  if (other === undefined) return [];
  const isMixed = new Set(ups.map(({ recording }) => recording)).size > 1;
  return ups.map((up) => {
    const own = across.find(({ recording }) => recording === up.recording);
    const plain = nameOf(up.channel);
    const name = isMixed ? ofSource(plain, up.recording, channels) : plain;
    return own === undefined ? pair(other, up.series, name) : pairRows(own.series, up.series, name);
  });
}

/** The range of all traces on both axes; null without values. */
export function wholeOf({ traces }: Drawing): Held | null {
  const [x, y] = [scaleOf(traces.map(({ xs }) => xs)), scaleOf(traces.map(({ ys }) => ys))];
  return x === null || y === null ? null : { x, y };
}

const tenth = (value: number) => Math.round(value * 10) / 10;

/** The path of a trace, broken where values are missing; a value between two of those is a dot. */
export function pathOf({ xs, ys }: Trace, place: Place, as: 'line' | 'dots'): string {
  const dots = new Set(as === 'dots' ? ys.keys() : lonelyPoints(ys));
  let path = '';
  let isOpen = false;
  for (const [index, x] of xs.entries()) {
    const value = ys[index] ?? null;
    if (value === null) {
      isOpen = false;
      continue;
    }
    const [left, top] = [tenth(place.x(x)), tenth(place.y(value))];
    path += `${isOpen && as === 'line' ? 'L' : 'M'}${left} ${top}${dots.has(index) ? 'h0' : ''}`;
    isOpen = true;
  }
  return path;
}
