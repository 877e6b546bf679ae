/** What differs between sessions, from the platform's answers to rows. */
import { describe, expect, test } from 'vitest';
import { type ComparedSession, differencesOf, textsOf } from '../../../client/session-differences.ts';

interface Parts {
  readonly metadata?: object | null;
  /** Configurations by node; the first node is the input of the others. */
  readonly nodes?: Readonly<Record<string, object>>;
  readonly session?: object;
  readonly node?: object;
  readonly runs?: readonly object[] | null;
  readonly outputs?: readonly object[] | null;
  readonly sources?: readonly object[] | null;
  readonly hasMoreRuns?: boolean;
  readonly hasMoreFiles?: boolean;
}

const sessionOf = ({ metadata = {}, nodes = {}, session = {}, node = {} }: Parts) => ({
  state: 'done',
  project: { title: 'Test track' },
  simulationName: null,
  scenarios: [],
  owner: { id: 'o', name: 'Mia' },
  frozen: false,
  priority: 0,
  metadata,
  sessionTemplate: { name: 'laps', description: '', configuration: '{}' },
  templateChanged: false,
  nodeInstances: Object.entries(nodes).map(([name, configuration], place) => ({
    id: place + 1,
    name,
    nodeTemplateName: name,
    state: 'Succeeded',
    statusDetails: '',
    rejectedInputs: 0,
    currentOutputId: place,
    parentIds: place === 0 ? [] : [1],
    configuration: JSON.stringify(configuration),
    ...node,
  })),
  ...session,
});

const compared = (parts: Parts) =>
  ({
    session: sessionOf(parts),
    runs: parts.runs === undefined ? [] : parts.runs,
    hasMoreRuns: parts.hasMoreRuns ?? false,
    outputs: parts.outputs === undefined ? [] : parts.outputs,
    hasMoreFiles: parts.hasMoreFiles ?? false,
    dashboards: parts.sources === null ? null : [{ sources: parts.sources ?? [] }],
  }) as unknown as ComparedSession;

const run = (nodeInstanceId: number, version: string | null) => ({
  nodeInstanceId,
  attempts: [{ runner: { version: 'lost' } }, { runner: { version } }],
});
const file = (nodeInstanceId: number, fileName: string, sha256: string | null) => ({
  nodeInstanceId,
  outputIdentifier: `id-${fileName}`,
  sizeBytes: 12,
  sha256,
  metadata: { fileName },
});
const source = (name: string, rowCount: number, channels: readonly string[], outputId = 1) => ({
  outputId,
  name,
  rowCount,
  time: { kind: 'absolute', basis: 'column', from: '2026-03-14T09:30:00Z', to: '2026-03-14T09:31:40Z' },
  channels: channels.map((channel) => ({ name: channel, unit: 'km/h', type: 'number' })),
});

const rowsOf = (...parts: Parts[]) =>
  differencesOf(parts.map(compared)).rows.map((row) => [row.of, row.name, ...textsOf(row)]);

