/** Key figures of a session's recordings, without a browser. */
import { expect, test } from 'vitest';
import { routes } from '../../../api/routes.ts';
import type { NodeOutput } from '../../../client/types.ts';
import { deeds } from '../../../web/src/session/overview/deeds.ts';
import { figuresOfRecordings } from '../../../web/src/session/overview/figures.ts';

const output = (id: number, metadata: object | null) => ({ id, metadata }) as unknown as NodeOutput;
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
    { label: 'Duration', value: '1:30', unit: '', number: 90 },
  ]);
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

test('whatever is written to a session has words of its own in the activity', () => {
  const ofSessions = ['session', 'nodeInstance', 'nodeRun', 'scenario'];
  const actions = routes
    .filter(({ audit }) => audit !== undefined && 'object' in audit && ofSessions.includes(audit.object))
    .map(({ id }) => id)
    // Nobody reads the activity of a deleted session.
    .filter((id) => id !== 'deleteSession');
  expect(actions.length).toBeGreaterThan(15);
  expect(actions.filter((action) => deeds[action] === undefined)).toEqual([]);
});
