import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataSourceRoutes } from '../../api/data-sources/routes.ts';
import { nodeInstanceRoutes } from '../../api/node-instances/routes.ts';
import { ensureDefaultDataSource } from '../../store/objects/data-sources.ts';
import { SecretBox } from '../../store/objects/secrets.ts';
import { ask, makePeople, type People, startTestApi, type TestApi } from '../support/api.ts';
import { makeGraph } from '../support/graph.ts';
import { testEnvironment } from '../support/stack.ts';
import { ship } from '../support/templates.ts';

const platform = await testEnvironment();
let api: TestApi;
let people: People;
/** A server that is not an object store, and answers with the status in its path. */
let stranger: Server;
let strangerUrl: string;

beforeAll(async () => {
  stranger = createServer((request, response) => {
    response.statusCode = Number(/\/status-(\d+)/.exec(request.url ?? '')?.[1] ?? 200);
    response.end('private words of a stranger');
  });
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  strangerUrl = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
  const routes = [...dataSourceRoutes, ...nodeInstanceRoutes];
  const allowlist = {
    DATA_SOURCE_ENDPOINT_ALLOWLIST: '127.0.0.1, localhost, nowhere.invalid, 169.254.169.254',
  };
  api = await startTestApi({ ...platform.environment, ...allowlist }, { routes });
  people = await makePeople(api.url, platform);
  await ship(api.composed.services.database);
});
afterAll(async () => {
  await api.stop();
  stranger.close();
});

const path = '/api/v2/admin/data-sources';
const unreachable = (reason: string) => `The data source cannot be reached: ${reason}.`;
const call = (method: string, at: string, json?: unknown, token = people.Developer.token) =>
  ask(api.url, method, at, { token, json });
const refusal = (status: number, message: string) => ({ status, body: { status: 'error', message } });
const { endpoint, region, bucket, accessKeyId, secretAccessKey } = platform.s3;
const wanted = (name: string, extra: object = {}) => ({
  name,
  kind: 's3',
  endpoint,
  region,
  bucket,
  prefix: name,
  accessKeyId,
  secretAccessKey,
  forcePathStyle: true,
  ...extra,
});

describe('POST /api/v2/admin/data-sources', () => {
  test('registers a store whose bucket answers; its keys are never returned, and stored encrypted', async () => {
    const { status, body } = await call('POST', path, wanted('first'));
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(Number),
        name: 'first',
        kind: 's3',
        endpoint,
        region,
        bucket,
        prefix: 'first',
        createdAt: expect.stringMatching(/Z$/),
      },
    ]);
    const list = await call('GET', path);
    expect(list.body.map((item: { name: string }) => item.name)).toEqual(['first', 'platform']);
    expect(JSON.stringify(list.body)).not.toContain(secretAccessKey);
    const rows = await api.composed.services.database.query<{ row: string }>(
      "select d::text as row from data_source d where name = 'first'",
    );
    expect(rows[0]?.row).not.toContain(secretAccessKey);
    expect(await call('POST', path, wanted('first'))).toMatchObject(
      refusal(409, 'A data source with the same name already exists.'),
    );
  });

  test.each([
    ['an unknown bucket', { bucket: 'no-such-bucket-here' }, unreachable('the store has no such bucket')],
    ['a wrong secret', { secretAccessKey: 'wrong' }, unreachable('the store refuses these keys')],
    [
      'a port where nothing listens',
      { endpoint: 'http://127.0.0.1:1' },
      unreachable('nothing listens at its endpoint'),
    ],
    [
      'a database',
      { endpoint: `http://127.0.0.1:${new URL(platform.databaseUrl).port}` },
      unreachable('it closes the connection'),
    ],
    [
      'TLS where the store has none',
      { endpoint: endpoint.replace('http:', 'https:') },
      unreachable('its endpoint has no valid certificate'),
    ],
    [
      'a host that is not known',
      { endpoint: 'http://nowhere.invalid' },
      unreachable('its host is unknown, or lies in a network that this installation does not use'),
    ],
    [
      'an endpoint outside the allowlist',
      { endpoint: 'http://127.0.0.2:9000' },
      'Data sources at this endpoint are not allowed in this installation.',
    ],
    [
      'an address of the network link, where clouds keep credentials',
      { endpoint: 'http://169.254.169.254' },
      'Data sources at this endpoint are not allowed in this installation.',
    ],
    [
      'an address of another kind',
      { endpoint: 'ftp://127.0.0.1' },
      'endpoint must be an http or https address.',
    ],
    ['another kind of store', { kind: 'azure' }, "kind must be 's3'."],
    [
      'a bucket with a line break',
      { bucket: 'a\r\nb: c' },
      'bucket must hold 3 to 255 characters, without blanks or control characters.',
    ],
    [
      'no keys',
      { accessKeyId: undefined },
      'accessKeyId must hold 1 to 256 characters, without blanks or control characters.',
    ],
  ])('refuses %s', async (_, extra, message) => {
    expect(await call('POST', path, wanted('refused', extra))).toMatchObject(refusal(400, message));
    const list = await call('GET', path);
    expect(list.body.map((item: { name: string }) => item.name)).not.toContain('refused');
  });

  test("reveals nothing of another server's answer but its status", async () => {
    for (const status of [301, 418, 500]) {
      const answer = await call(
        'POST',
        path,
        wanted('refused', { endpoint: `${strangerUrl}/status-${status}` }),
      );
      expect(answer.status).toBe(400);
      const advice = status < 500 ? ': check its region' : '';
      expect(answer.body.message).toBe(unreachable(`the store answers with status ${status}${advice}`));
      expect(JSON.stringify(answer.body)).not.toContain('private');
    }
  });
});

