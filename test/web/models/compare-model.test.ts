/** How a comparison lays recordings over each other, without a browser. */
import { describe, expect, test } from 'vitest';
import type { Annotation, ChannelSeries, Dashboard } from '../../../client/types.ts';
import {
  compareAddress,
  compareDashboards,
  readCompareView,
  withDashboard,
  withoutDashboard,
} from '../../../web/src/compare/address.ts';
import { commonValues, shiftsOf } from '../../../web/src/compare/alignment.ts';
import {
  differencePanel,
  differencesOf,
  subtract,
  subtractMiddles,
} from '../../../web/src/compare/difference.ts';
import {
  commonSpan,
  measuresOf,
  ownSpan,
  panelsOf,
  recordingsOf,
  shownRecordings,
  suggestedMeasures,
} from '../../../web/src/compare/model.ts';
import { channelsOf } from '../../../web/src/dashboard/model.ts';

const start = Date.UTC(2026, 2, 14, 9, 30);

/** A dashboard with recordings of these names, a minute long each; the channels have the given units. */
function dashboard(
  id: number,
  sessionName: string,
  fromMs: number,
  names = ['run.csv'],
  units: Record<string, string> = { speed: 'km/h', gear: '' },
): Dashboard {
  return {
    id,
    title: 'Recording',
    sessionId: `session-${id}`,
    sessionName,
    dashboardName: '',
    dashboardVersion: '',
    url: '',
    scenarioName: null,
    from: null,
    to: null,
    layout: null,
    createdAt: '',
    sources: names.map((name, index) => {
      const outputId = id * 100 + index;
      return {
        outputId,
        name,
        realm: '',
        rowCount: 60,
        groups: [],
        time: {
          kind: 'absolute',
          from: new Date(fromMs).toISOString(),
          to: new Date(fromMs + 60_000).toISOString(),
        },
        channels: Object.entries(units).map(([channel, unit]) => ({
          key: `${outputId}:${channel}`,
          id: channel,
          name: channel,
          unit,
          type: 'number',
          realm: '',
          group: 'default',
        })),
      };
    }),
  } as unknown as Dashboard;
}

const line = (channel: string, times: number[], values: (number | null)[]): ChannelSeries => ({
  channel,
  name: channel,
  unit: null,
  times,
  values,
});
const view = (query: string) => readCompareView(new URLSearchParams(query));
const three = [
  dashboard(1, 'Car 44', start),
  dashboard(2, 'Car 16', start + 3_600_000, ['a.csv', 'b.csv']),
  dashboard(3, 'Car 44', start + 7_200_000),
];

describe('recordings', () => {
  test('are distinguished by their session, their file, and a number', () => {
    expect(recordingsOf(three, [1, 2, 3]).map(({ id, title }) => [id, title])).toEqual([
      ['1.1', 'Car 44'],
      ['2.1', 'Car 16 · a.csv'],
      ['2.2', 'Car 16 · b.csv'],
      ['3.1', 'Car 44 (2)'],
    ]);
    // The command line adds a digest to the name of a file.
    const names = ['run.csv', 'run.csv-3433511ab963755e'];
    const twice = channelsOf(dashboard(1, 'Car 44', start, names));
    expect([...new Set(twice.map(({ sourceName }) => sourceName))]).toEqual(['run.csv', 'run.csv (2)']);
  });

  test('keep their colours when others leave and come', () => {
    const colours = (places: number[]) =>
      Object.fromEntries(recordingsOf(three, places).map(({ id, colour }) => [id, colour]));
    expect(colours([1, 2, 3])).toEqual({ '1.1': 0, '2.1': 1, '2.2': 2, '3.1': 3 });
    const left = withoutDashboard([1, 2, 3], 2, 2);
    expect(colours(left)).toEqual({ '1.1': 0, '3.1': 3 });
    expect(colours(withDashboard(left, 2))).toEqual({ '1.1': 0, '3.1': 3, '2.1': 4, '2.2': 5 });
    expect(withDashboard(withoutDashboard([1, 3], 1, 1), 1)).toEqual([1, 3]);
    expect(withoutDashboard([1, 3], 3, 1)).toEqual([1]);
  });

  test('are shown up to ten at first, then as chosen', () => {
    const many = Array.from({ length: 12 }, (_, index) => dashboard(index + 1, `Stint ${index}`, start));
    const recordings = recordingsOf(
      many,
      many.map(({ id }) => id),
    );
    expect(shownRecordings(recordings, null)).toHaveLength(10);
    expect(shownRecordings(recordings, ['2.1'])).toHaveLength(11);
  });
});

