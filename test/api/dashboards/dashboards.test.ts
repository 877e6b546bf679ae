import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import {
  addSources,
  type DimensionSource,
  sourcePages,
} from '../../../store/dashboards/dimension-sources.ts';
import { ask } from '../../support/api.ts';
import { dashboardWorld } from './dashboard-world.ts';

const { api, people, session, dimensionId, rows, get, insertDimension } = await dashboardWorld();

describe('GET /api/v2/dashboard/dimensions/{id}', () => {
  test('returns the dashboard without the location of its bytes', async () => {
    const { status, body } = await get(`${dimensionId}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: dimensionId,
      title: 'Recording',
      sessionId: session.id,
      sessionName: session.name,
      dashboardName: 'Recording',
      dashboardVersion: 'next',
      url: `/dashboards/${dimensionId}`,
      scenarioName: null,
      from: null,
      to: null,
      layout: { version: 1, panels: [] },
      sources: [
        {
          outputId: 7,
          name: 'drive.csv',
          realm: 'default',
          time: {
            kind: 'absolute',
            from: '2026-01-01T00:00:00.000Z',
            to: '2026-01-01T01:23:19.000Z',
            basis: 'column',
          },
          rowCount: rows,
          groups: expect.any(Array),
          channels: [
            {
              key: expect.stringMatching(/^7:/),
              id: expect.any(String),
              name: 'speed',
              unit: 'm/s',
              type: 'number',
              group: expect.any(String),
              realm: 'default',
            },
            {
              key: expect.stringMatching(/^7:/),
              id: expect.any(String),
              name: 'side',
              unit: null,
              type: 'text',
              group: expect.any(String),
              realm: 'default',
            },
          ],
        },
      ],
      createdAt: expect.stringMatching(/Z$/),
    });
  });

  test('shows the newest scenario, and appears in its session', async () => {
    await api.composed.services.database.query(
      `insert into scenario_instance (id, session_id, scenario_name, from_at, to_at, created_at)
       values (gen_random_uuid(), $1, 'old', null, null, '2026-01-01'),
              (gen_random_uuid(), $1, 'new', '2026-01-02', '2026-01-03', '2026-01-02')`,
      [session.id],
    );
    expect((await get(`${dimensionId}`)).body).toMatchObject({
      scenarioName: 'new',
      from: '2026-01-02T00:00:00.000Z',
      to: '2026-01-03T00:00:00.000Z',
    });
    const { body } = await ask(api.url, 'GET', `/api/v2/sessions/${session.id}`, {
      token: people.adminToken,
    });
    expect(body.dimensions[0]).toMatchObject({
      id: dimensionId,
      url: `/dashboards/${dimensionId}`,
      dashboardVersion: 'next',
    });
    expect(body.scenarios).toMatchObject([
      { scenarioName: 'old', sessionId: session.id, from: null },
      { scenarioName: 'new', from: '2026-01-02T00:00:00.000Z', simulationId: '' },
    ]);
  });

  test('is for every role, and for Trainees only as members', async () => {
    for (const token of [
      people.adminToken,
      people.Instructor.token,
      people.Trainee.token,
      people.offlineToken,
    ]) {
      expect((await get(`${dimensionId}`, token)).status).toBe(200);
    }
    const { database } = api.composed.services;
    await database.query(`update session set email_identifier = 'x', email_key = 'x' where id = $1`, [
      session.id,
    ]);
    await database.query(`delete from session_member where session_id = $1 and identifier = $2`, [
      session.id,
      people.Trainee.userId,
    ]);
    const hidden = { status: 404, body: { status: 'error', message: 'Dimension not found.' } };
    expect(await get(`${dimensionId}`, people.Trainee.token)).toMatchObject(hidden);
    expect(await get(`${dimensionId}/series?channels=7:x`, people.Trainee.token)).toMatchObject(hidden);
    expect((await get(`${dimensionId}`, people.Instructor.token)).status).toBe(200);
  });

  test.each(['999999', 'abc'])('answers id %s as missing', async (id) => {
    const missing = { status: 404, body: { status: 'error', message: 'Dimension not found.' } };
    expect(await get(id)).toMatchObject(missing);
    expect(await get(`${id}/series?channels=7:x`)).toMatchObject(missing);
  });
});

test('the catalog is searched by names of sessions whose accents are apart from their letters, as macOS writes them', async () => {
  const name = 'Prüfstand.csv'.normalize('NFD');
  const token = people.adminToken;
  await ask(api.url, 'PATCH', `/api/v2/sessions/${session.id}`, { token, json: { name } });
  for (const part of [name, 'PRÜFSTAND']) {
    const path = `/api/v2/dashboard/dimensions?search=${encodeURIComponent(part)}`;
    const { body } = await ask(api.url, 'GET', path, { token });
    expect(body.dimensions).toMatchObject([{ id: dimensionId, sessionName: name }]);
  }
});

test('a dashboard that is as its caller read it is 304, until it or its recordings are others', async () => {
  const { database } = api.composed.services;
  const path = `${api.url}/api/v2/dashboard/dimensions/${dimensionId}`;
  const read = (headers: Record<string, string> = {}, method = 'GET') =>
    fetch(path, { method, headers: { authorization: `Bearer ${people.Developer.token}`, ...headers } });
  let tag = '"none"';
  const isOther = async () => {
    const answer = await read({ 'if-none-match': tag });
    expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
    tag = answer.headers.get('etag') ?? '';
    const same = await read({ 'if-none-match': tag });
    expect([same.status, same.headers.get('etag'), await same.text()]).toEqual([304, tag, '']);
  };
  await isOther();
  await database.query('update dimension_source set source = source where dimension_id = $1', [dimensionId]);
  await isOther();
  await database.query(`update session set name = name || '.' where id = $1`, [session.id]);
  await isOther();
  const head = await read({}, 'HEAD');
  expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, tag, '']);
});

describe('a dashboard of many wide recordings', () => {
  const { database } = api.composed.services;
  /** So that two recordings are no page. */
  const wide = (outputId: number): DimensionSource => {
    const unit = randomBytes(80).toString('hex');
    const channels = Array.from({ length: 1500 }, (_, index) => ({
      key: `${outputId}:c${index}`,
      id: `c${index}`,
      name: randomBytes(24).toString('hex'),
      unit,
      type: 'number',
      group: 'default',
      realm: 'default',
    }));
    const time = { kind: 'absolute', from: '2026-01-01T00:00:00.000Z', to: '2026-01-01T00:01:00.000Z' };
    const common = { name: `${outputId}.csv`, realm: 'default', time, rowCount: 60, groups: [], channels };
    return { ...common, outputId, dataSourceId: 1, objectKey: 'x', sha256: null, description: null };
  };

  test('is read from the database page by page, each recording once, although some are replaced meanwhile', async () => {
    const id = await insertDimension('b', [21, 22, 23, 24].map(wide));
    const seen: number[] = [];
    let pages = 0;
    for await (const page of sourcePages(database, id)) {
      seen.push(...page.map(({ outputId }) => outputId));
      pages += 1;
      if (pages > 1) continue;
      await database.transaction((tx) =>
        addSources(tx, id, [
          { sourceId: 21, position: 2, source: wide(31) },
          { sourceId: 24, position: 2, source: wide(34) },
        ]),
      );
    }
    expect([seen, pages]).toEqual([[21, 22, 23, 34], 4]);
    const { body } = await get(`${id}`);
    const ids = body.sources.map((source: { outputId: number }) => source.outputId);
    expect([ids, body.sources[0].channels.length]).toEqual([[31, 22, 23, 34], 1500]);
  });

  test('is sent before it is read whole, and broken off where a recording cannot be read', async () => {
    const broken = { ...wide(43), rowCount: 'many' as unknown as number };
    const id = await insertDimension('c', [wide(41), wide(42), broken]);
    const answer = await fetch(`${api.url}/api/v2/dashboard/dimensions/${id}`, {
      headers: { authorization: `Bearer ${people.Developer.token}` },
    });
    expect(answer.status).toBe(200);
    let text = '';
    const read = async () => {
      for await (const chunk of answer.body!) text += Buffer.from(chunk).toString('latin1');
    };
    await expect(read()).rejects.toThrow();
    expect(text).toContain('"sources":[{"outputId":41,');
    expect(text).not.toContain('"createdAt"');
    const first = await insertDimension('d', [broken]);
    expect(await get(`${first}`)).toMatchObject({ status: 500, body: { status: 'error' } });
  });

  test('leaves room to others where its callers do not read it', async () => {
    const id = await insertDimension('e', [51, 52, 53].map(wide));
    const sockets = Array.from({ length: 5 }, () => {
      const socket = connect(Number(new URL(api.url).port), '127.0.0.1').pause();
      const token = people.Developer.token;
      socket.write(
        `GET /api/v2/dashboard/dimensions/${id} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`,
      );
      return socket;
    });
    await Promise.all(sockets.map((socket) => new Promise((begun) => socket.once('readable', begun))));
    expect((await get(`${dimensionId}`)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });
});