describe('between sessions', () => {
  test.each<[string, Parts, Parts, string[][]]>([
    [
      'metadata are compared by their paths, those that one lacks too',
      { metadata: { car: 44, wing: { angle: 3, side: 'left' }, wet: false } },
      { metadata: { car: 16, wing: { angle: 4, side: 'left' }, 'a.b': null } },
      [
        ['Metadata', 'car', '44', '16'],
        ['Metadata', 'wing.angle', '3', '4'],
        ['Metadata', 'wet', 'no', ''],
        ['Metadata', '["a.b"]', '', 'null'],
      ],
    ],
    [
      'a session without metadata differs by each key alone',
      { metadata: null },
      { metadata: { car: 16 } },
      [['Metadata', 'car', '', '16']],
    ],
    [
      'a number and its text never read the same',
      { metadata: { car: 44 } },
      { metadata: { car: '44' } },
      [['Metadata', 'car', '44', '"44"']],
    ],
    [
      'a change in one field of a configuration is one row, also within a list',
      { nodes: { in: {}, laps: { gate: { width: 3 }, series: [{ name: 'a', unit: 'm' }], tags: ['x'] } } },
      { nodes: { in: {}, laps: { gate: { width: 4 }, series: [{ name: 'a', unit: 's' }], tags: ['x'] } } },
      [
        ['Node laps', 'Configuration gate.width', '3', '4'],
        ['Node laps', 'Configuration series[0].unit', 'm', 's'],
      ],
    ],
    [
      'a group in the place of a value shows both',
      { nodes: { in: { gate: 3 } } },
      { nodes: { in: { gate: { width: 3 } } } },
      [
        ['Node in', 'Configuration gate', '3', ''],
        ['Node in', 'Configuration gate.width', '', '3'],
      ],
    ],
    [
      'a node that one lacks is one row',
      { nodes: { in: {}, laps: { depth: 1, width: 2 } } },
      { nodes: { in: {} } },
      [['Node laps', 'Node template', 'laps', '']],
    ],
    [
      'the version is that of the runner that ended the newest completed run',
      { nodes: { in: {}, laps: {} }, runs: [run(2, '1.1.0'), run(2, '1.0.0')] },
      { nodes: { in: {}, laps: {} }, runs: [run(2, '1.0.0')] },
      [['Node laps', 'Runner version', '1.1.0', '1.0.0']],
    ],
    [
      'a version beyond the runs that were read is not called missing',
      { nodes: { in: {}, laps: {} }, runs: [], hasMoreRuns: true },
      { nodes: { in: {}, laps: {} }, runs: [run(2, '1.0.0')] },
      [['Node laps', 'Runner version', 'not among the newest runs', '1.0.0']],
    ],
    [
      'files of an input are named where not all have them, and the newest output by its bytes',
      {
        nodes: { in: {}, laps: {} },
        outputs: [file(1, 'a.csv', 'a'.repeat(64)), file(1, 'b.csv', 'b'.repeat(64)), file(2, 'x', null)],
      },
      {
        nodes: { in: {}, laps: {} },
        outputs: [
          file(1, 'a.csv', 'a'.repeat(64)),
          file(1, 'b.csv', 'c'.repeat(64)),
          file(2, 'y', 'd'.repeat(64)),
        ],
      },
      [
        [
          'Node in',
          'Files',
          'b.csv, 12 bytes, SHA-256 bbbbbbbbbbbb',
          'b.csv, 12 bytes, SHA-256 cccccccccccc',
        ],
        ['Node laps', 'Newest output', '12 bytes', '12 bytes, SHA-256 dddddddddddd'],
      ],
    ],
    [
      'the bytes of recordings and dashboards, which name their session, are not compared',
      {
        nodes: { in: {}, laps: {}, charts: {} },
        outputs: [2, 3].map((node) => ({
          ...file(node, 'x', 'a'),
          metadata: { kind: node === 2 ? 'recording' : 'dashboard' },
        })),
      },
      {
        nodes: { in: {}, laps: {}, charts: {} },
        outputs: [2, 3].map((node) => ({
          ...file(node, 'x', 'b'),
          metadata: { kind: node === 2 ? 'recording' : 'dashboard' },
        })),
      },
      [],
    ],
    [
      'the only recordings are compared, of whatever name, by rows and by channels that not both have',
      { sources: [source('a.csv', 100, ['speed', 'gear'])] },
      { sources: [source('b.csv', 99, ['speed', 'wing', 'tyre'], 2)] },
      [
        ['Recording', 'Rows', '100', '99'],
        ['Recording', 'Channels', 'gear [km/h]', 'wing [km/h]; tyre [km/h]'],
      ],
    ],
    [
      'of several recordings those of one name are compared',
      { sources: [source('a', 100, ['speed']), source('b', 5, ['speed'], 2)] },
      { sources: [source('b', 6, ['speed'], 3)] },
      [
        ['Recording a', 'Rows', '100', ''],
        ['Recording b', 'Rows', '5', '6'],
      ],
    ],
    [
      'template, state and what failed',
      {
        nodes: { in: {} },
        session: {
          state: 'failed',
          sessionTemplate: { name: 'laps', description: '', configuration: '{"a":1}' },
        },
      },
      {
        nodes: { in: {} },
        node: { state: 'Failed', statusDetails: 'Row 7.' },
        session: { templateChanged: true },
      },
      [
        ['Session', 'State', 'failed', 'done'],
        ['Template', 'Newer than the session', 'no', 'yes'],
        ['Template', 'Configuration a', '1', ''],
        ['Node in', 'State', 'Succeeded', 'Failed'],
        ['Node in', 'Reason', '', 'Row 7.'],
      ],
    ],
  ])('%s', (_, left, right, rows) => {
    expect(rowsOf(left, right)).toEqual(rows);
    expect(rowsOf(left, left)).toEqual([]);
  });

  test('a row has a value for each of three, and one whole thing that one lacks leaves the others compared', () => {
    const [a, b] = [{ nodes: { in: {}, laps: { depth: 1 } } }, { nodes: { in: {}, laps: { depth: 2 } } }];
    expect(rowsOf(a, b, { nodes: { in: {} } })).toEqual([
      ['Node laps', 'Node template', 'laps', 'laps', ''],
      ['Node laps', 'Configuration depth', '1', '2', ''],
    ]);
  });

  test('equal things are counted, and neither what none has nor what only one has', () => {
    const same = (...parts: Parts[]) => differencesOf(parts.map(compared)).same;
    const before = same({}, {});
    expect(same({ metadata: { car: 1, lap: 2 } }, { metadata: { car: 1, lap: 3 } })).toBe(before + 1);
    expect(same({ nodes: { in: { depth: 1 } } }, {})).toBe(before);
  });

  test('what the caller may not read of one is left out of all, and said', () => {
    const all = { nodes: { in: {}, laps: {} }, runs: [run(2, '1')], sources: [source('a', 1, [])] };
    const { rows, leftOut } = differencesOf(
      [all, { ...all, metadata: { car: 1 }, runs: null, outputs: null, sources: null }].map(compared),
    );
    expect(rows.map(({ name }) => name)).toEqual(['car']);
    expect(leftOut.map((sentence) => sentence.split(' are ')[0])).toEqual([
      'Runner versions',
      'Files',
      'Recordings',
    ]);
    expect(differencesOf([{ hasMoreFiles: true }, {}].map(compared)).leftOut).toHaveLength(1);
  });
});
