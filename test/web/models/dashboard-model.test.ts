import { describe, expect, test } from 'vitest';
import type { Annotation, Dashboard, DashboardSource } from '../../../client/types.ts';
import { annotationsWith } from '../../../web/src/dashboard/annotation-search.ts';
import { heights, stretches, valueAt } from '../../../web/src/dashboard/chart/curve.ts';
import { measuresOf } from '../../../web/src/dashboard/machines.ts';
import { formatDifference, linesOf, markedValues, sparseLines } from '../../../web/src/dashboard/marks.ts';
import {
  carryKeys,
  channelsOf,
  contentOf,
  firstChoice,
  fullSpan,
  groupChannels,
  kindOfTime,
  legendName,
  panelsFor,
  timeKinds,
} from '../../../web/src/dashboard/model.ts';
import { hasRowNumbers } from '../../../web/src/dashboard/time.ts';
import { channel, dashboard, source } from '../support/dashboards.ts';

describe('what a dashboard shows', () => {
  const speed = (outputId: number) => channel(outputId, 'speed', { unit: 'm/s' });
  const two = dashboard([
    source(1, [
      speed(1),
      channel(1, 'target', { unit: 'm/s' }),
      channel(1, 'gear'),
      channel(1, 'note', { type: 'text' }),
    ]),
    source(2, [speed(2), channel(2, 'gear')]),
  ]);

  test('opens with the suggested layout, leaving out what does not exist', () => {
    const layout = {
      version: 1,
      panels: [{ title: 'A', group: null, unit: null, channels: ['1:gear', '1:gone', '1:note'] }],
    };
    const suggested = { ...two, layout };
    expect(firstChoice(suggested, channelsOf(suggested), 'absolute')).toEqual(['1:gear']);
  });

  test('accepts hand-written layouts: names for channels, and unknown panels', () => {
    const panels = [
      null,
      7,
      { title: 5, channels: 'speed' },
      { title: 'Fast [m/s]', unit: 'm/s', channels: ['speed', 3] },
    ];
    const written = { ...two, layout: { version: 1, panels } as unknown as Dashboard['layout'] };
    expect(firstChoice(written, channelsOf(written), 'absolute')).toEqual(['1:speed', '2:speed']);
    const [panel] = panelsFor(written, channelsOf(written), new Set(['1:speed', '2:speed']));
    expect(panel).toMatchObject({ title: 'Fast', unit: 'm/s' });
    const empty = { ...two, layout: {} as Dashboard['layout'] };
    expect(firstChoice(empty, channelsOf(empty), 'absolute')).toHaveLength(5);
  });

  test('opens with a few channels that can be drawn when nothing is suggested', () => {
    expect(firstChoice(two, channelsOf(two), 'absolute')).toEqual([
      '1:speed',
      '1:target',
      '1:gear',
      '2:speed',
      '2:gear',
    ]);
  });

  test('gives channels without a unit a panel each where nobody laid them out', () => {
    const sources = [source(1, [channel(1, 'pressure'), channel(1, 'wind'), speed(1)])];
    const made = dashboard(sources, {
      version: 1,
      panels: [{ title: 'default', group: 'd', unit: null, channels: ['1:pressure', '1:wind'] }],
    });
    const panels = panelsFor(made, channelsOf(made), new Set(['1:pressure', '1:wind']));
    expect(panels.map((panel) => panel.title)).toEqual(['pressure', 'wind']);
    const written = dashboard(sources, {
      version: 1,
      panels: [{ title: 'Air', group: null, unit: null, channels: ['pressure', 'wind'] }],
    });
    const kept = panelsFor(written, channelsOf(written), new Set(['1:pressure', '1:wind']));
    expect(kept.map((panel) => [panel.title, panel.channels.length])).toEqual([['Air', 2]]);
  });

  test('names generated panels by their channels, never by the group of a file without groups', () => {
    const sources = [source(1, [speed(1), channel(1, 'target', { unit: 'm/s' })])];
    const made = dashboard(sources, {
      version: 1,
      panels: [{ title: 'default [m/s]', group: 'default', unit: 'm/s', channels: ['1:speed', '1:target'] }],
    });
    const titles = (keys: string[]) =>
      panelsFor(made, channelsOf(made), new Set(keys)).map((panel) => [panel.title, panel.unit]);
    expect(titles(['1:speed'])).toEqual([['speed', 'm/s']]);
    expect(titles(['1:speed', '1:target'])).toEqual([['speed, target', 'm/s']]);
  });

  test('carries the chosen channels to a newer output of the same recording', () => {
    const before = dashboard([source(1, [speed(1)]), { ...source(2, [speed(2)]), name: 'other.csv' }]);
    const newer = { ...source(9, [speed(9)]), name: 'machine-1.csv' };
    const after = dashboard([newer, before.sources[1]!]);
    expect(carryKeys(before, after, ['1:speed', '2:speed', '7:gone'])).toEqual(['9:speed', '2:speed']);
    expect(contentOf(before)).not.toBe(contentOf(after));
  });

  test('shares a panel among the same unit of all machines, and among namesakes without a unit', () => {
    const channels = channelsOf(two);
    const panels = panelsFor(two, channels, new Set(channels.map((one) => one.key)));
    const members = panels.map((panel) => panel.channels.map((one) => one.key));
    expect(members).toEqual([['1:speed', '1:target', '2:speed'], ['1:gear', '2:gear'], ['1:note']]);
    expect(panels.map((panel) => [panel.title, panel.unit])).toEqual([
      ['speed, target', 'm/s'],
      ['gear', ''],
      ['note', ''],
    ]);
    expect(panels[0]!.channels.map((one) => legendName(one, panels[0]!.channels))).toEqual([
      'speed (cab-1)',
      'target',
      'speed (cab-2)',
    ]);
  });

  test('spans all recordings of one kind of time, and gives a single row some room', () => {
    const start = '1970-01-01T00:00:00.000Z';
    const relative = {
      ...source(3, []),
      time: { kind: 'relative', from: start, to: start, basis: 'column' as const },
    };
    const mixed = dashboard([source(1, []), relative]);
    expect(timeKinds(mixed)).toEqual(['absolute', 'relative']);
    expect(fullSpan(mixed, 'relative')).toEqual({ fromMs: -500, toMs: 500 });
    expect(fullSpan(mixed, 'absolute')!.toMs - fullSpan(mixed, 'absolute')!.fromMs).toBe(3_600_000);
    expect(fullSpan(dashboard([]), 'absolute')).toBeNull();
  });

  test('a time belongs to the recordings that are nearest: those with a clock, or those without', () => {
    const time = { kind: 'relative', from: '1970-01-01T00:00:00.000Z', to: '1970-01-01T01:00:00.000Z' };
    const relative = { ...source(3, []), time: { ...time, basis: 'column' as const } };
    const kinds = (sources: DashboardSource[]) =>
      [55_600, Date.parse('2026-03-14T08:00:00Z')].map(kindOfTime(dashboard(sources)));
    expect(kinds([source(1, []), relative])).toEqual(['relative', 'absolute']);
    expect(kinds([source(1, [])])).toEqual(['absolute', 'absolute']);
    expect(kinds([relative])).toEqual(['relative', 'relative']);
  });

  test('a measure of several realms stands below none of them, one of a single realm below that', () => {
    const offered = groupChannels(measuresOf(channelsOf(two)), '');
    expect(offered.map(({ title, channels }) => [title, channels.map(({ name }) => name)])).toEqual([
      ['Vehicle', ['speed', 'gear']],
      ['cab-1 · Vehicle', ['target', 'note']],
    ]);
  });

  test('a realm for each file has its name without the digest, and no generated identifier', () => {
    const names = ['lap.csv-59fce2d2eef592ae', '01a235ea-add3-7e30-9b4b-77749dea539e.0.1'];
    const sources = names.map((name, index) => ({
      ...source(index, [channel(index, 'speed', { realm: name })]),
      name,
    }));
    expect(channelsOf(dashboard(sources)).map(({ realm }) => realm)).toEqual(['lap.csv', 'recording 2']);
  });

  test('has row numbers when no recording with relative times has a time', () => {
    const time = { kind: 'relative', from: null, to: null, basis: 'row-number' as const };
    const numbered = { ...source(3, []), time };
    const timed = { ...source(4, []), time: { ...time, basis: 'column' as const } };
    expect(hasRowNumbers(dashboard([source(1, []), numbered]))).toBe(true);
    expect(hasRowNumbers(dashboard([numbered, timed]))).toBe(false);
    expect(hasRowNumbers(dashboard([source(1, [])]))).toBe(false);
  });

  test('finds channels by words of realm, group, name and unit in any order', () => {
    const groups = groupChannels(channelsOf(two), 'GEAR cab-2');
    expect(groups.map((group) => [group.title, group.channels.map((one) => one.key)])).toEqual([
      ['cab-2 · Vehicle', ['2:gear']],
    ]);
  });
});

