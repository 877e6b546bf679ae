/** `X-HTTP-Method-Override` (tus 1.0.0, core): a POST is the method that the header names, for uploads alone. */
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { registry } from '../../../telemetry/registry.ts';
import { testEnvironment } from '../../support/stack.ts';
import { ingestWorld } from '../ingests/ingest-world.ts';
import { metadataOf } from './support.ts';

const world = await ingestWorld(await testEnvironment());
const { api, admin, database, people, projectId, templateId } = world;
afterAll(() => world.stop());

const piece = { 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' };

/** A POST that names a method. */
async function posted(method: string, path: string, headers: Record<string, string>, body = '') {
  const response = await fetch(api.url + path, {
    method: 'POST',
    headers: { 'tus-resumable': '1.0.0', 'x-http-method-override': method, ...headers },
    body,
  });
  const { status } = response;
  return { status, header: (name: string) => response.headers.get(name), text: await response.text() };
}

/** Where uploads begin, with the headers of who may. */
type Place = { readonly list: string; readonly who: Record<string, string>; readonly route: string };

const places: [string, () => Promise<Place>][] = [
  [
    'a node',
    async () => {
      const session = await admin('POST', '/session', {
        ProjectId: projectId,
        SessionTemplateId: templateId,
      });
      return {
        list: `/api/v2/node-instance/${session.body.nodeInstances[0].id}/uploads`,
        who: { authorization: `Bearer ${people.Developer.token}` },
        route: '/api/v2/node-instance/{nodeInstanceId}/uploads/{uploadId}',
      };
    },
  ],
  [
    'a managed ingest',
    async () => {
      const { urlPath, secret } = await world.newIngest();
      return {
        list: `/api/v2/ingest-uploads/${urlPath}`,
        who: { 'x-ingest-secret': secret },
        route: '/api/v2/ingest-uploads/{pathOrId}',
      };
    },
  ],
];

async function begun({ list, who }: Place, sizeBytes: number): Promise<string> {
  const headers = { 'upload-length': String(sizeBytes), 'upload-metadata': metadataOf({ identifier: 'a' }) };
  const { status, header, text } = await posted('POST', list, { ...who, ...headers });
  expect(status, text).toBe(201);
  return header('location')!;
}

const servedBy = async (method: string, route: string) => {
  const line = `sdp_http_request_seconds_count{method="${method}",route="${route}"`;
  return (await registry.metrics()).split('\n').filter((text) => text.startsWith(line)).length;
};

describe.each(places)('an upload to %s', (_target, newPlace) => {
  test('goes on, is asked for and ends by POST', async () => {
    const place = await newPlace();
    const path = await begun(place, 6);
    expect(await posted('PATCH', path, { ...place.who, ...piece }, 'a,b')).toMatchObject({ status: 204 });
    const asked = await posted('HEAD', path, place.who);
    // The answer has the form that every HTTP client expects of a POST, without the body that HEAD has not.
    expect([asked.status, asked.text, asked.header('content-length')]).toEqual([200, '', '0']);
    expect([asked.header('upload-offset'), asked.header('upload-length')]).toEqual(['3', '6']);
    const last = await posted('PATCH', path, { ...place.who, ...piece, 'upload-offset': '3' }, '\n1\n');
    expect([last.status, last.header('x-platform-upload-state')]).toEqual([204, 'published']);
    const other = await begun(place, 6);
    expect((await posted('DELETE', other, place.who)).status).toBe(204);
    const gone = await posted('HEAD', other, place.who);
    expect([gone.status, gone.text, gone.header('content-length')]).toEqual([404, '', '0']);
    expect((await posted('OPTIONS', place.list, place.who)).header('tus-version')).toBe('1.0.0');
  });

  test('is counted by the method that the header names', async () => {
    const place = await newPlace();
    const path = await begun(place, 1);
    await posted('DELETE', path, place.who);
    expect(await servedBy('DELETE', place.route)).toBeGreaterThan(0);
    expect(await servedBy('POST', place.route)).toBe(0);
  });

  test('has the methods that it has without the header', async () => {
    const place = await newPlace();
    const path = await begun(place, 1);
    const real = await fetch(api.url + path, { method: 'PUT', headers: place.who });
    for (const method of ['PUT', 'TRACE', 'NOTHING', 'delete', '']) {
      const refused = await posted(method, path, place.who);
      expect([method, refused.status]).toEqual([method, 405]);
      expect(refused.header('allow')).toBe(real.headers.get('allow'));
    }
    const begins = await posted('PATCH', place.list, { ...place.who, 'upload-length': '1' });
    expect(begins.status).not.toBe(201);
    expect((await posted('HEAD', path, place.who)).header('upload-offset')).toBe('0');
  });

  test('is for those who may use the method', async () => {
    const place = await newPlace();
    const path = await begun(place, 1);
    for (const method of ['PATCH', 'DELETE', 'HEAD'])
      expect((await posted(method, path, piece)).status).toBe(401);
    expect((await posted('HEAD', path, place.who)).header('upload-offset')).toBe('0');
  });
});

test('an upload that ends by POST is in the audit as by PATCH', async () => {
  const [, newPlace] = places[0]!;
  const place = await newPlace();
  const path = await begun(place, 4);
  await posted('PATCH', path, { ...place.who, ...piece, 'x-request-id': 'by-post' }, 'a\n1\n');
  const entries = await database.query<{ action: string }>(
    `select action from audit_entry where request_id = 'by-post'`,
  );
  expect(entries).toEqual([{ action: 'uploadNodeOutput' }]);
});

test('no other route is reached by the header', async () => {
  const { token } = people.Administrator;
  const authorization = `Bearer ${token}`;
  const made = await world.newIngest();
  const own = `/api/v2/admin/ingests/${made.id}`;
  for (const method of ['DELETE', 'PUT', 'GET'])
    expect((await posted(method, own, { authorization })).status).toBe(405);
  expect((await admin('GET', own)).status).toBe(200);
  // A path of a node's uploads in form only.
  const [, newPlace] = places[0]!;
  const { list } = await newPlace();
  for (const path of [`${list}/${randomUUID()}/more`, '/api/v2/node-instance/outputs/uploads/data'])
    expect([404, 405]).toContain((await posted('GET', path, { authorization })).status);
  const created = await posted(
    'DELETE',
    '/projects',
    {
      authorization,
      'content-type': 'application/json',
    },
    '{"Title":"Made by POST"}',
  );
  expect(created.status).toBe(201);
});

test('a call by another method than POST is what it is', async () => {
  const [, newPlace] = places[0]!;
  const place = await newPlace();
  const path = await begun(place, 1);
  const headers = { 'tus-resumable': '1.0.0', 'x-http-method-override': 'DELETE', ...place.who };
  expect((await fetch(api.url + path, { headers })).status).toBe(200);
  expect((await posted('HEAD', path, place.who)).status).toBe(200);
});
