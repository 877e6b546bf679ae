/** Reports over all sessions, statistics of channels, and the names that expressions know. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { makeGraph } from '../../support/graph.ts';
import { reportWorld } from './report-world.ts';

const { api, database, people, as, column, report, dimension, csvLines } = await reportWorld();

/** A session without a dashboard. */
async function bareSession(name: string, options: { readonly metadata?: object } = {}) {
  const graph = await makeGraph(database, [{ name: 'input', parents: [] }]);
  await database.query('update session set name = $2, metadata = $3::jsonb where id = $1', [
    graph.sessionId,
    name,
    JSON.stringify(options.metadata ?? {}),
  ]);
  return graph;
}

/** A recording as the conversion describes it. */
function recording(rowCount: number, channels: readonly object[]) {
  const described = channels.map((channel) => ({ unit: 'km/h', type: 'number', nullCount: 0, ...channel }));
  return { rowCount, channels: described, description: { rowCount, channels: described } };
}

describe('a report over sessions', () => {
  test('has those without a dashboard too, and one over dashboards has not', async () => {
    const prefix = `bare-${randomUUID().slice(0, 8)}`;
    await dimension(`${prefix}-shown`, { metadata: { lap: 1 } });
    const { sessionId } = await bareSession(`${prefix}-bare`, { metadata: { lap: 2 } });
    await database.query('insert into session_member (session_id, identifier) values ($1, $2)', [
      sessionId,
      people.Trainee.userId,
    ]);
    const columns = [
      column('title', 'title'),
      column('session', 'dimension.sessionId'),
      column('lap', 'metadata.lap', { type: 'number' }),
      column('url', 'dashboard.url'),
      column('who', 'user.email'),
    ];
    const [over, all] = [report(), report()].map((one) => ({ ...one, dimensionNameFilter: prefix, columns }));
    await as('Developer', 'POST', '', over);
    expect((await as('Developer', 'POST', '', { ...all, covers: 'sessions' })).body.covers).toBe('sessions');
    expect(await csvLines(over!.key)).toHaveLength(2);
    const lines = await csvLines(all!.key);
    expect(lines.slice(2)).toEqual([`,${sessionId},2,,${people.Trainee.email}`]);
    expect(lines[1]).toMatch(/^bare-\S+-shown,\S+,1,\/dashboards\/\d+,$/);
    expect(await csvLines(all!.key, `&userId=${people.Trainee.userId}`)).toEqual([lines[0], lines[2]]);
    const preview = await as('Instructor', 'POST', '/preview', {
      columns,
      dimensionNameFilter: prefix,
      covers: 'sessions',
    });
    expect(preview.body.rows).toHaveLength(2);
  });

  test('of much metadata lets other work of the process come between its rows', async () => {
    const prefix = `much-${randomUUID().slice(0, 8)}`;
    const metadata = Object.fromEntries(Array.from({ length: 3_600 }, (_, at) => [`${prefix}-${at}`, at]));
    for (let number = 0; number < 30; number++) await bareSession(`${prefix}-${number}`, { metadata });
    const columns = Array.from({ length: 20 }, (_, at) =>
      column(`c${at}`, 'metadata', { source: 'metadata' }),
    );
    const all = { ...report(), dimensionNameFilter: prefix, columns, covers: 'sessions' };
    await as('Developer', 'POST', '', all);
    const begunMs = performance.now();
    let [lastAtMs, longestMs] = [begunMs, 0];
    const timer = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - lastAtMs);
      lastAtMs = performance.now();
    }, 5);
    expect(await csvLines(all.key)).toHaveLength(31);
    clearInterval(timer);
    // Without pauses it is nearly all of the time.
    expect(longestMs).toBeLessThan((performance.now() - begunMs) / 2);
  });

  test('has each dashboard of a session once, and none of its own then', async () => {
    const prefix = `twice-${randomUUID().slice(0, 8)}`;
    const graph = await dimension(`${prefix}-a`);
    const other = await makeGraph(database, [{ name: 'input', parents: [] }]);
    await database.query(
      `insert into dimension (session_id, node_instance_id, name, dashboard_name, dashboard_version)
       values ($1, $2, $3, 'Other', 'next')`,
      [graph.sessionId, other.nodes.input, `${prefix}-b`],
    );
    const made = report({ dimensionNameFilter: prefix, covers: 'sessions' });
    await as('Developer', 'POST', '', made);
    expect((await csvLines(made.key)).slice(1)).toEqual([`${prefix}-a`, `${prefix}-b`]);
  });

  test('keeps what it covers when an update says nothing of it; the shipped list covers dashboards', async () => {
    const made = report({ covers: 'sessions' });
    await as('Developer', 'POST', '', made);
    expect((await as('Developer', 'PUT', `/${made.key}`, { name: 'Other' })).body.covers).toBe('sessions');
    expect((await as('Developer', 'PUT', `/${made.key}`, { covers: 'dashboards' })).body.covers).toBe(
      'dashboards',
    );
    expect((await as('Developer', 'PUT', `/${made.key}`, { covers: 'all' })).status).toBe(400);
    expect((await as('Developer', 'GET', '/session-list')).body.covers).toBe('dashboards');
  });
});

