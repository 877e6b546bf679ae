/** What XY panels and tracks draw, without a browser. */
import { expect, test } from 'vitest';
import type { ChannelSeries, ChannelStatistics } from '../../../../client/types.ts';
import { type Channel, legendName } from '../../../../web/src/dashboard/model.ts';
import { eachRecording, ofRecording } from '../../../../web/src/dashboard/panels/derived-members.ts';
import { drawingOf } from '../../../../web/src/dashboard/panels/drawing.ts';
import {
  channelsNamed,
  type LayoutForm,
  newPanel,
  type PanelKind,
} from '../../../../web/src/dashboard/panels/model.ts';

const channel = (recording: number, name: string): Channel => ({
  key: `${recording}:${name}`,
  id: name,
  name,
  unit: '',
  realm: 'default',
  groupId: 'default',
  groupName: 'default',
  sourceName: `car ${recording}.csv`,
  timeKind: 'absolute',
  kind: 'number',
  stepMs: 10,
});
const read = (key: string, values: ChannelSeries['values'], outputId?: number): ChannelSeries => ({
  channel: key,
  name: key.slice(key.indexOf(':') + 1).replace('=', ''),
  unit: null,
  times: values.map((_, index) => index),
  values,
  ...(outputId === undefined ? {} : { outputId }),
});
const layout: LayoutForm = {
  version: 1,
  x: null,
  split: null,
  derived: [{ name: 'power', unit: null, expression: 'speed * force' }],
  panels: [],
};

const twoCars = [channel(1, 'lat'), channel(1, 'lon'), channel(2, 'lat'), channel(2, 'lon')];

function draw(
  kind: PanelKind,
  names: string[],
  channels: Channel[],
  series: ChannelSeries[],
  hasRows = false,
) {
  const form = newPanel(kind, names);
  const members = names.flatMap((name) => channelsNamed(name, channels, layout.derived));
  return drawingOf({ form, layout, channels, members, series, isOverX: kind === 'lines', hasRows })!;
}

test('traces of a recording without a time count its rows, others their seconds', () => {
  const speed = { ...read('1:speed', [40, 50]), times: [3000, 4000] };
  const trace = { value: 2, from: new Date(3000).toISOString(), to: new Date(4000).toISOString() };
  const drawn = (hasRows: boolean) =>
    draw('lines', ['speed'], [channel(1, 'speed')], [{ ...speed, trace }], hasRows);
  expect([drawn(false).across, drawn(false).traces[0]!.xs]).toEqual(['seconds of each trace', [0, 1]]);
  expect([drawn(true).across, drawn(true).traces[0]!.xs]).toEqual(['rows of each trace', [0, 1000]]);
});

test('an axis names each of its channels with the unit, and of many the units', () => {
  const of = (name: string, unit: string) => ({ ...channel(1, name), unit });
  const channels = [
    of('speed', 'km/h'),
    of('brake', 'bar'),
    of('front', 'bar'),
    of('rear', 'bar'),
    of('s', 'm'),
  ];
  const drawn = (names: string[], x: string | null = null) => {
    const members = names.flatMap((name) => channelsNamed(name, channels, layout.derived));
    const form = newPanel('lines', names);
    const over = { ...layout, x };
    return drawingOf({ form, layout: over, channels, members, series: [], isOverX: true, hasRows: false })!;
  };
  expect(drawn(['speed', 'brake']).up).toBe('speed [km/h], brake [bar]');
  expect(drawn(['speed', 'brake', 'front', 'rear']).up).toBe('[km/h], [bar]');
  expect(drawn(['speed'], 's').across).toBe('s [m]');
  expect(drawn(['speed'], '=power').across).toBe('power');
});

test('an XY panel draws one channel over the other of the same row, also where times repeat', () => {
  const series = [read('1:speed', [1, 2, 3, 4]), read('1:rpm', [10, null, 30, 40])].map((one) => ({
    ...one,
    times: [0, 0, 0, 1],
  }));
  const drawing = draw('xy', ['speed', 'rpm'], [channel(1, 'speed'), channel(1, 'rpm')], series);
  expect(drawing.label).toBe('rpm over speed');
  expect(drawing.traces).toEqual([
    { name: 'rpm', xs: [1, 2, 3, 4], ys: [10, null, 30, 40], times: [0, 0, 0, 1] },
  ]);
});

