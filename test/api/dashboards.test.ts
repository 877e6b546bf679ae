import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { convertTabular } from '../../activities/builtin/tabular/convert/convert.ts';
import type { RecordingDescription } from '../../activities/builtin/tabular/recording/recording.ts';
import { dashboardRoutes } from '../../api/dashboards/routes.ts';
import { projectRoutes } from '../../api/projects/routes.ts';
import { sessionTemplateRoutes } from '../../api/session-templates/routes.ts';
import { sessionRoutes } from '../../api/sessions/routes.ts';
import { ensurePlatformDataSource } from '../../store/objects/data-sources.ts';
import { newOutputKey } from '../../store/objects/object-store.ts';
import { ask, makePeople, type People, startTestApi, type TestApi } from '../support/api.ts';
import { testEnvironment } from '../support/stack.ts';
import { inputNode, ship, templateFile } from '../support/templates.ts';

const platform = await testEnvironment();
let api: TestApi;
let people: People;
let folder: string;
let session: { id: string; name: string; nodeInstances: { id: number }[] };
let dimensionId: number;
const rows = 5000;
const firstMs = Date.UTC(2026, 0, 1);

beforeAll(async () => {
  const routes = [...dashboardRoutes, ...sessionRoutes, ...projectRoutes, ...sessionTemplateRoutes];
  api = await startTestApi(platform.environment, { routes });
  people = await makePeople(api.url, platform.administrator);
  await ship(api.composed.services.database);
  folder = await mkdtemp(join(tmpdir(), 'sdp-dashboards-'));
  const { body: project } = await call('/projects', { Title: 'Drives' });
  const file = templateFile('drawn', [inputNode('a'), inputNode('b'), inputNode('c')]);
  const { body: template } = await call('/api/v2/admin/session-templates', file);
  const json = { ProjectId: project.id, SessionTemplateId: template.id, Email: people.Trainee.email };
  session = (await call('/session', json)).body;
  dimensionId = await makeDimension();
});
afterAll(async () => {
  await api.stop();
  await rm(folder, { recursive: true, force: true });
});

const call = (path: string, json: unknown) =>
  ask(api.url, 'POST', path, { token: people.Developer.token, json });
const get = (path: string, token = people.Developer.token) =>
  ask(api.url, 'GET', `/api/v2/dashboard/dimensions/${path}`, { token });

/** Stores a recording of a sine and a text, and a dimension over it, as the dashboard node does. */
async function makeDimension(): Promise<number> {
  const lines = Array.from({ length: rows }, (_, row) => {
    const time = new Date(firstMs + row * 1000).toISOString();
    return `${time},${row === 1234 ? 1000 : Math.sin(row / 50)},${row % 2 === 0 ? 'left' : 'right'}`;
  });
  const inputPath = join(folder, 'upload.csv');
  await writeFile(inputPath, `time,speed [m/s],side\n${lines.join('\n')}\n`);
  const outputPath = join(folder, 'recording.parquet');
  const { description } = await convertTabular({
    inputPath,
    contentType: 'text/csv',
    contentEncoding: null,
    outputIdentifier: 'drive.csv',
    source: { outputId: 1, outputIdentifier: 'drive.csv' },
    configuration: {},
    outputPath,
    workDir: folder,
    memoryLimitBytes: 256 * 1024 * 1024,
  });
  const { database, objects } = api.composed.services;
  const source = await ensurePlatformDataSource(database, objects.platformAccess);
  const objectKey = newOutputKey();
  await objects
    .of(source)
    .put(objectKey, createReadStream(outputPath), { signal: new AbortController().signal });
  const sha256 = createHash('sha256')
    .update(await readFile(outputPath))
    .digest('hex');
  return await insertDimension('a', [dimensionSource(7, description, source.id, objectKey, sha256)]);
}

function dimensionSource(
  outputId: number,
  description: RecordingDescription,
  dataSourceId: number,
  objectKey: string,
  sha256: string | null,
) {
  return {
    outputId,
    name: 'drive.csv',
    realm: 'default',
    time: {
      kind: description.time.kind,
      from: new Date(description.time.from).toISOString(),
      to: new Date(description.time.to).toISOString(),
    },
    rowCount: description.rowCount,
    groups: description.groups,
    channels: description.channels.map(({ id, name, unit, type, group, realm }) => ({
      key: `${outputId}:${id}`,
      id,
      name,
      unit,
      type,
      group,
      realm,
    })),
    dataSourceId,
    objectKey,
    sha256,
    description,
  };
}

async function insertDimension(node: 'a' | 'b' | 'c', sources: unknown[]): Promise<number> {
  const [row] = await api.composed.services.database.query<{ id: number }>(
    `insert into dimension (session_id, node_instance_id, name, dashboard_name, dashboard_version, sources, layout)
     values ($1, $2, 'Recording', 'Recording', 'next', $3::jsonb, '{"version":1,"panels":[]}') returning id`,
    [session.id, session.nodeInstances['abc'.indexOf(node)]!.id, JSON.stringify(sources)],
  );
  return row!.id;
}

