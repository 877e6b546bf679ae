import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineRoute } from '../../api/route.ts';
import { routes } from '../../api/routes.ts';
import { access } from '../../domain/access/access.ts';
import { sessionRules } from '../../domain/access/session-access.ts';
import { catalogue } from '../../domain/errors.ts';
import type { Route } from '../../http/route.ts';
import { pathId } from '../../http/schemas.ts';
import { ensurePlatformDataSource } from '../../store/objects/data-sources.ts';
import { ask, makePeople, makePerson, type People, startTestApi, type TestApi } from '../support/api.ts';
import { followEvents } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { testEnvironment } from '../support/stack.ts';
import { inputNode, ship, templateFile } from '../support/templates.ts';
import { metadataOf } from './resumable-uploads/support.ts';

const platform = await testEnvironment();
const forTrainees = routes.filter((route) => !route.access.open && route.access.roles.includes('Trainee'));
/** A future route that declares nothing for the table. */
const forgotten = defineRoute({
  id: 'forgotten',
  method: 'GET',
  path: '/api/v2/forgotten/{id}',
  summary: 'Shows something of a session',
  tags: ['Test'],
  access: access.outputRead,
  params: z.object({ id: pathId() }),
  responses: { 200: { description: 'Done.', schema: z.object({}) } },
  handler: () => ({ status: 200, body: {} }),
});

let apis: Readonly<Record<'all' | 'own', TestApi>>;
let people: People;
let ids: Readonly<Record<string, string | number>>;

beforeAll(async () => {
  const start = (TRAINEE_DATA: string) =>
    startTestApi({ ...platform.environment, TRAINEE_DATA }, { routes: [...routes, forgotten] });
  apis = { all: await start('all'), own: await start('own') };
  people = await makePeople(apis.all.url, platform);
  const { database, objects } = apis.all.composed.services;
  await ship(database);
  await ensurePlatformDataSource(database, objects.platformAccess);
  ids = await makeSession(people.Trainee.email);
});
afterAll(() => Promise.all([apis.all.stop(), apis.own.stop()]));

const write = async (path: string, json: unknown) => {
  const { status, body } = await ask(apis.all.url, 'POST', path, { token: people.Developer.token, json });
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body;
};

/** A session of the Trainee by their address, with an output and a dimension; ids by what the paths call them. */
async function makeSession(email: string) {
  const project = await write('/projects', { Title: 'Exercises' });
  const template = await write(
    '/api/v2/admin/session-templates',
    templateFile('exercise', [inputNode('laps')]),
  );
  const json = { ProjectId: project.id, SessionTemplateId: template.id, Email: email };
  const session = await write('/session', json);
  const nodeInstanceId = session.nodeInstances[0].id;
  const upload = await ask(apis.all.url, 'POST', `/api/v2/node-instance/${nodeInstanceId}/outputs/data`, {
    token: people.Developer.token,
    headers: { 'x-platform-output-identifier': 'laps' },
    json: { lap: 1 },
  });
  const [dimension] = await apis.all.composed.services.database.query<{ id: number }>(
    `insert into dimension (session_id, node_instance_id, name, dashboard_name, dashboard_version)
     values ($1, $2, 'Laps', 'Laps', 'next') returning id`,
    [session.id, nodeInstanceId],
  );
  return {
    session: session.id as string,
    nodeInstance: nodeInstanceId as number,
    nodeOutput: upload.body.id as number,
    dimension: dimension!.id,
  };
}

