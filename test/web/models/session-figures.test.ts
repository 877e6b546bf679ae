/** Key figures of a session's recordings, without a browser. */
import { expect, test } from 'vitest';
import { routes } from '../../../api/routes.ts';
import type { ListedOutput } from '../../../client/types.ts';
import { activityLines, activityPhrases } from '../../../web/src/session/overview/activity-phrases.ts';
import {
  distinct,
  type Figure,
  figuresOfRecordings,
  remarksOf,
} from '../../../web/src/session/overview/figures.ts';

const output = (id: number, metadata: object | null) =>
  ({ id, metadata, outputIdentifier: `output-${id}` }) as unknown as ListedOutput;
const recording = (id: number, source: number, rowCount: number, top: number) =>
  output(id, {
    kind: 'recording',
    rowCount,
    source: { outputId: source },
    description: {
      time: { from: 0, to: rowCount * 1000 },
      channels: [
        { name: 'latitude', type: 'number', min: 47, max: 48, unit: null },
        { name: 'wheelSpeed', type: 'number', min: 0, max: top, unit: 'km/h' },
        { name: 'gear', type: 'text' },
        { name: 'constant', type: 'integer', min: 3, max: 3, unit: null },
      ],
    },
  });

test('are the highest values, the rows and the length; of a file that was converted again the newest', () => {
  const outputs = [recording(9, 1, 60, 341.7), recording(8, 1, 999, 500), recording(7, 2, 90, 320)];
  expect(figuresOfRecordings(outputs)).toEqual([
    { label: 'Highest wheel speed', value: '341.7', unit: 'km/h', number: 341.7 },
    { label: 'Recorded', value: '150', unit: 'rows', number: 150 },
    { label: 'Duration', value: '1:30', unit: '', number: 90, note: 'longest of 2' },
  ]);
});

test('keep the capitals of names that are written with one', () => {
  const channels = ['Temperatur Öl', 'RPM', 'oilPressure'].map((name) => ({
    ...{ name, type: 'number', min: 0, max: 1, unit: null },
  }));
  const metadata = { kind: 'recording', source: { outputId: 1 }, rowCount: 2, description: { channels } };
  const labels = figuresOfRecordings([output(1, metadata)]).map(({ label }) => label);
  expect(labels).toEqual(['Highest Temperatur Öl', 'Highest RPM', 'Highest oil pressure', 'Recorded']);
});

test('are those of the first channels where the recording has too many to list in its metadata', () => {
  const { description: brief, ...metadata } = recording(1, 1, 60, 341.7).metadata as Record<string, unknown>;
  const labels = figuresOfRecordings([output(1, { ...metadata, brief })]).map(({ label }) => label);
  expect(labels).toEqual(['Highest wheel speed', 'Recorded', 'Duration']);
  expect(figuresOfRecordings([output(1, metadata)]).map(({ label }) => label)).toEqual(['Recorded']);
});

test('have no duration where rows are numbered for lack of a time', () => {
  const description = { time: { from: 0, to: 599, basis: 'row-number' } };
  const labels = figuresOfRecordings([output(1, { kind: 'recording', rowCount: 600, description })]);
  expect(labels.map(({ label }) => label)).toEqual(['Recorded']);
});

test('are none of outputs that describe no recording, whatever they say', () => {
  const odd = [
    output(1, null),
    output(2, { kind: 'recording', description: null }),
    output(3, { kind: 'recording', description: { channels: 'all', time: { from: 'x' } }, rowCount: 'many' }),
    output(4, { kind: 'recording', description: { channels: [{ name: 1 }, {}, null, 7] } }),
  ];
  expect(figuresOfRecordings(odd)).toEqual([]);
});

test('what the conversion remarked is shown once, with its files; of a file that was converted again the newest', () => {
  const remarked = (id: number, source: number, name: string, ...warnings: unknown[]) =>
    output(id, { kind: 'recording', name, source: { outputId: source }, description: { warnings } });
  const sorted = 'The rows were sorted by time.';
  const outputs = [
    remarked(4, 1, 'a.csv', sorted),
    remarked(3, 2, 'b.csv', '2 rows without a time were skipped.', sorted, sorted, 7),
    remarked(2, 1, 'a.csv', 'An old remark.'),
    output(1, { kind: 'recording', description: { warnings: 'all' } }),
    remarked(0, 3, '01a2226e-3d0d-777b-88bc-463d23831070', sorted),
  ];
  expect(remarksOf(outputs)).toEqual([
    { text: sorted, files: ['a.csv', 'b.csv', 'Recording'] },
    { text: '2 rows without a time were skipped.', files: ['b.csv'] },
  ]);
});

test('whatever is written to a session has words of its own in the activity', () => {
  const ofSessions = ['session', 'nodeInstance', 'nodeRun', 'scenario'];
  const actions = routes
    .filter(({ audit }) => audit !== undefined && 'object' in audit && ofSessions.includes(audit.object))
    .map(({ id }) => id)
    // Nobody reads the activity of a deleted session.
    .filter((id) => id !== 'deleteSession');
  expect(actions.length).toBeGreaterThan(15);
  expect(actions.filter((action) => activityPhrases[action] === undefined)).toEqual([]);
});

test('the same deed of one actor several times in a row is one line of the activity', () => {
  const entry = (action: string, id: string | null, at: string) => ({
    at,
    action,
    actor: { kind: 'user' as const, id, name: id === null ? null : `Person ${id}` },
    object: { type: 'session', id: null },
  });
  const entries = [
    entry('uploadNodeOutput', 'a', '09:05'),
    entry('uploadNodeOutput', 'a', '09:04'),
    entry('uploadNodeOutput', 'b', '09:03'),
    entry('freezeSession', 'b', '09:02'),
    entry('uploadNodeOutput', 'b', '09:01'),
  ];
  const lines = activityLines(entries, [], 'a').map(({ who, deed, at, times }) => [who, deed, at, times]);
  expect(lines).toEqual([
    ['You', 'uploaded a file to a node', '09:05', 2],
    ['Person b', 'uploaded a file to a node', '09:03', 1],
    ['Person b', 'froze the session', '09:02', 1],
    ['Person b', 'uploaded a file to a node', '09:01', 1],
  ]);
});

test('of one label have the names of the nodes that wrote them', () => {
  const figure = (label: string, nodeInstanceId: number): Figure => ({
    ...{ label, value: '1', unit: '', number: 1, nodeInstanceId },
  });
  const figures = [figure('Top speed', 1), figure('Top speed', 2), figure('Laps', 2)];
  const labels = distinct(figures, (id) => `node ${id}`).map(({ label }) => label);
  expect(labels).toEqual(['Top speed, node 1', 'Top speed, node 2', 'Laps']);
});