describe('GET /api/v2/dashboard/dimensions/{id}', () => {
  test('gives the dashboard without where its bytes lie', async () => {
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
          time: { kind: 'absolute', from: '2026-01-01T00:00:00.000Z', to: '2026-01-01T01:23:19.000Z' },
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

  test('shows the newest scenario, and stands in its session', async () => {
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

  test('is for everybody, but for Trainees only where they are members', async () => {
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
    await database.query(`delete from session_user_entry where session_id = $1 and identifier = $2`, [
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

describe('GET /api/v2/dashboard/dimensions/{id}/series', () => {
  const keys = async () =>
    (await get(`${dimensionId}`)).body.sources[0].channels.map(
      (channel: { key: string }) => channel.key,
    ) as string[];
  const query = (channels: string[], rest = '') =>
    get(`${dimensionId}/series?channels=${channels.map(encodeURIComponent).join(',')}${rest}`);

  test('gives each row of a short range as it stands, in the order asked for', async () => {
    const [speed, side] = (await keys()) as [string, string];
    const from = new Date(firstMs + 10_000).toISOString();
    const to = new Date(firstMs + 13_000).toISOString();
    const { status, body } = await query([side, speed], `&from=${from}&to=${to}`);
    const times = [10, 11, 12, 13].map((second) => firstMs + second * 1000);
    expect(status).toBe(200);
    expect(body).toEqual({
      dimensionId,
      from,
      to,
      series: [
        { channel: side, name: 'side', unit: null, times, values: ['left', 'right', 'left', 'right'] },
        {
          channel: speed,
          name: 'speed',
          unit: 'm/s',
          times,
          values: [10, 11, 12, 13].map((row) => Math.sin(row / 50)),
        },
      ],
    });
  });

  test('thins out a long range and keeps its peaks', async () => {
    const [speed] = (await keys()) as [string, string];
    const { body } = await query([speed], '&maxPoints=200');
    expect([body.from, body.to]).toEqual(['2026-01-01T00:00:00.000Z', '2026-01-01T01:23:19.000Z']);
    const [series] = body.series;
    expect(series.times.length).toBeLessThanOrEqual(200);
    expect(series.times.length).toBe(series.values.length);
    expect(Math.max(...series.values)).toBe(1000);
    expect(series.times).toEqual([...series.times].sort((a, b) => a - b));
    expect((await query([speed])).body.series[0].times.length).toBeLessThanOrEqual(2000);
  });

  test.each([
    ['', 'channels must name 1 to 64 channels.'],
    ['channels=', 'channels must name 1 to 64 channels.'],
    [
      `channels=${Array.from({ length: 65 }, (_, i) => `7:${i}`).join()}`,
      'channels must name 1 to 64 channels.',
    ],
    ['channels=7:nothing', "Channel '7:nothing' is not part of this dashboard."],
    ['channels=7:x&maxPoints=1', 'maxPoints must be between 2 and 10000.'],
    ['channels=7:x&maxPoints=10001', 'maxPoints must be between 2 and 10000.'],
    ['channels=7:x&from=yesterday', 'from must be an ISO 8601 timestamp.'],
    ['channels=7:x&to=2026-02-30', 'to must be an ISO 8601 timestamp.'],
    ['channels=7:x&from=2026-01-02&to=2026-01-01', 'from must not be after to.'],
  ])('refuses %s', async (text, message) => {
    expect(await get(`${dimensionId}/series?${text}`)).toMatchObject({
      status: 400,
      body: { status: 'error', message },
    });
  });

  test('answers 502 when the bytes of a recording are gone or broken', async () => {
    const { database, objects } = api.composed.services;
    const [row] = await database.query<{ sources: ReturnType<typeof dimensionSource>[] }>(
      'select sources from dimension where id = $1',
      [dimensionId],
    );
    const whole = row!.sources[0]!;
    const source = await ensurePlatformDataSource(database, objects.platformAccess);
    const broken = newOutputKey();
    const bytes = join(folder, 'broken.parquet');
    await writeFile(bytes, 'PAR1 and nothing else');
    await objects.of(source).put(broken, createReadStream(bytes), { signal: new AbortController().signal });
    const cases = [
      ['b', { ...whole, objectKey: newOutputKey(), sha256: null }],
      ['c', { ...whole, objectKey: broken, sha256: null }],
    ] as const;
    for (const [node, changed] of cases) {
      const id = await insertDimension(node, [changed]);
      const answer = await get(`${id}/series?channels=${encodeURIComponent(whole.channels[0]!.key)}`);
      expect([node, answer.status]).toEqual([node, 502]);
    }
  });
});