const tus = { 'tus-resumable': '1.0.0' };
/** What a call needs beside its path, so that nothing but the session decides. */
const query: Readonly<Record<string, string>> = {
  getDashboardSeries: '?channels=1:a',
  getDashboardStatistics: '?channels=1:a',
};
const parts: Readonly<Record<string, object>> = {
  askDashboardSeries: { json: { channels: ['1:a'] } },
  askDashboardStatistics: { json: { channels: ['1:a'] } },
  askDashboardExport: { json: { channels: ['1:a'] } },
  createScenarioInstance: { json: { scenarioName: 'Approach', simulationId: 'sim-3' } },
  uploadNodeOutput: { json: { lap: 2 }, headers: { 'x-platform-output-identifier': 'laps' } },
  createResumableUpload: {
    headers: { ...tus, 'upload-length': '1', 'upload-metadata': metadataOf({ identifier: 'laps' }) },
  },
};
async function call(api: TestApi, route: Route, id: string | number, token: string) {
  const signal = AbortSignal.timeout(20_000);
  const path = route.path.replace(/\{\w+\}/, String(id)) + (query[route.id] ?? '');
  const { json, headers = {} } = (parts[route.id] ?? {}) as {
    json?: object;
    headers?: Record<string, string>;
  };
  const response = await fetch(api.url + path, {
    method: route.method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    signal,
  });
  // Events never end.
  const isEndless = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (isEndless) await response.body?.cancel();
  return { status: response.status, text: isEndless ? '' : await response.text() };
}

test('every route for Trainees declares whose sessions it reads, and has the parameter for it', () => {
  expect(forTrainees.map(({ id }) => id).filter((id) => sessionRules[id] === undefined)).toEqual([]);
  const known = new Set(forTrainees.map(({ id }) => id));
  expect(Object.keys(sessionRules).filter((id) => !known.has(id))).toEqual([]);
  for (const route of forTrainees) {
    const rule = sessionRules[route.id]!;
    const named = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    if ('from' in rule) expect([route.id, named]).toEqual([route.id, [rule.from]]);
    // Data for members alone are answered as missing, so the route must declare that refusal.
    if ('from' in rule) expect([route.id, route.refusals?.params]).toEqual([route.id, expect.any(String)]);
  }
});

test('what a path names of a session is guarded, of a dashboard always; but for routes that check themselves', () => {
  const named = forTrainees.filter(({ path }) => path.includes('{'));
  const others = ['getProject', 'getSessionTemplate', 'getLayout', 'updateLayout', 'deleteLayout'];
  const ofParticipants = [
    'updateSession',
    'closeSession',
    'createAnnotation',
    'changeAnnotation',
    'deleteAnnotation',
  ];
  const ofWriters = [
    'resumableUploadOptions',
    'continueResumableUpload',
    'getResumableUpload',
    'terminateResumableUpload',
  ];
  const unguarded = named.filter(({ id }) => !('of' in sessionRules[id]!)).map(({ id }) => id);
  expect(unguarded.sort()).toEqual([...others, ...ofParticipants, ...ofWriters].sort());
  for (const { id, path } of named) {
    const rule = sessionRules[id]!;
    const isAlways = 'of' in rule && rule.always === true;
    expect([id, isAlways]).toEqual([id, path.startsWith('/api/v2/dashboard/dimensions/')]);
  }
});

const reading = forTrainees.flatMap((route) => {
  const rule = sessionRules[route.id]!;
  return 'of' in rule ? [{ id: route.id, route, rule }] : [];
});
describe.each(reading)('$id', ({ route, rule }) => {
  const message = catalogue[route.refusals!.params!].message;
  const missing = { status: 404, text: JSON.stringify({ status: 'error', message }) };
  const strangers = async () => (await makePerson(apis.all.url, people.adminToken, 'Trainee')).token;

  test('answers a Trainee of another session as if there were nothing, with TRAINEE_DATA=own', async () => {
    expect(await call(apis.own, route, ids[rule.of]!, await strangers())).toEqual(missing);
  });

  test('answers participants, and every other role', async () => {
    for (const { token } of [people.Trainee, people.Instructor])
      expect((await call(apis.own, route, ids[rule.of]!, token)).status).not.toBe(404);
  });

  test(`answers Trainees of other sessions ${rule.always ? 'nothing either' : 'too'} by default`, async () => {
    const { status } = await call(apis.all, route, ids[rule.of]!, await strangers());
    expect(status === 404).toBe(rule.always === true);
  });
});

