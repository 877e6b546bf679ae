import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { crc32, tokenFamily } from '../../domain/token-format.ts';
import { ensurePlatformDataSource } from '../../store/data-sources.ts';
import { Database } from '../../store/database.ts';
import { type Answer, ask, makePeople, type People, startTestApi, type TestApi } from '../support/api.ts';
import { testEnvironment } from '../support/stack.ts';
import { inputNode, ship, tabularNode, templateFile } from '../support/templates.ts';
import { testWorkflows } from '../support/workflows.ts';
import { drained } from './node-instances/queued-world.ts';

const platform = await testEnvironment();
const temporal = await testWorkflows(platform.environment);
let api: TestApi;
let database: Database;
let people: People;
let templateId: number;
let projectId: number;
const ingests = '/api/v2/admin/ingests';

beforeAll(async () => {
  api = await startTestApi(platform.environment);
  database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 4 });
  await ship(database);
  await ensurePlatformDataSource(database, api.composed.services.objects.platformAccess);
  people = await makePeople(api.url, platform.administrator);
  const template = await admin('POST', '/api/v2/admin/session-templates', {
    ...templateFile('Laps', [inputNode('laps'), tabularNode('table', 'laps')]),
  });
  templateId = template.body.id;
  projectId = await newProject();
});
afterAll(async () => {
  await api.stop();
  await database.close();
});

const admin = (method: string, path: string, json?: unknown) =>
  ask(api.url, method, path, { token: people.Developer.token, ...(json === undefined ? {} : { json }) });

async function newProject(fields: object = {}): Promise<number> {
  return (await admin('POST', '/projects', { Title: 'Ingests', ...fields })).body.id;
}

let paths = 0;
const fields = (change: object = {}) => {
  paths += 1;
  return { urlPath: `path/${paths}`, projectId, sessionTemplateId: templateId, inputNode: 'laps', ...change };
};
async function newIngest(change: object = {}) {
  const answer = await admin('POST', ingests, fields(change));
  expect(answer.status).toBe(201);
  return answer.body;
}