describe('statistics of channels', () => {
  test('are those of all recordings of a dashboard together, and empty where there is none', async () => {
    const name = `channels-${randomUUID().slice(0, 8)}`;
    // 1, 2, 3 and 10, 20 with a row without a value.
    await dimension(name, {
      sources: [
        recording(3, [{ name: 'speed', min: 1, max: 3, mean: 2, standardDeviation: 1 }]),
        recording(3, [
          {
            name: 'speed',
            nullCount: 1,
            min: 10,
            max: 20,
            mean: 15,
            standardDeviation: Math.sqrt(50),
          },
          { name: 'engine speed', unit: 'rpm', min: 7, max: 7, mean: 7, standardDeviation: 0 },
        ]),
      ],
    });
    const columns = [
      ...['min', 'max', 'mean', 'standardDeviation', 'count', 'missing'].map((field) =>
        column(field, `channels.speed.${field}`, { type: 'number' }),
      ),
      column('unit', 'channels["engine speed"].unit'),
      column('twice', 'channels["engine speed"].max * 2.0', { type: 'number' }),
      column('absent', 'channels.brake.max', { type: 'number' }),
    ];
    const { status, body } = await as('Instructor', 'POST', '/preview', {
      columns,
      dimensionNameFilter: name,
    });
    expect(status).toBe(200);
    const values = [1, 2, 3, 10, 20];
    const mean = values.reduce((sum, one) => sum + one) / 5;
    const deviation = Math.sqrt(values.reduce((sum, one) => sum + (one - mean) ** 2, 0) / 4);
    expect(body.rows).toEqual([[1, 20, mean, expect.closeTo(deviation, 12), 5, 1, 'rpm', 14, null]]);
  });

  test('of several units are not taken together: only their values are counted', async () => {
    const name = `units-${randomUUID().slice(0, 8)}`;
    const one = { name: 'speed', min: 10, max: 20, mean: 15, standardDeviation: 1 };
    await dimension(name, {
      sources: [
        recording(3, [
          { ...one, unit: 'm/s' },
          { ...one, name: 'rpm', unit: 'rpm' },
        ]),
        recording(4, [
          { ...one, unit: 'km/h' },
          // Without a value, so its unit counts for nothing.
          { ...one, name: 'rpm', unit: '1/min', nullCount: 4, min: null, max: null, mean: null },
        ]),
      ],
    });
    const fields = ['min', 'max', 'mean', 'standardDeviation', 'unit', 'count', 'missing'];
    const { body } = await as('Instructor', 'POST', '/preview', {
      columns: [
        ...fields.map((field) => column(field, `channels.speed.${field}`)),
        column('other', 'channels.rpm.max', { type: 'number' }),
      ],
      dimensionNameFilter: name,
    });
    expect(body.rows).toEqual([[null, null, null, null, null, '7', '0', 20]]);
  });

  test('of the largest numbers do not overflow, and of older recordings lack mean and deviation', async () => {
    const name = `large-${randomUUID().slice(0, 8)}`;
    await dimension(name, {
      sources: [
        recording(2, [{ name: 'speed', min: -1e308, max: 1e308, mean: 1e307, standardDeviation: 1e308 }]),
        recording(2, [
          { name: 'speed', min: 0, max: 1e308, mean: 0, standardDeviation: 1 },
          { name: 'old', min: 1, max: 2 },
          { name: 'states', type: 'text' },
        ]),
      ],
    });
    const { status, body } = await as('Instructor', 'POST', '/preview', {
      columns: [
        column('max', 'channels.speed.max', { type: 'number' }),
        column('deviation', 'channels.speed.standardDeviation > 5e307', { type: 'boolean' }),
        column('old', 'channels.old.mean', { type: 'number' }),
        column('least', 'channels.old.min', { type: 'number' }),
        column('states', 'channels.states.count', { type: 'number' }),
      ],
      dimensionNameFilter: name,
    });
    expect([status, body.rows]).toEqual([200, [[1e308, true, null, 1, 2]]]);
  });

  test('are named by literals: any other use is refused with its position', async () => {
    for (const [expression, message] of [
      ['channels.speed.highest', "a channel has no 'highest' at position 0."],
      ['size(channels)', 'a channel is named as channels.name or channels["name"] at position 5.'],
      ['channels[user.name].max', 'a channel is named as channels.name or channels["name"] at position 0.'],
      [
        'annotations.map(a, channels[a.label].max)',
        'a channel is named as channels.name or channels["name"] at position 19.',
      ],
    ] as const) {
      const { status, body } = await as('Developer', 'POST', '/preview', {
        columns: [column('one', expression)],
      });
      expect([status, body.message], expression).toEqual([400, `Column 'one': ${message}`]);
    }
    const own = [column('one', 'metadata.tags.map(channels, channels)')];
    expect((await as('Developer', 'POST', '/preview', { columns: own })).status).toBe(200);
  });
});

test('the names that expressions know are listed, with the channels of dashboards', async () => {
  const channel = `steering-${randomUUID().slice(0, 8)}`;
  for (const at of [1, 2])
    await dimension(`names-${at}`, { sources: [recording(1, [{ name: channel, unit: 'deg' }])] });
  const names = (role: 'Instructor' | 'Trainee') =>
    ask(api.url, 'GET', '/api/v2/dashboard/report-names', { token: people[role].token });
  const { status, body } = await names('Instructor');
  expect(status).toBe(200);
  expect(body.channels).toContainEqual({ name: channel, unit: 'deg', dashboards: 2 });
  expect(body.functions).toEqual(expect.arrayContaining(['size(', '.size(', '.map(', '.matches(', '.join(']));
  expect(body.sources).toContainEqual({ name: 'user', fields: ['id', 'name', 'email'] });
  expect((await names('Trainee')).status).toBe(401);
});