test('a refused replacement leaves the bytes as they are, and a Trainee who was let in has others', async () => {
  const upload = forTrainees.find(({ id }) => id === 'uploadNodeOutput')!;
  const data = forTrainees.find(({ id }) => id === 'getNodeOutputData')!;
  const read = () => call(apis.own, data, ids.nodeOutput!, people.Instructor.token);
  const before = await read();
  const stranger = await makePerson(apis.all.url, people.adminToken, 'Trainee');
  await call(apis.own, upload, ids.nodeInstance!, stranger.token);
  expect(await read()).toEqual(before);
  expect((await call(apis.own, upload, ids.nodeInstance!, people.Trainee.token)).status).toBe(200);
});

describe('an upload without an identifier, which replaces nothing, is let in from a Trainee of another session', () => {
  const send = async (method: string, path: string, headers: Record<string, string>, body?: string) => {
    const { token } = await stranger;
    const response = await fetch(apis.own.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  let stranger: ReturnType<typeof makePerson>;
  let node: string;
  beforeAll(() => {
    stranger = makePerson(apis.all.url, people.adminToken, 'Trainee');
    node = `/api/v2/node-instance/${ids.nodeInstance}`;
  });

  test('plain', async () => {
    const { status, text } = await send('POST', `${node}/outputs/data`, { 'content-type': 'text/csv' }, 'a');
    expect(status, text).toBe(201);
  });

  test.each([
    ['without metadata', {}],
    ['with other metadata', { 'upload-metadata': metadataOf({ contentType: 'text/csv' }) }],
  ])('resumable, %s', async (_name, metadata) => {
    const begun = await send('POST', `${node}/uploads`, { ...tus, 'upload-length': '1', ...metadata });
    expect(begun.status, begun.text).toBe(201);
    const piece = { ...tus, 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' };
    const ended = await send('PATCH', begun.headers.get('location')!, piece, 'b');
    expect([ended.status, ended.headers.get('x-platform-upload-state')]).toEqual([204, 'published']);
  });

  test('and one whose metadata cannot be read is refused as everybody’s is', async () => {
    const headers = { ...tus, 'upload-length': '1', 'upload-metadata': 'identifier no base64' };
    expect((await send('POST', `${node}/uploads`, headers)).status).toBe(400);
  });
});

test('a route that the table does not know shows Trainees nothing, with TRAINEE_DATA=own', async () => {
  const route = forgotten as unknown as Route;
  expect((await call(apis.own, route, 1, people.Trainee.token)).status).toBe(404);
  expect((await call(apis.own, route, 1, people.Instructor.token)).status).toBe(200);
});

test('a session is followed no longer than its caller may read it, with TRAINEE_DATA=own', async () => {
  const caller = await makePerson(apis.all.url, people.adminToken, 'Instructor');
  const reader = await followEvents(apis.own.url, String(ids.session), caller.token);
  await reader.until(({ kind }) => kind === 'window');
  await ask(apis.all.url, 'PATCH', `/api/authorization/users/${caller.userId}`, {
    token: people.adminToken,
    json: { role: 'Trainee' },
  });
  await eventually('the stream ends', () => reader.isOver);
});

test('an upload to a session lasts no longer than its caller may write to it, with TRAINEE_DATA=own', async () => {
  const caller = await makePerson(apis.all.url, people.adminToken, 'Instructor');
  const request = httpRequest(`${apis.own.url}/api/v2/node-instance/${ids.nodeInstance}/outputs/data`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${caller.token}`,
      'x-platform-output-identifier': 'laps',
      expect: '100-continue',
    },
  });
  const answer = once(request, 'response');
  request.flushHeaders();
  await once(request, 'continue');
  const drip = setInterval(() => request.write('x'.repeat(2048)), 50);
  await ask(apis.all.url, 'PATCH', `/api/authorization/users/${caller.userId}`, {
    token: people.adminToken,
    json: { role: 'Trainee' },
  });
  const [response] = (await answer) as [IncomingMessage];
  clearInterval(drip);
  request.destroy();
  expect(response.statusCode).toBe(404);
});