const nothing = { annotations: new Map(), starts: new Map() };

describe('the common axis', () => {
  const recordings = recordingsOf(three, [1, 3]);
  /** One before the recording begins, and not in order. */
  const from = [40_000, 20_000, -1].map((atMs) => new Date(start + atMs).toISOString());
  const lap = from.map((at) => ({ label: 'Lap 1', from: at })) as unknown as Annotation[];

  test('begins at the start of each recording, at the clock, or at its first annotation', () => {
    const none = new Map<string, number>();
    const starts = shiftsOf(recordings, { by: 'start' }, none, nothing);
    expect(commonSpan(recordings, starts)).toEqual({ fromMs: 0, toMs: 60_000 });
    const clock = shiftsOf(recordings, { by: 'clock' }, none, nothing);
    expect(commonSpan(recordings, clock)).toEqual({ fromMs: start, toMs: start + 7_260_000 });
    const laps = shiftsOf(recordings, { by: 'label', label: 'Lap 1' }, none, {
      ...nothing,
      annotations: new Map([['session-1', lap]]),
    });
    expect([...laps.values()]).toEqual([-start - 20_000, -start - 7_200_000]);
  });

  test('begins where a step channel first has a value, and at the start where it never has', () => {
    const starts = new Map([['1.1', new Map([['2', start + 30_000]])]]);
    const align = { by: 'step', measure: 'lap', value: '2' } as const;
    const shifts = shiftsOf(recordings, align, new Map(), { ...nothing, starts });
    expect([...shifts.values()]).toEqual([-start - 30_000, -start - 7_200_000]);
    const values = [
      [
        'a',
        new Map([
          ['1', 0],
          ['2', 5],
        ]),
      ],
      [
        'b',
        new Map([
          ['2', 1],
          ['3', 2],
        ]),
      ],
    ] as const;
    expect(commonValues(new Map(values))).toEqual(['2', '1', '3']);
  });

  test('an offset moves a recording, and what is read of it', () => {
    const shifts = shiftsOf(recordings, { by: 'start' }, new Map([['3.1', 15_000]]), nothing);
    expect(commonSpan(recordings, shifts)).toEqual({ fromMs: 0, toMs: 75_000 });
    const shown = { fromMs: 0, toMs: 20_000 };
    const moved = recordings[1]!;
    expect(ownSpan(moved, shifts.get('3.1')!, shown)).toEqual({
      fromMs: moved.span.fromMs,
      toMs: moved.span.fromMs + 5000,
    });
    expect(ownSpan(moved, shifts.get('3.1')!, { fromMs: 0, toMs: 10_000 })).toBeNull();
  });
});

describe('measures', () => {
  const differing = dashboard(4, 'Miles', start, ['run.csv'], { speed: 'mph', gear: '' });

  test('are one for all recordings by name and unit, and those in common are suggested', () => {
    const recordings = recordingsOf([three[0]!, differing], [1, 4]);
    expect(measuresOf(recordings).map(({ key, sourceName }) => [key, sourceName])).toEqual([
      ['speed [km/h]', 'in 1 of 2 recordings'],
      ['gear', 'in 2 of 2 recordings'],
      ['speed [mph]', 'in 1 of 2 recordings'],
    ]);
    expect(suggestedMeasures(three[0]!, recordings)).toEqual(['gear']);
  });

  test('a panel has each recording once, by its own name', () => {
    const [panel] = panelsOf(['speed [km/h]'], recordingsOf(three, [1, 2, 3]));
    expect(panel!.channels.map(({ label, colour }) => [label, colour])).toEqual([
      ['Car 44', 0],
      ['Car 16 · a.csv', 1],
      ['Car 16 · b.csv', 2],
      ['Car 44 (2)', 3],
    ]);
  });
});