describe('PUT /api/v2/admin/data-sources/{name}', () => {
  test('changes the sent fields and keeps the secret', async () => {
    const made = await call('POST', path, wanted('changing'));
    const changed = await call('PUT', `${path}/changing`, { prefix: 'other', forcePathStyle: true });
    expect(changed).toMatchObject({ status: 200, body: { ...made.body, prefix: 'other' } });
    expect(await call('PUT', `${path}/changing`, { secretAccessKey: 'wrong' })).toMatchObject({
      status: 400,
    });
    expect((await call('PUT', `${path}/changing`, { name: 'changing' })).status).toBe(200);
  });

  test('at the same time as others keeps what each of them changes', async () => {
    await call('POST', path, wanted('contended'));
    for (let round = 0; round < 5; round++) {
      const other = endpoint.replace('127.0.0.1', 'localhost');
      const changes = [{ prefix: `p${round}/` }, { endpoint: round % 2 === 0 ? other : endpoint }];
      const answers = await Promise.all(changes.map((json) => call('PUT', `${path}/contended`, json)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      const list = (await call('GET', path)).body;
      const stored = list.find((item: { name: string }) => item.name === 'contended');
      expect(stored).toMatchObject(Object.assign({}, ...changes));
    }
  });

  test('refuses an unknown source, another name, and the store of the installation', async () => {
    expect(await call('PUT', `${path}/nowhere`, {})).toMatchObject(
      refusal(404, "Data source 'nowhere' not found."),
    );
    await call('POST', path, wanted('named'));
    expect(await call('PUT', `${path}/named`, { name: 'other' })).toMatchObject(
      refusal(400, 'A data source cannot be renamed.'),
    );
    for (const method of ['PUT', 'DELETE']) {
      expect(await call(method, `${path}/platform`, method === 'PUT' ? {} : undefined)).toMatchObject(
        refusal(
          409,
          "The data source 'platform' belongs to the installation and cannot be changed or deleted.",
        ),
      );
    }
  });
});

describe('DELETE /api/v2/admin/data-sources/{name}', () => {
  test('deletes one that no output uses, and no other', async () => {
    await call('POST', path, wanted('a b/c', { prefix: '' }));
    expect((await call('DELETE', `${path}/${encodeURIComponent('a b/c')}`)).status).toBe(204);
    expect(await call('DELETE', `${path}/${encodeURIComponent('a b/c')}`)).toMatchObject(
      refusal(404, "Data source 'a b/c' not found."),
    );
    await call('POST', path, wanted('used'));
    const { database } = api.composed.services;
    const graph = await makeGraph(database, [{ name: 'input', parents: [] }]);
    const inputId = graph.nodes.input;
    await database.query('update node_instance set configuration = $2 where id = $1', [
      inputId,
      '{"dataSourceName":"used"}',
    ]);
    const upload = await fetch(`${api.url}/api/v2/node-instance/${inputId}/outputs/data`, {
      method: 'POST',
      headers: { authorization: `Bearer ${people.adminToken}`, 'content-type': 'text/csv' },
      body: 'a\n1\n',
    });
    expect([
      upload.status,
      ((await upload.json()) as { dataSource: { name: string } }).dataSource.name,
    ]).toEqual([201, 'used']);
    expect(await call('DELETE', `${path}/used`)).toMatchObject(
      refusal(409, 'The data source is used by outputs.'),
    );
  });
});

test('outputs of one whose keys are of another SECRETS_KEY are 502 until its secret is sent again', async () => {
  await call('POST', path, wanted('locked'));
  const { database } = api.composed.services;
  const { nodes } = await makeGraph(database, [{ name: 'input', parents: [] }]);
  await database.query('update node_instance set configuration = $2 where id = $1', [
    nodes.input,
    '{"dataSourceName":"locked"}',
  ]);
  const upload = () =>
    fetch(`${api.url}/api/v2/node-instance/${nodes.input}/outputs/data`, {
      method: 'POST',
      headers: { authorization: `Bearer ${people.adminToken}`, 'content-type': 'text/csv' },
      body: 'a\n1\n',
    });
  const { id } = (await (await upload()).json()) as { id: number };
  const download = () => call('GET', `/api/v2/node-instance/outputs/${id}/data`);
  const other = new SecretBox('another key that is long enough').encrypt('secret', 'a purpose');
  await database.query(`update data_source set secret_ciphertext = $1 where name = 'locked'`, [other]);
  expect(await download()).toMatchObject(refusal(502, 'An upstream service failed.'));
  const refused = await upload();
  expect([refused.status, await refused.json()]).toEqual([
    500,
    { status: 'error', message: 'Failed to create node output.' },
  ]);
  expect((await call('PUT', `${path}/locked`, { secretAccessKey })).status).toBe(200);
  expect((await download()).status).toBe(200);
});

test('the local start registers default once, follows its store to a new address, and leaves what an operator moved', async () => {
  const { database, objects } = api.composed.services;
  const own = objects.platformAccess;
  const stored = async () =>
    (await call('GET', path)).body.find((item: { name: string }) => item.name === 'default');
  await Promise.all(Array.from({ length: 4 }, () => ensureDefaultDataSource(database, objects.secrets, own)));
  expect(await stored()).toMatchObject({ endpoint: own.endpoint, bucket: own.bucket });
  await ensureDefaultDataSource(database, objects.secrets, { ...own, endpoint: 'http://127.0.0.1:2' });
  expect(await stored()).toMatchObject({ endpoint: 'http://127.0.0.1:2' });
  await database.query("update data_source set access_key_id = 'theirs' where name = 'default'");
  await ensureDefaultDataSource(database, objects.secrets, own);
  expect(await stored()).toMatchObject({ endpoint: 'http://127.0.0.1:2' });
});