async function send(
  urlPath: string,
  options: {
    secret?: string;
    bearer?: string;
    type?: string | null;
    body?: string;
    headers?: Record<string, string>;
  } = {},
): Promise<Answer> {
  const { secret, bearer, type = 'text/csv', body = 'a,b\n1,2\n' } = options;
  const response = await fetch(`${api.url}/ingest/${urlPath}`, {
    method: 'POST',
    headers: {
      ...(secret === undefined ? {} : { 'x-ingest-secret': secret }),
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(type === null ? {} : { 'content-type': type }),
      ...options.headers,
    },
    // A Blob without a type sends no Content-Type of fetch's own.
    body: new Blob([body]),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}
const refused = (message: string) => ({ status: 'error', message });

describe('administration', () => {
  test('makes an ingest, shows its secret once, changes and removes it', async () => {
    const made = await newIngest({ urlPath: 'track-1/laps_2', ingestDataType: 'Csv' });
    expect(made).toEqual({
      id: expect.any(Number),
      urlPath: 'track-1/laps_2',
      url: '/ingest/track-1/laps_2',
      projectId,
      sessionTemplateId: templateId,
      inputNode: 'laps',
      dataSource: 'platform',
      creationBehaviour: 'NewSession',
      ingestDataType: 'Csv',
      allowAnonymous: false,
      secret: expect.stringMatching(/^his_/),
      secretHint: made.secret.slice(-4),
      createdBy: people.Developer.userId,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(tokenFamily(made.secret)).toBe('ingest');
    const { secret: _, ...shown } = made;
    expect((await admin('GET', `${ingests}/${made.id}`)).body).toEqual(shown);
    expect((await admin('GET', ingests)).body).toContainEqual(shown);
    const changed = await admin('PUT', `${ingests}/${made.id}`, { creationBehaviour: 'LatestSession' });
    expect(changed).toMatchObject({
      status: 200,
      body: { ...shown, creationBehaviour: 'LatestSession', updatedAt: expect.any(String) },
    });
    expect((await send('track-1/laps_2', { secret: made.secret })).status).toBe(201);
    expect((await admin('DELETE', `${ingests}/${made.id}`)).status).toBe(204);
    expect((await admin('DELETE', `${ingests}/${made.id}`)).status).toBe(404);
    expect((await send('track-1/laps_2', { secret: made.secret })).status).toBe(404);
  });

  test('a new secret takes the place of the one before', async () => {
    const made = await newIngest();
    const rotated = await admin('POST', `${ingests}/${made.id}/rotate-secret`);
    expect(rotated.status).toBe(200);
    expect(rotated.body.secret).not.toBe(made.secret);
    expect((await send(made.urlPath, { secret: made.secret })).status).toBe(401);
    expect((await send(made.urlPath, { secret: rotated.body.secret })).status).toBe(201);
  });

  test('no secret is stored as it is', async () => {
    const { secret } = await newIngest();
    const tables = await database.query<{ name: string }>(
      `select table_schema || '.' || table_name as name from information_schema.tables
        where table_schema in ('public', 'auth') and table_type = 'BASE TABLE'`,
    );
    for (const { name } of tables) {
      const [found] = await database.query<{ count: number }>(
        `select count(*) as count from ${name} t where t::text like '%' || $1 || '%'`,
        [secret.slice(4, 30)],
      );
      expect([name, found!.count]).toEqual([name, 0]);
    }
  });

  test('refuses what it cannot bind to', async () => {
    const cases: [object, string?][] = [
      [{ urlPath: undefined }],
      [{ urlPath: 'Upper' }],
      [{ urlPath: '/slash' }],
      [{ urlPath: 'a//b' }],
      [{ urlPath: '1/2/3/4/5/6/7/8/9' }],
      [{ urlPath: 'ä' }],
      [{ projectId: 999_999 }, 'projectId names no project.'],
      [{ projectId: '1' }],
      [{ sessionTemplateId: 999_999 }, 'sessionTemplateId names no session template.'],
      [{ inputNode: 'table' }, 'inputNode names no Input node of the session template.'],
      [{ inputNode: '' }],
      [{ dataSource: 'nowhere' }, 'dataSource names no registered data source.'],
      [{ creationBehaviour: 'Sometimes' }],
      [{ ingestDataType: 'csv' }],
      [{ allowAnonymous: 'yes' }],
    ];
    for (const [change, message] of cases) {
      const answer = await admin('POST', ingests, fields(change));
      expect([change, answer.status]).toEqual([change, 400]);
      if (message !== undefined) expect(answer.body).toEqual(refused(message));
    }
    expect((await admin('POST', ingests, fields({ urlPath: '1/2/3/4/5/6/7/8' }))).status).toBe(201);
  });

  test('a path belongs to one ingest', async () => {
    const one = await newIngest();
    const two = await newIngest();
    const message = refused('An ingest with the same URL path already exists.');
    expect(await admin('POST', ingests, fields({ urlPath: one.urlPath }))).toMatchObject({
      status: 409,
      body: message,
    });
    expect(await admin('PUT', `${ingests}/${two.id}`, { urlPath: one.urlPath })).toMatchObject({
      status: 409,
      body: message,
    });
  });

  test('is for Administrators and Developers, and for no offline token', async () => {
    const { id } = await newIngest();
    for (const [method, path] of [
      ['GET', ingests],
      ['POST', ingests],
      ['GET', `${ingests}/${id}`],
      ['PUT', `${ingests}/${id}`],
      ['DELETE', `${ingests}/${id}`],
      ['POST', `${ingests}/${id}/rotate-secret`],
    ] as const) {
      expect((await ask(api.url, method, path)).status).toBe(401);
      for (const token of [people.Instructor.token, people.Trainee.token, people.offlineToken])
        expect((await ask(api.url, method, path, { token })).status).toBe(403);
    }
    for (const missing of ['999999', 'abc'])
      for (const [method, path, json] of [
        ['GET', `${ingests}/${missing}`, undefined],
        ['PUT', `${ingests}/${missing}`, {}],
        ['DELETE', `${ingests}/${missing}`, undefined],
        ['POST', `${ingests}/${missing}/rotate-secret`, undefined],
      ] as const)
        expect(await admin(method, path, json)).toMatchObject({
          status: 404,
          body: refused('Ingest not found.'),
        });
  });
});

describe('a file sent to an ingest', () => {
  test('makes a session of its creator and becomes an output of the input node', async () => {
    const { urlPath, secret } = await newIngest();
    const answer = await send(urlPath, {
      bearer: secret,
      headers: { 'x-platform-output-identifier': 'lap-1' },
    });
    expect(answer).toMatchObject({ status: 201, body: { status: 'ok' } });
    const { sessionId, nodeInstanceId, nodeOutputId } = answer.body;
    const session = (await admin('GET', `/api/v2/sessions/${sessionId}`)).body;
    expect(session).toMatchObject({
      projectId,
      sessionTemplateId: templateId,
      userId: people.Developer.userId,
      email: people.Developer.email,
      name: expect.stringMatching(/^Laps \d{4}-/),
    });
    const progress = (await admin('GET', `/api/v2/session/${sessionId}/node-instances`)).body.nodeInstances;
    expect(progress).toMatchObject([
      { id: nodeInstanceId, name: 'laps', state: 'Succeeded', currentOutputId: nodeOutputId },
      { name: 'table', state: 'Pending' },
    ]);
    const outputs = (await admin('GET', `/api/v2/node-instance/${nodeInstanceId}/outputs`)).body;
    expect(outputs).toMatchObject([{ id: nodeOutputId, outputIdentifier: 'lap-1', contentType: 'text/csv' }]);
    const data = await ask(api.url, 'GET', `/api/v2/node-instance/outputs/${nodeOutputId}/data`, {
      token: people.Trainee.token,
    });
    expect(data.body).toBe('a,b\n1,2\n');
    const next = await send(urlPath, { secret });
    expect(next.body.sessionId).not.toBe(sessionId);
  });

  test('needs the secret, unless the ingest allows anonymous uploads', async () => {
    const { urlPath, secret } = await newIngest();
    const other = await newIngest();
    const message = refused('A valid ingest secret is required.');
    for (const given of [
      {},
      { secret: 'his_nonsense' },
      { secret: other.secret },
      { bearer: other.secret },
      { bearer: people.Administrator.token },
      { secret: `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}` },
    ]) {
      const answer = await send(urlPath, given);
      expect(answer).toMatchObject({ status: 401, body: message });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    const open = await newIngest({ allowAnonymous: true });
    expect((await send(open.urlPath)).status).toBe(201);
    expect((await send(open.urlPath, { secret: open.secret })).status).toBe(201);
    expect((await send(open.urlPath, { secret })).status).toBe(401);
    expect(crc32('123456789')).toBe(0xcbf43926);
  });

  test('an unknown path is 404, another method 405', async () => {
    for (const path of ['nowhere', 'a/b/c/d/e/f/g/h/i', 'UPPER', '%00'])
      expect(await send(path)).toMatchObject({ status: 404, body: refused('Ingest not found.') });
    const answer = await ask(api.url, 'GET', '/ingest/nowhere');
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
  });

  test('must be of the data type', async () => {
    const types: [string, (string | null)[], (string | null)[]][] = [
      [
        'Csv',
        ['text/csv', 'TEXT/CSV; charset=utf-8', 'application/csv'],
        ['application/json', 'text/plain', null],
      ],
      [
        'Json',
        ['application/json', 'application/x-ndjson', 'application/geo+json'],
        ['text/csv', 'text/plain', null],
      ],
      [
        'Binary',
        ['application/octet-stream', 'application/vnd.apache.parquet', 'image/png', null],
        [
          'text/csv',
          'application/json',
          'application/x-www-form-urlencoded',
          'multipart/form-data',
          'nonsense',
        ],
      ],
      ['Any', ['text/csv', 'text/plain', 'nonsense', null], []],
    ];
    for (const [ingestDataType, covered, others] of types) {
      const { urlPath, secret } = await newIngest({ ingestDataType });
      for (const type of covered)
        expect([ingestDataType, type, (await send(urlPath, { secret, type })).status]).toEqual([
          ingestDataType,
          type,
          201,
        ]);
      for (const type of others)
        expect([ingestDataType, type, (await send(urlPath, { secret, type })).status]).toEqual([
          ingestDataType,
          type,
          415,
        ]);
    }
  });

  test('feeds the newest session that is neither frozen nor closed, and makes exactly one when there is none', async () => {
    const own = await newProject();
    const { urlPath, secret } = await newIngest({ projectId: own, creationBehaviour: 'LatestSession' });
    const first = await Promise.all(Array.from({ length: 12 }, () => send(urlPath, { secret })));
    expect(first.map(({ status }) => status)).toEqual(first.map(() => 201));
    const ids = new Set(first.map(({ body }) => body.sessionId));
    expect(ids.size).toBe(1);
    const [made] = ids;
    const newer = (await admin('POST', '/session', { ProjectId: own, SessionTemplateId: templateId })).body
      .id;
    expect((await send(urlPath, { secret })).body.sessionId).toBe(newer);
    expect((await admin('POST', `/api/v2/sessions/${newer}/freeze`)).status).toBe(200);
    expect((await send(urlPath, { secret })).body.sessionId).toBe(made);
    expect(
      (
        await ask(api.url, 'POST', `/api/v2/session/${made}/close`, {
          token: people.Administrator.token,
          json: {},
        })
      ).status,
    ).toBe(200);
    const next = (await send(urlPath, { secret })).body.sessionId;
    expect([made, newer]).not.toContain(next);
    expect((await send(urlPath, { secret })).body.sessionId).toBe(next);
  });

  test('with an identifier that the node has gives that output new bytes', async () => {
    const own = await newProject();
    const { urlPath, secret } = await newIngest({ projectId: own, creationBehaviour: 'LatestSession' });
    const headers = { 'x-platform-output-identifier': 'same' };
    const first = await send(urlPath, { secret, headers });
    const second = await send(urlPath, { secret, headers, body: 'new' });
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body).toEqual(first.body);
  });

  test('leaves no session when it is refused or breaks off', async () => {
    const own = await newProject();
    const { urlPath, secret } = await newIngest({ projectId: own });
    expect(
      (await send(urlPath, { secret, headers: { 'content-md5': Buffer.alloc(16).toString('base64') } }))
        .status,
    ).toBe(400);
    expect((await send(urlPath, { secret, headers: { 'x-platform-output-identifier': 'a b' } })).status).toBe(
      400,
    );
    expect(await database.query('select 1 from session where project_id = $1', [own])).toEqual([]);
  });

  test('in a queued project is acknowledged with 202 and published by the queue', async () => {
    const own = await newProject({ QueuedIngestion: true });
    const { urlPath, secret } = await newIngest({ projectId: own, creationBehaviour: 'LatestSession' });
    const answers = [];
    for (let index = 0; index < 5; index++)
      answers.push(
        await send(urlPath, {
          secret,
          body: `${index}`,
          headers: { 'x-platform-output-identifier': `o${index}` },
        }),
      );
    const { sessionId, nodeInstanceId } = answers[0]!.body;
    for (const { status, body } of answers) {
      expect(status).toBe(202);
      expect(body).toEqual({
        status: 'queued',
        projectId: own,
        sessionId,
        nodeInstanceId,
        stream: 'node-ingest',
        subject: `projects.${own}.ingest`,
      });
    }
    await temporal.startWorker('workflows');
    await drained(database);
    const outputs = (await admin('GET', `/api/v2/node-instance/${nodeInstanceId}/outputs`)).body;
    expect(outputs.map(({ outputIdentifier }: { outputIdentifier: string }) => outputIdentifier)).toEqual(
      Array.from({ length: 5 }, (_, index) => `o${index}`),
    );
  });

  test('goes to the ingest’s data source, whatever the node names', async () => {
    const { s3 } = platform;
    const source = await admin('POST', '/api/v2/admin/data-sources', {
      name: 'elsewhere',
      kind: 's3',
      endpoint: s3.endpoint,
      region: s3.region,
      bucket: s3.bucket,
      prefix: 'elsewhere',
      accessKeyId: s3.accessKeyId,
      secretAccessKey: s3.secretAccessKey,
      forcePathStyle: true,
    });
    expect(source.status).toBe(201);
    const { urlPath, secret, id } = await newIngest({ dataSource: 'elsewhere' });
    const { body } = await send(urlPath, { secret });
    const outputs = (await admin('GET', `/api/v2/node-instance/${body.nodeInstanceId}/outputs`)).body;
    expect(outputs[0].dataSource.name).toBe('elsewhere');
    // An ingest without uploads keeps its data source too.
    expect((await admin('DELETE', '/api/v2/admin/data-sources/elsewhere')).status).toBe(409);
    expect((await admin('GET', `${ingests}/${id}`)).body.dataSource).toBe('elsewhere');
  });
});