test('a track of two recordings is a trace of each', () => {
  const series = [read('1:lat', [1, 2]), read('2:lat', [3, 4]), read('1:lon', [5, 6]), read('2:lon', [7, 8])];
  const drawing = draw('track', ['lat', 'lon'], twoCars, series);
  expect(drawing.label).toBe('Track of lat and lon');
  expect([drawing.up, drawing.across]).toEqual(['lat', 'lon']);
  expect(drawing.traces.map(({ name, xs, ys }) => ({ name, xs, ys }))).toEqual([
    { name: 'track (car 1.csv)', xs: [5, 6], ys: [1, 2] },
    { name: 'track (car 2.csv)', xs: [7, 8], ys: [3, 4] },
  ]);
});

test('an XY panel of several recordings draws each over its own channel, derived ones too', () => {
  const channels = [channel(1, 'speed'), channel(1, 'force'), channel(2, 'speed'), channel(2, 'force')];
  const series = [
    read('1:speed', [1, 2]),
    read('2:speed', [3, 4]),
    read('=power', [5, 6], 1),
    read('=power', [7, 8], 2),
  ];
  const drawing = draw('xy', ['speed', '=power'], channels, series);
  expect(drawing.label).toBe('power over speed');
  expect(drawing.traces.map(({ name, xs, ys }) => ({ name, xs, ys }))).toEqual([
    { name: 'power (car 1.csv)', xs: [1, 2], ys: [5, 6] },
    { name: 'power (car 2.csv)', xs: [3, 4], ys: [7, 8] },
  ]);
});

test('a derived channel of several recordings is a curve of each, with bars of its own', () => {
  const channels = [channel(1, 'speed'), channel(1, 'force'), channel(2, 'speed'), channel(2, 'force')];
  const [power] = channelsNamed('=power', channels, layout.derived);
  const series = [read('=power', [5, 6], 1), read('=power', [7, 8], 2)];
  const { members, byKey } = eachRecording([power!, channel(2, 'speed')], series, channels);
  expect(members.map((one) => legendName(one, members))).toEqual([
    'power (car 1.csv)',
    'power (car 2.csv)',
    'speed',
  ]);
  expect(members.map(({ key }) => byKey.get(key)?.values)).toEqual([[5, 6], [7, 8], undefined]);
  expect(members.map(({ asked }) => asked)).toEqual(['=power', '=power', '2:speed']);
  const bins = [1, 2, 1, 2].map((outputId, mean) => ({ outputId, mean }) as ChannelStatistics);
  expect(members.map((one) => ofRecording(one, bins).map(({ mean }) => mean))).toEqual([
    [0, 2],
    [1, 3],
    [0, 2],
  ]);
  const [only] = eachRecording([power!], series.slice(0, 1), channels).members;
  expect(only).toEqual({ ...power, asked: '=power' });
});

test('a channel whose recording lacks the other is drawn over that of another, by time', () => {
  const channels = [channel(1, 'speed'), channel(2, 'wind')];
  const wind = { ...read('2:wind', [7, 8]), times: [0.9, 2.2] };
  const { traces } = draw('xy', ['speed', 'wind'], channels, [read('1:speed', [1, 2, 3]), wind]);
  expect(traces).toEqual([{ name: 'wind', xs: [2, 3], ys: [7, 8], times: [0.9, 2.2] }]);
  // Where the other recording has not begun, or has ended, it has no value.
  const later = { ...wind, times: [-60, 60] };
  expect(draw('xy', ['speed', 'wind'], channels, [read('1:speed', [1, 2, 3]), later]).traces[0]!.xs).toEqual(
    [],
  );
});

test('curves of several recordings over a channel say of which they are', () => {
  const series = [read('1:lat', [1]), read('2:lat', [3])].map((one) => ({ ...one, x: [0] }));
  const { traces } = draw('lines', ['lat'], twoCars, series);
  expect(traces.map(({ name }) => name)).toEqual(['lat (car 1.csv)', 'lat (car 2.csv)']);
});
