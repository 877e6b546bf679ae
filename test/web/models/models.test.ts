/** What the console decides without a browser: previews, the timeline, machines side by side, reports. */
import { describe, expect, test } from 'vitest';
import type { Dashboard } from '../../../client/types.ts';
import {
  dashboardsByOutput,
  machineNamer,
  machineRows,
  machinesOf,
  mergeDashboards,
  sharedScale,
  withNamesakes,
} from '../../../web/src/dashboard/machines.ts';
import { channelsOf, panelsFor } from '../../../web/src/dashboard/model.ts';
import { formatDuration } from '../../../web/src/format.ts';
import { partsDown } from '../../../web/src/health.ts';
import { axisOfTimes } from '../../../web/src/preview/axis.ts';
import { curvesOf, readBytes, separated } from '../../../web/src/preview/read.ts';
import { draftOf, fieldsOf, moved } from '../../../web/src/reports/model.ts';
import { barOf, sharedWindow, wholeSpan } from '../../../web/src/shared/model.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('the preview of an output', () => {
  test('counts the rows of a recording without a time, and no milliseconds', () => {
    const [from, to] = ['1970-01-01T00:00:00.000Z', '1970-01-01T00:00:01.000Z'];
    const named = (['column', 'row-number'] as const).map(
      (basis) => axisOfTimes({ kind: 'relative', from, to, basis }).name,
    );
    expect(named).toEqual(['milliseconds', 'row']);
  });

  test('reads separated values with quotes, and drops the half line at the end of what came', () => {
    const text =
      'time;"speed; real";note\n2026-03-01T00:00:00Z;1,5;"a ""b"""\n2026-03-01T00:00:01Z;2;x\n2026-03';
    const { table } = readBytes(bytes(text), 'text/csv', false);
    expect(table).toEqual({
      columns: ['time', 'speed; real', 'note'],
      rows: [
        ['2026-03-01T00:00:00Z', '1,5', 'a "b"'],
        ['2026-03-01T00:00:01Z', '2', 'x'],
      ],
    });
    expect(separated('a,b\r\n"1\n2",3', ',')).toEqual([
      ['a', 'b'],
      ['1\n2', '3'],
    ]);
  });

  test('draws numbers over a rising first column, else over the number of the row', () => {
    const over = (text: string) => curvesOf(readBytes(bytes(text), 'text/csv', true).table!);
    expect(over('t,v\n2026-03-01T00:00:00Z,1\n2026-03-01T00:00:02Z,3\n')).toMatchObject({
      axis: { kind: 'time', name: 't' },
      curves: [{ name: 'v', values: [1, 3] }],
    });
    expect(over('t,v\n0.5,1\n0.7,3\n')).toMatchObject({ axis: { kind: 'number' }, xs: [0.5, 0.7] });
    expect(over('v,w\n5,1\n3,2\n')).toMatchObject({ axis: { kind: 'row' }, xs: [1, 2] });
    expect(over('name,kind\nanna,x\nben,y\n')).toBeNull();
  });

  test('reads a time without a zone as UTC, whatever the zone of the machine', () => {
    const over = (text: string) => curvesOf(readBytes(bytes(text), 'text/csv', true).table!)?.xs;
    const { TZ: zone } = process.env;
    process.env.TZ = 'America/New_York';
    try {
      const half = Date.UTC(2026, 2, 14, 9, 30);
      expect(over('t,v\n2026-03-14 09:30:00,1\n2026-03-14T09:30:00.5,3\n')).toEqual([half, half + 500]);
      expect(over('t,v\n2026-03-14T09:30Z,1\n2026-03-14T11:30:01+02:00,3\n')).toEqual([half, half + 1000]);
      expect(over('t,v\n2026-03-14,1\n2026-03-15,3\n')?.[0]).toBe(Date.UTC(2026, 2, 14));
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  test('shows JSON as JSON and, where it is a list of objects, as a table; prose as text; other bytes not at all', () => {
    const list = readBytes(bytes('{"laps":[{"n":1,"s":{"a":2}},{"n":2}]}'), 'application/json', true);
    expect(list.table).toEqual({
      columns: ['n', 's'],
      rows: [
        ['1', '{"a":2}'],
        ['2', ''],
      ],
    });
    expect(readBytes(bytes('{"a":1}\n{"a":2}\n'), 'application/x-ndjson', true).table?.rows).toEqual([
      ['1'],
      ['2'],
    ]);
    const prose = readBytes(
      bytes('Dear all,\nthe run, which began late, ended well.\nYours\n'),
      'text/plain',
      true,
    );
    expect([prose.table, prose.text?.startsWith('Dear all,')]).toEqual([null, true]);
    expect(readBytes(new Uint8Array([80, 65, 82, 49, 0, 1, 2]), '', true)).toMatchObject({
      table: null,
      text: null,
    });
    // A character that is cut at the end is not a fault of the text.
    expect(readBytes(bytes('höhe').subarray(0, 2), 'text/plain', false).text).toBe('h');
  });
});

describe('the timeline of shared sessions', () => {
  const metadata = {
    status: 'open',
    startTimeUtc: '2026-03-14T09:30:00.000Z',
    timeWindowSeconds: 300,
    machineGroup: 7,
    participants: [
      { id: 'anon:0123456789', email: null, startTimeUtc: '2026-03-14T09:31:00.000Z', joinedAt: null },
    ],
  };
  const session = { id: 's', name: 'n', simulationName: null, projectId: 1, metadata };

  test('spans every window and capture, and places them by percent of it', () => {
    const window = sharedWindow(session)!;
    const whole = wholeSpan([window])!;
    expect(whole.toMs).toBeGreaterThan(Date.parse('2026-03-14T09:36:00.000Z'));
    const span = { fromMs: window.startMs, toMs: window.startMs + 600_000 };
    expect(barOf(window.startMs, window.endMs, span)).toEqual({ left: 0, width: 50 });
    expect(barOf(window.startMs - 10, window.startMs, span)).toBeNull();
  });

  test('takes no session for a shared one that only has metadata alike', () => {
    expect(sharedWindow({ ...session, metadata: { status: 'open' } })).toBeNull();
    expect(sharedWindow({ ...session, metadata: null })).toBeNull();
  });
});

describe('machines side by side', () => {
  const source = (outputId: number, name: string, channels: string[]) => ({
    outputId,
    name,
    realm: 'default',
    time: {
      kind: 'absolute' as const,
      from: '2026-03-14T09:30:00Z',
      to: '2026-03-14T09:35:00Z',
      basis: 'column' as const,
    },
    rowCount: 3,
    groups: [],
    channels: channels.map((id) => ({
      key: `${outputId}:${id}`,
      id,
      name: id,
      unit: `of ${id}`,
      type: 'number',
      group: 'default',
      realm: 'default',
    })),
  });
  const dashboard = (id: number, title: string, sources: Dashboard['sources']): Dashboard => ({
    id,
    title,
    sessionId: 's',
    sessionName: 'n',
    dashboardName: 'default',
    dashboardVersion: 'next',
    url: `/dashboards/${id}`,
    scenarioName: null,
    from: null,
    to: null,
    layout: null,
    sources,
    createdAt: '',
  });
  const rowsOf = (boards: readonly Dashboard[], chosen: string[]) => {
    const channels = channelsOf(mergeDashboards(boards[0]!, boards.slice(1)));
    const machineOf = machineNamer(channels, dashboardsByOutput(boards));
    const machines = machinesOf(channels, machineOf);
    const keys = new Set(withNamesakes(channels, chosen));
    const rows = machineRows(panelsFor(mergeDashboards(boards[0]!, []), channels, keys), machines, machineOf);
    return { machines: machines.map(({ title }) => title), rows };
  };

  test('are in one row for each measure, also if a machine lacks it', () => {
    const board = dashboard(1, 'Flight', [
      source(1, 'north', ['speed', 'height']),
      source(2, 'south', ['speed']),
    ]);
    const { machines, rows } = rowsOf([board], ['1:speed', '1:height']);
    expect(machines).toEqual(['north', 'south']);
    const cells = rows.flatMap(({ cells }) =>
      cells.map((cell) => cell?.channels.map(({ key }) => key) ?? null),
    );
    expect(cells).toContainEqual(['1:speed']);
    expect(cells).toContainEqual(['2:speed']);
    expect(rows.find(({ title }) => title === 'height')?.cells[1]).toBeNull();
    expect(rows.every(({ cells }) => cells.length === 2)).toBe(true);
  });

  test('are those of several dashboards too, with one scale for each row', () => {
    const boards = [
      dashboard(1, 'North', [source(1, 'a', ['speed'])]),
      dashboard(2, 'South', [source(9, 'b', ['speed'])]),
    ];
    const { machines, rows } = rowsOf(boards, ['1:speed']);
    expect(machines).toEqual(['North', 'South']);
    const loaded = new Map(
      Object.entries({ '1:speed': [1, 5], '9:speed': [-2, 3] }).map(([channel, values]) => [
        channel,
        { channel, name: '', unit: null, times: [], values },
      ]),
    );
    expect(sharedScale(rows[0]!, loaded)).toEqual({ min: -2, max: 5 });
  });
});

test('a report is sent with keys made from its names, columns in their order and values of their own kind', () => {
  const draft = draftOf({
    key: 'flights',
    name: 'Flüge der Woche',
    fileName: '',
    dimensionNameFilter: '',
    covers: 'sessions',
    isDefault: false,
    revision: 1,
    columns: [
      {
        columnKey: '',
        name: 'Session name',
        expression: 'dimension.title',
        type: 'string',
        format: '',
        source: 'dimension',
      },
      {
        columnKey: 'second',
        name: '2nd',
        expression: 'user.name',
        type: 'string',
        format: '',
        source: 'user',
      },
    ],
    filters: [
      { filterKey: 'a', expression: 'dimension.id', value: 7, source: 'dimension' },
      { filterKey: 'b', expression: 'metadata.code', value: '7', source: 'metadata' },
    ],
  });
  draft.columns = moved(draft.columns, 1, -1);
  const fields = fieldsOf({ ...draft, key: '' });
  expect(fields.key).toBe('fluge-der-woche');
  expect(fields.columns.map(({ columnKey, order }) => [columnKey, order])).toEqual([
    ['second', 10],
    ['sessionName', 20],
  ]);
  expect(fields.filters.map(({ value }) => value)).toEqual([7, '7']);
});

test('the parts that are down are found in the metrics, each once', () => {
  const text = [
    '# TYPE sdp_part_up gauge',
    'sdp_part_up{part="database"} 1',
    'sdp_part_up{part="temporal"} 0',
    'sdp_part_up{part="storage",process="api"} 0',
    'sdp_part_up{part="temporal"} 0',
    'sdp_parts 0',
  ].join('\n');
  expect(partsDown(text)).toEqual(['storage', 'temporal']);
});

test('a duration reads in two units at the most', () => {
  expect([420, 3_240, 60_000, 250_000, 7_500_000, 270_000_000].map(formatDuration)).toEqual([
    '420 ms',
    '3.2 s',
    '1 min',
    '4 min 10 s',
    '2 h 5 min',
    '3 d 3 h',
  ]);
});