describe('a difference', () => {
  test('is taken on the line between the points of the other, and only where both are', () => {
    const base = line('b', [0, 10, 20], [0, 100, null]);
    expect(subtract(line('a', [-5, 0, 5, 10, 15, 30], [1, 1, 60, 90, 7, 7]), base)).toEqual({
      times: [-5, 0, 5, 10, 15, 30],
      values: [null, 1, 10, -10, null, null],
    });
  });

  /** As the platform thins rows out: first, lowest, highest and last of each of 500 short times. */
  const thinned = (rows: number, [from, to]: [number, number], height: (time: number) => number) => {
    const all = Array.from({ length: rows }, (_, row) => from + (row * (to - from)) / rows);
    const times = Array.from({ length: 500 }, (_, place) => {
      const own = all.slice((place * rows) / 500, ((place + 1) * rows) / 500);
      const [lowest, ...rest] = own.toSorted((x, y) => height(x) - height(y));
      return [...new Set([own[0]!, lowest!, rest.at(-1)!, own.at(-1)!])].sort((x, y) => x - y);
    }).flat();
    return line('x', times, times.map(height));
  };

  test.each([900, 6000, 12_000])('of one signal at two rates is true from far away: period %i', (period) => {
    const height = (time: number) => 50 * Math.sin((time / period) * 2 * Math.PI);
    const own = thinned(63_000, [700, 900_700], (time) => height(time) + 1);
    const { values } = subtractMiddles(own, thinned(100_000, [0, 1e6], height));
    expect(values.length).toBe(250);
    expect(Math.max(...values.map((value) => Math.abs(value! - 1)))).toBeLessThan(6);
  });

  test('is that of the rows where all of them are read', () => {
    const times = Array.from({ length: 1800 }, (_, index) => index);
    const noise = (time: number) => ((time * 7919) % 101) - 50;
    const [one, other] = recordingsOf(three, [1, 3]);
    const [panel] = panelsOf(['speed [km/h]'], [one!, other!]);
    const raised = (key: string, index: number) =>
      line(
        key,
        times,
        times.map((time) => noise(time) + index),
      );
    const series = new Map(panel!.channels.map(({ key }, index) => [key, raised(key, index)]));
    const [found] = differencesOf([panel!], one!, series, () => 1800).values();
    expect(new Set(found!.values)).toEqual(new Set([1]));
    expect(
      differencesOf([panel!], one!, series, () => 9000)
        .values()
        .next().value!.values.length,
    ).toBe(250);
  });

  test('has a curve for every other recording in its own colour', () => {
    const [one, other] = recordingsOf(three, [1, 3]);
    const [panel] = panelsOf(['speed [km/h]'], [one!, other!]);
    const difference = differencePanel(panel!, one!)!;
    expect(difference.channels.map(({ label, colour }) => [label, colour])).toEqual([['Car 44 (2)', 1]]);
    const series = new Map(
      panel!.channels.map(({ key }, index) => [key, line(key, [0, 1], [index * 5, index * 5])]),
    );
    expect(
      [...differencesOf([panel!], one!, series, () => undefined).values()].map(({ values }) => values),
    ).toEqual([[5, 5]]);
    expect(differencePanel({ ...panel!, channels: panel!.channels.slice(0, 1) }, one!)).toBeNull();
  });
});

describe('the address', () => {
  test('holds the whole view and gives it back', () => {
    const address =
      '/compare?dashboards=1,-2,3&channels=a%252Cb,speed%20%5Bkm%2Fh%5D&hide=2.1&align=label:Lap%201' +
      '&offsets=3.1:-1500&from=-500&to=9000&clock=local&against=3.1&difference=true&statistics=true&a=10&b=-20';
    const read = view(address.slice(address.indexOf('?')));
    expect(compareAddress(read)).toBe(address);
    expect(read.channels).toEqual(['a,b', 'speed [km/h]']);
    expect(read.offsets).toEqual(new Map([['3.1', -1500]]));
    expect(compareDashboards([7, 9])).toBe('/compare?dashboards=7,9');
  });

  test('leaves out what is no view', () => {
    const read = view(
      '?dashboards=x,1,1,0,-1000,2&offsets=1.1:x,2:1e9&from=9&to=3&align=moon&a=soon&channels=%25',
    );
    expect([read.places, read.offsets.size, read.span, read.align, read.a]).toEqual([
      [1, 2],
      0,
      null,
      { by: 'start' },
      null,
    ]);
  });
});
