/** A data source must not probe the platform's network. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataSourceRoutes } from '../../api/data-sources/routes.ts';
import { nodeInstanceRoutes } from '../../api/node-instances/routes.ts';
import { ask, makePeople, type People, startTestApi, type TestApi } from '../support/api.ts';
import { makeGraph } from '../support/graph.ts';
import { testEnvironment } from '../support/stack.ts';
import { ship } from '../support/templates.ts';

const platform = await testEnvironment();
let api: TestApi;
let people: People;
/** An internal service that answers every request. */
let inside: Server;
let port: number;
let connections = 0;

beforeAll(async () => {
  inside = createServer((_request, response) => response.end('words of the inside'));
  inside.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => inside.listen(0, resolve));
  port = (inside.address() as AddressInfo).port;
  // As installed, without an allowlist.
  const { DATA_SOURCE_ENDPOINT_ALLOWLIST: _, ...environment } = platform.environment;
  api = await startTestApi(environment, { routes: [...dataSourceRoutes, ...nodeInstanceRoutes] });
  people = await makePeople(api.url, platform);
  await ship(api.composed.services.database);
});
afterAll(async () => {
  await api.stop();
  inside.close();
});

const path = '/api/v2/admin/data-sources';
const { endpoint, region, bucket, accessKeyId, secretAccessKey } = platform.s3;
const keys = { region, bucket, accessKeyId, secretAccessKey };
const write = async (method: 'POST' | 'PUT', at: string, json: object) => {
  const { status, body } = await ask(api.url, method, at, { token: people.Developer.token, json });
  return { status, body };
};

describe('a data source', () => {
  test('reaches no internal address, which reads like a host that does not exist', async () => {
    expect((await write('POST', path, { ...keys, name: 'own', endpoint })).status).toBe(201);
    const closed = new URL(endpoint).hostname;
    const endpoints = [
      // A service listens there, under every spelling of the address.
      ...[
        '127.0.0.1',
        'localhost',
        '127.1',
        '0x7f.1',
        '2130706433',
        '[::1]',
        '[::ffff:127.0.0.1]',
        '0.0.0.0',
      ].map((host) => `http://${host}:${port}`),
      `http://127.0.0.2:${port}`,
      `https://127.0.0.1:${port}`,
      // The database, and a port where nothing listens.
      `http://127.0.0.1:${new URL(platform.databaseUrl).port}`,
      `http://${closed}:1`,
      'http://10.255.255.1',
      'http://nowhere.invalid',
      'http://[fd00::1]',
    ];
    const answers = new Set<string>();
    for (const one of endpoints) {
      const made = await write('POST', path, { ...keys, name: 'refused', endpoint: one });
      const moved = await write('PUT', `${path}/own`, { endpoint: one });
      for (const answer of [made, moved]) answers.add(JSON.stringify(answer));
    }
    const message =
      'The data source cannot be reached: its host is unknown, or lies in a network that this installation does not use.';
    expect([...answers]).toEqual([JSON.stringify({ status: 400, body: { status: 'error', message } })]);
    expect(connections).toBe(0);
  });

  test('that was re-pointed past the checks is used by no upload and no download', async () => {
    const { database } = api.composed.services;
    await write('POST', path, { ...keys, name: 'turned', endpoint });
    const { nodes } = await makeGraph(database, [{ name: 'input', parents: [] }]);
    const configuration = '{"dataSourceName":"turned"}';
    await database.query('update node_instance set configuration = $2 where id = $1', [
      nodes.input,
      configuration,
    ]);
    const call = async (method: string) => {
      const headers = { authorization: `Bearer ${people.adminToken}`, 'content-type': 'text/csv' };
      const body = method === 'POST' ? { body: 'a\n1\n' } : {};
      const at = `/api/v2/node-instance/${nodes.input}/outputs/${method === 'POST' ? '' : 'latest/'}data`;
      const response = await fetch(api.url + at, { method, headers, ...body });
      return { status: response.status, text: await response.text() };
    };
    expect((await call('POST')).status).toBe(201);
    expect(await call('GET')).toMatchObject({ status: 200, text: 'a\n1\n' });
    for (const host of ['127.0.0.1', 'localhost']) {
      const moved = 'update data_source set endpoint = $1, updated_at = clock_timestamp() where name = $2';
      await database.query(moved, [`http://${host}:${port}`, 'turned']);
      for (const method of ['GET', 'POST']) {
        const { status, text } = await call(method);
        expect([method, status >= 500, text.includes('inside')]).toEqual([method, true, false]);
      }
    }
    expect(connections).toBe(0);
  });
});
