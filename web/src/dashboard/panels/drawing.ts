/** What is drawn over another channel than the time. Pure. */
import type { ChannelSeries } from '../../../../client/types.ts';
import type { Channel } from '../model.ts';
import { type LayoutForm, type PanelForm, pair, type Scale, scaleOf, type Trace, traceOf } from './model.ts';
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
  members: Channel[];
  byKey: ReadonlyMap<string, ChannelSeries>;
  series: readonly ChannelSeries[];
  /** Drawn over the x axis of the layout, or as its traces. */
  isOverX: boolean;
}

/** A channel with its unit; empty without one. */
export const labelled = (one: Channel | undefined) =>
  one === undefined ? '' : one.unit === '' ? one.name : `${one.name} [${one.unit}]`;

/** What is drawn over another channel; null for panels of other kinds. */
export function drawingOf({ form, members, byKey, series, layout, isOverX }: PanelChannels): Drawing | null {
  const [first, second] = members;
  const names = (channels: readonly Channel[]) => channels.map(({ name }) => name).join(', ');
  if (isOverX) {
    const across = layout.x ?? 'seconds of each trace';
    const label = `${names(members)} over ${across}`;
    const traces = series.map((one) => traceOf(one, layout.split, members.length === 1));
    return { label, traces, as: 'line', across, up: labelled(first), isMap: false };
  }
  if (form.kind !== 'track' && form.kind !== 'xy') return null;
  const [across, up] = [byKey.get(first?.key ?? ''), byKey.get(second?.key ?? '')];
  if (form.kind === 'track') {
    return {
      label: `Track of ${first?.name} and ${second?.name}`,
      traces: across === undefined || up === undefined ? [] : [pair(up, across, 'track')],
      as: 'line',
      across: labelled(second),
      up: labelled(first),
      isMap: true,
    };
  }
  const traces = members.slice(1).flatMap(({ key, name }) => {
    const one = byKey.get(key);
    return one === undefined || across === undefined ? [] : [pair(across, one, name)];
  });
  const label = `${names(members.slice(1))} over ${first?.name}`;
  return { label, traces, as: 'dots', across: labelled(first), up: labelled(second), isMap: false };
}

/** The range of all traces on both axes; null without values. */
export function wholeOf({ traces }: Drawing): Held | null {
  const [x, y] = [scaleOf(traces.map(({ xs }) => xs)), scaleOf(traces.map(({ ys }) => ys))];
  return x === null || y === null ? null : { x, y };
}

const tenth = (value: number) => Math.round(value * 10) / 10;

/** The path of a trace, broken where values are missing. */
export function pathOf({ xs, ys }: Trace, place: Place, as: 'line' | 'dots'): string {
  let path = '';
  let isOpen = false;
  for (const [index, x] of xs.entries()) {
    const value = ys[index] ?? null;
    if (value === null) {
      isOpen = false;
      continue;
    }
    const [left, top] = [tenth(place.x(x)), tenth(place.y(value))];
    path += as === 'dots' ? `M${left} ${top}h0` : `${isOpen ? 'L' : 'M'}${left} ${top}`;
    isOpen = true;
  }
  return path;
}