describe('points of every type', () => {
  const [state, text, number] = channelsOf(
    dashboard([
      source(1, [
        channel(1, 'on', { type: 'boolean' }),
        channel(1, 'mode', { type: 'text' }),
        channel(1, 'n', { type: 'integer' }),
      ]),
    ]),
  );
  const points = (values: (number | string | boolean | null)[]) => ({
    channel: 'x',
    name: 'x',
    unit: null,
    times: values.map((_value, index) => index * 10),
    values,
  });

  test('become heights: numbers themselves, states 0 and 1, words their place, gaps nothing', () => {
    const words: string[] = [];
    expect(heights(points([1.5, null, Number.NaN]), words)).toEqual([1.5, null, null]);
    expect(heights(points([true, false, null]), words)).toEqual([1, 0, null]);
    expect(heights(points(['idle', 'run', 'idle']), words)).toEqual([0, 1, 0]);
    expect(heights(points(['stop', 'run']), words)).toEqual([2, 1]);
    expect(words).toEqual(['idle', 'run', 'stop']);
  });

  test('of states are bands to the next point, over points of other channels and up to gaps', () => {
    expect(stretches([0, 1, 2, 3, 4, 5], [1, undefined, 1, 0, null, 0])).toEqual([
      { from: 0, to: 3, state: 1 },
      { from: 3, to: 4, state: 0 },
      { from: 5, to: 5, state: 0 },
    ]);
  });

  test('are read at two cursors with their difference, as fine as the rows are', () => {
    const series = points([1.5, 2, 4.25]);
    expect(markedValues(series, number!, { a: null, b: null })).toBe('');
    expect(markedValues(series, number!, { a: 0, b: null })).toBe('A 1.5');
    expect(markedValues(series, number!, { a: 20, b: 0 })).toBe('A 4.25 · B 1.5 · Δ −2.75');
    expect(markedValues(points(['idle', 'run']), text!, { a: 0, b: 10 })).toBe('A idle · B run');
    expect(
      [[1320, 10] as const, [-61_500, 1] as const, [2000, 1000] as const].map(([ms, stepMs]) =>
        formatDifference(ms, stepMs, 'elapsed'),
      ),
    ).toEqual(['1.32 s', '−1 min 1.500 s', '2 s']);
  });

  test('are read as what they are', () => {
    expect(valueAt(points([true, false]), state!, 10)).toBe('false');
    expect(valueAt(points([1, 0]), state!, 2)).toBe('true');
    expect(valueAt(points(['idle', 'run']), text!, 90)).toBe('run');
    expect(valueAt(points([3, null]), number!, 10)).toBe('–');
    expect(valueAt(undefined, number!, 10)).toBe('–');
    // Only the first row of a gap is among the points.
    const gap = { ...points([3, null, 4]), times: [0, 10, 60_000] };
    const fine = { ...number!, stepMs: 10 };
    expect([0, 50_000, 59_995, 60_000].map((at) => valueAt(gap, fine, at))).toEqual(['3', '–', '4', '4']);
  });

  test('of states last until the next change, as they are drawn', () => {
    const changes = { ...points(['idle', 'run', null, 'idle']), times: [0, 100_000, 200_000, 300_000] };
    const moments = [0, 99_999, 100_000, 199_000, 290_000, 300_000];
    const read = moments.map((at) => valueAt(changes, { ...text!, stepMs: 10 }, at));
    expect(read).toEqual(['idle', 'idle', 'run', 'run', '–', 'idle']);
  });

  test('are none where a recording has not begun, or has ended', () => {
    const fine = { ...number!, stepMs: 10 };
    const read = [-500, -5, 25, 500].map((at) => valueAt(points([1, 2, 3]), fine, at));
    expect(read).toEqual(['–', '1', '3', '–']);
    expect(valueAt(points(['idle', 'run']), { ...text!, stepMs: 10 }, 500)).toBe('–');
    expect(valueAt(points([7]), { ...number!, stepMs: 0 }, 300)).toBe('7');
  });
});

test('words beside each other share a line, words that would overlap take the next, and the rest are left out', () => {
  const at = (left: number, right: number) => ({ left, right });
  expect(linesOf([at(0, 50), at(60, 90), at(40, 70), at(45, 80), at(95, 99)], 2, 6)).toEqual([
    0,
    0,
    1,
    null,
    1,
  ]);
});

test('where the words of annotations do not all have room, they take one line, so that they do not hide the curves', () => {
  const at = (left: number, right: number) => ({ left, right });
  expect(sparseLines([at(0, 50), at(10, 60)], 2, 6)).toEqual([0, 1]);
  expect(sparseLines([at(0, 50), at(10, 60), at(20, 70), at(80, 90)], 2, 6)).toEqual([0, null, null, 0]);
});

test('annotations are found by label, text, tag and author', () => {
  const note = (label: string, text: string, tags: string[], createdByName: string) =>
    ({ label, text, tags, createdByName }) as unknown as Annotation;
  const notes = [note('Apex', 'late', ['lap 3'], 'Eva'), note('着陸', '', [], 'Ivan Ek')];
  for (const [search, found] of [
    ['apex', 1],
    ['LATE', 1],
    ['lap 3 ', 1],
    ['着', 1],
    ['ek', 1],
    ['', 2],
    ['x y', 0],
  ] as const)
    expect(annotationsWith(notes, search), search).toHaveLength(found);
});
