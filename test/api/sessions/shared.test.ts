import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, makePerson } from '../../support/api.ts';
import { testEnvironment } from '../../support/stack.ts';
import { inputNode, tabularNode } from '../../support/templates.ts';
import { at, type SessionWorld, sessionWorld, windowStart } from './support.ts';

const platform = await testEnvironment();
let world: SessionWorld;
beforeAll(async () => {
  world = await sessionWorld(platform);
});
afterAll(() => world.api.stop());

let exercises = 0;
/** A name that no other test uses. */
const exercise = () => {
  exercises += 1;
  return `Exercise ${exercises}`;
};
const close = (id: string, json: unknown, token?: string) =>
  world.call('POST', `/api/v2/session/${id}/close`, json, token);
const refused = (status: number, message: unknown) => ({ status, body: { status: 'error', message } });
const shown = async (id: string, token = world.people.adminToken) =>
  (await world.call('GET', `/api/v2/sessions/${id}`, undefined, token)).body;

describe('create or join', () => {
  test('the first request opens the session with every field and key of the contract', async () => {
    const name = exercise();
    const { status, body } = await world.join({ name, machineGroup: -3 });
    const key = world.keyOf('machine-1@example.org');
    expect(status).toBe(201);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name,
      email: key,
      projectId: world.projectId,
      project: { id: world.projectId, title: 'Flights' },
      sessionTemplateId: world.templateId,
      sessionTemplate: { id: world.templateId },
      simulationName: 'sim',
      scenarios: [],
      dimensions: [],
      logoUrl: '',
      metadata: {
        status: 'open',
        startTimeUtc: windowStart,
        timeWindowSeconds: 300,
        machineGroup: -3,
        openedBy: key,
        participants: [
          { id: key, email: null, startTimeUtc: windowStart, joinedAt: expect.stringMatching(/Z$/) },
        ],
      },
      node_instances: [
        { name: 'in', state: 'NeverBegan', parentIds: [], configuration: expect.stringMatching(/^\{/) },
        { name: 'out', state: 'NeverBegan', parentIds: [expect.any(Number)] },
      ],
    });
    expect(body).not.toHaveProperty('nodeInstances');
    expect(Object.keys(body.metadata)).toHaveLength(6);
    expect(body.sessionUsers.map((user: { userId: string }) => user.userId)).toEqual([body.userId, key]);
  });

  test('later ones join it and stand among its participants, each once', async () => {
    const name = exercise();
    const opened = await world.join({ name });
    const joined = await world.join({ name, email: 'machine-2@example.org', startTimeUtc: at(10) });
    expect([joined.status, joined.body.id]).toEqual([200, opened.body.id]);
    const again = await world.join({ name, email: ' MACHINE-2@example.org', startTimeUtc: at(20) });
    expect(again.status).toBe(200);
    expect(again.body.metadata).toMatchObject({
      startTimeUtc: windowStart,
      openedBy: world.keyOf('machine-1@example.org'),
      participants: [
        { id: world.keyOf('machine-1@example.org'), startTimeUtc: windowStart },
        { id: world.keyOf('machine-2@example.org'), startTimeUtc: at(10) },
      ],
    });
    expect(again.body.sessionUsers).toHaveLength(3);
    const row = (await world.call('GET', `/api/v2/session?search=${opened.body.id}`)).body.sessions[0];
    expect(row.metadata.participants).toEqual(
      again.body.metadata.participants.map(({ email: _, ...rest }: { email: null }) => rest),
    );
  });

  test.each([
    ['name', { name: 'other' }],
    ['name in another case', { name: 'EXERCISE' }],
    ['simulation', { simulationName: 'other' }],
    ['machine group', { machineGroup: 2 }],
    ['window length', { timeWindowSeconds: 301 }],
  ])('another %s is another session', async (_, fields) => {
    const simulationName = exercise();
    const opened = await world.join({ simulationName });
    const other = await world.join({ simulationName, ...fields });
    expect(other.status).toBe(201);
    expect(other.body.id).not.toBe(opened.body.id);
  });

  test('another template or project is another session', async () => {
    const name = exercise();
    await world.join({ name });
    const sessionTemplateId = await world.importTemplate('second revision', [inputNode('in')]);
    expect((await world.join({ name, sessionTemplateId })).status).toBe(201);
    const project = await world.call('POST', '/projects', { Title: 'Other' });
    const other = await world.call('POST', `/api/v2/session/shared_session?projectId=${project.body.id}`, {
      name,
      simulationName: 'sim',
      email: 'machine-1@example.org',
      sessionTemplateId: world.templateId,
      startTimeUtc: windowStart,
      machineGroup: 1,
    });
    expect(other.status).toBe(201);
  });

  test.each([
    ['the same start', 0, 200],
    ['a start before, overlapping', -299.999, 200],
    ['a window that ends where this begins', -300, 201],
    ['a window that begins where this ends', 300, 201],
    ['a start just before the end', 299.999, 200],
    ['long before', -4000, 201],
  ])('windows are half-open: %s', async (_, seconds, status) => {
    const name = exercise();
    await world.join({ name });
    expect((await world.join({ name, startTimeUtc: at(seconds) })).status).toBe(status);
  });

  test('offsets and zones of a start are the same time', async () => {
    const name = exercise();
    const opened = await world.join({ name, startTimeUtc: '2026-03-01T12:00:00+02:00' });
    expect(opened.body.metadata.startTimeUtc).toBe(windowStart);
  });

  test('of several open sessions that overlap the newest wins', async () => {
    const name = exercise();
    const later = await world.join({ name, startTimeUtc: at(300) });
    const earlier = await world.join({ name, startTimeUtc: at(0) });
    expect(earlier.status).toBe(201);
    const between = await world.join({ name, startTimeUtc: at(150) });
    expect([between.status, between.body.id]).toEqual([200, earlier.body.id]);
    await close(earlier.body.id, {}, world.people.adminToken);
    const afterwards = await world.join({ name, startTimeUtc: at(150) });
    expect([afterwards.status, afterwards.body.id]).toEqual([200, later.body.id]);
  });

  test('a closed session is joined no more', async () => {
    const name = exercise();
    const opened = await world.join({ name });
    await close(opened.body.id, { email: 'machine-1@example.org' });
    const next = await world.join({ name });
    expect(next.status).toBe(201);
    expect(next.body.id).not.toBe(opened.body.id);
  });

  test('a session that was not opened by this route is never joined', async () => {
    const name = exercise();
    const fields = { Name: name, SimulationName: 'sim', ProjectId: world.projectId };
    await world.call('POST', '/session', {
      ...fields,
      SessionTemplateId: world.templateId,
      Metadata: { machineGroup: 1, startTimeUtc: windowStart, timeWindowSeconds: 300, status: 'open' },
    });
    expect((await world.join({ name })).status).toBe(201);
  });

  test('every role and offline tokens may join; nobody without a token', async () => {
    const name = exercise();
    const { people } = world;
    for (const token of [people.Trainee, people.Instructor, people.Developer, people.Administrator])
      expect([200, 201]).toContain((await world.join({ name }, token.token)).status);
    const anonymous = await ask(world.api.url, 'POST', '/api/v2/session/shared_session?projectId=1', {
      json: {},
    });
    expect(anonymous.status).toBe(401);
  });

  test('a frozen match is refused', async () => {
    const name = exercise();
    const opened = await world.join({ name });
    expect((await world.call('POST', `/api/v2/sessions/${opened.body.id}/freeze`)).status).toBe(200);
    expect(await world.join({ name })).toMatchObject(refused(400, 'Session is frozen.'));
    await world.call('POST', `/api/v2/sessions/${opened.body.id}/unfreeze`);
    expect((await world.join({ name })).status).toBe(200);
  });

  test('an unknown project or template is missing', async () => {
    expect(await world.join({ sessionTemplateId: 999_999 })).toMatchObject(
      refused(404, 'Session template not found.'),
    );
    const path = '/api/v2/session/shared_session?projectId=999999';
    const { body: opened } = await world.join({ name: exercise() });
    const json = {
      name: opened.name,
      simulationName: 'sim',
      email: 'a@example.org',
      sessionTemplateId: world.templateId,
      startTimeUtc: windowStart,
      machineGroup: 1,
    };
    expect(await world.call('POST', path, json)).toMatchObject(refused(404, 'Project not found.'));
  });

  test.each<[string, object]>([
    ['no name', { name: undefined }],
    ['an empty name', { name: ' ' }],
    ['a name of 256 characters', { name: 'x'.repeat(256) }],
    ['a name with a NUL', { name: 'a\u0000' }],
    ['no simulation', { simulationName: null }],
    ['no email', { email: undefined }],
    ['an email that is none', { email: 'nobody' }],
    ['no template', { sessionTemplateId: undefined }],
    ['a template that is text', { sessionTemplateId: '1' }],
    ['no start', { startTimeUtc: undefined }],
    ['a start that is no time', { startTimeUtc: '2026-02-30T00:00:00Z' }],
    ['a start that is a number', { startTimeUtc: 1 }],
    ['no machine group', { machineGroup: undefined }],
    ['a machine group that is no integer', { machineGroup: 1.5 }],
    ['a machine group beyond 32 bits', { machineGroup: 2 ** 31 }],
    ['a window of nothing', { timeWindowSeconds: 0 }],
    ['a window above a day', { timeWindowSeconds: 86_401 }],
    ['a window that is text', { timeWindowSeconds: '300' }],
  ])('refuses %s', async (_, fields) => {
    expect(await world.join({ name: 'refused', ...fields })).toMatchObject(refused(400, expect.any(String)));
  });

  test.each(['', '?projectId=', '?projectId=abc', '?projectId=0', '?projectId=1.5'])(
    'refuses %j as the project',
    async (query) => {
      const json = {
        name: 'x',
        simulationName: 'x',
        email: 'a@example.org',
        sessionTemplateId: world.templateId,
        startTimeUtc: windowStart,
        machineGroup: 1,
      };
      expect(await world.call('POST', `/api/v2/session/shared_session${query}`, json)).toMatchObject(
        refused(400, expect.any(String)),
      );
    },
  );

  test('windows at both ends of time work', async () => {
    for (const startTimeUtc of ['1970-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']) {
      const { status, body } = await world.join({
        name: exercise(),
        startTimeUtc,
        timeWindowSeconds: 86_400,
      });
      expect([status, body.metadata.startTimeUtc]).toEqual([201, startTimeUtc]);
    }
  });
});

describe('who takes part', () => {
  test('is stored by identifier, shown by address to those who may see them', async () => {
    const name = exercise();
    const { people } = world;
    const { body } = await world.join({ name, email: people.Trainee.email }, people.Instructor.token);
    expect(body).toMatchObject({
      email: people.Trainee.email,
      userId: people.Instructor.userId,
      metadata: {
        openedBy: people.Trainee.email,
        participants: [{ id: people.Trainee.userId, email: people.Trainee.email }],
      },
    });
    const toDevices = await shown(body.id, people.offlineToken);
    expect(toDevices).toMatchObject({
      email: people.Trainee.userId,
      metadata: {
        openedBy: people.Trainee.userId,
        participants: [{ id: people.Trainee.userId, email: null }],
      },
    });
    const stored = JSON.stringify(
      await world.query(
        'select * from session s join session_participant p on p.session_id = s.id where s.id = $1',
        [body.id],
      ),
    );
    expect(stored).toContain(world.keyOf(people.Trainee.email));
    expect(stored).not.toContain('@');
  });

  test('is the same person whether a device or they themselves name them', async () => {
    const name = exercise();
    const { people } = world;
    const opened = await world.join({ name, email: people.Instructor.email });
    const joined = await world.join({ name, email: people.Instructor.email }, people.Instructor.token);
    expect(joined.body.metadata.participants).toEqual(opened.body.metadata.participants);
    expect(joined.body.sessionUsers).toHaveLength(2);
    const closed = await close(opened.body.id, {}, people.Instructor.token);
    expect(closed).toMatchObject({
      status: 200,
      body: { participantCount: 1, closedBy: people.Instructor.email },
    });
  });

  test('is never confused with somebody else who has no address either', async () => {
    const { api, people, call } = world;
    const without = { email: '' };
    const [one, other] = await Promise.all([
      makePerson(api.url, people.adminToken, 'Instructor', without),
      makePerson(api.url, people.adminToken, 'Instructor', without),
    ]);
    const json = { ProjectId: world.projectId, SessionTemplateId: world.templateId };
    const { body } = await call('POST', '/session', json, one.token);
    expect((await close(body.id, {}, other.token)).status).toBe(403);
    expect(await close(body.id, {}, one.token)).toMatchObject({
      status: 200,
      body: { closedBy: one.userId },
    });
  });
});

describe('close', () => {
  test('by a participant gives the documented result, and records it', async () => {
    const { body } = await world.join({ name: exercise() });
    await world.join({ name: body.name, email: 'machine-2@example.org' });
    const before = Date.now();
    const closed = await close(
      body.id,
      { email: 'machine-2@example.org', reason: 'done' },
      world.people.offlineToken,
    );
    const key = world.keyOf('machine-2@example.org');
    expect(closed.status).toBe(200);
    expect(closed.body).toEqual({
      id: body.id,
      status: 'closed',
      participantCount: 2,
      closedAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      closedBy: key,
    });
    expect(Math.abs(Date.parse(closed.body.closedAt) - before)).toBeLessThan(10_000);
    expect((await shown(body.id)).metadata).toMatchObject({
      status: 'closed',
      closedBy: key,
      closedAt: closed.body.closedAt,
      closeReason: 'done',
    });
  });

  test.each(['/session/ID/close', '/api/v2/session/ID/close', '/api/v2.0/session/ID/close'])(
    'is answered at %s, without a body too',
    async (path) => {
      const { people } = world;
      const { body } = await world.join({ name: exercise(), email: people.Developer.email });
      const url = path.replace('ID', body.id);
      const first = await world.call('POST', url);
      expect(first).toMatchObject({ status: 200, body: { closedBy: people.Developer.email } });
    },
  );

  test('repeated, by whichever path and participant, gives the first result', async () => {
    const { body } = await world.join({ name: exercise() });
    await world.join({ name: body.name, email: 'machine-2@example.org' });
    const first = await close(body.id, { email: 'machine-1@example.org' }, world.people.offlineToken);
    for (const json of [
      { email: 'machine-1@example.org' },
      { email: 'machine-2@example.org', reason: 'other', closeAt: '1999-01-01T00:00:00Z' },
    ]) {
      const again = await world.call('POST', `/session/${body.id}/close`, json, world.people.offlineToken);
      expect([again.status, again.body]).toEqual([200, first.body]);
    }
    expect((await shown(body.id)).metadata).not.toHaveProperty('closeReason');
  });

  test('called a hundred times at once closes once', async () => {
    const { body } = await world.join({ name: exercise() });
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => close(body.id, { email: 'machine-1@example.org' })),
    );
    expect(new Set(answers.map((answer) => JSON.stringify([answer.status, answer.body]))).size).toBe(1);
  });

  test("refuses everybody's address that is no participant's, the Administrator's too, repeats included", async () => {
    const { people } = world;
    const { body } = await world.join({ name: exercise() });
    const message = 'The caller is not a participant of this session.';
    const email = people.Administrator.email;
    for (const token of [people.Administrator.token, people.Trainee.token, people.offlineToken])
      expect(await close(body.id, { email }, token)).toMatchObject(refused(403, message));
    for (const person of [people.Trainee, people.Instructor, people.Developer])
      expect(await close(body.id, {}, person.token)).toMatchObject(refused(403, message));
    // The device is the first Administrator's, but no access token.
    expect(await close(body.id, {}, people.offlineToken)).toMatchObject(refused(403, message));
    expect((await close(body.id, {}, people.Administrator.token)).body.closedBy).toBe(email);
    expect(await close(body.id, { email }, people.Administrator.token)).toMatchObject(refused(403, message));
    expect(await close(body.id, {}, people.Trainee.token)).toMatchObject(refused(403, message));
  });

  test('of a session made by POST /session is for the person in its email field', async () => {
    const { people, call } = world;
    const { body } = await call('POST', '/session', {
      ProjectId: world.projectId,
      SessionTemplateId: world.templateId,
      Email: people.Trainee.email,
      Metadata: { note: 1 },
    });
    expect((await close(body.id, {}, people.Developer.token)).status).toBe(403);
    const closed = await close(body.id, { reason: 'enough' }, people.Trainee.token);
    expect(closed).toMatchObject({
      status: 200,
      body: { participantCount: 1, closedBy: people.Trainee.email },
    });
    expect((await shown(body.id)).metadata).toEqual({
      note: 1,
      status: 'closed',
      closedBy: people.Trainee.email,
      closedAt: closed.body.closedAt,
      closeReason: 'enough',
    });
  });

  test('takes a time from the start of the session to 24 hours ahead', async () => {
    const email = 'machine-1@example.org';
    const message = "closeAt must lie between the session's start and 24 hours from now.";
    const ahead = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();
    const { body } = await world.join({ name: exercise() });
    for (const closeAt of [at(-0.001), ahead(24 * 3_600 + 60)])
      expect(await close(body.id, { email, closeAt })).toMatchObject(refused(400, message));
    const closed = await close(body.id, { email, closeAt: windowStart });
    expect(closed.body.closedAt).toBe(windowStart);
    const later = await world.join({ name: exercise() });
    const closeAt = ahead(23 * 3_600);
    expect((await close(later.body.id, { email, closeAt })).body.closedAt).toBe(closeAt);
    expect((await world.join({ name: later.body.name })).status).toBe(201);
    expect((await shown(later.body.id)).metadata).toMatchObject({ status: 'closed', closedAt: closeAt });
  });

  test.each<[string, unknown]>([
    ['an address that is none', { email: 'nobody' }],
    ['a number as address', { email: 5 }],
    ['a time that is none', { closeAt: 'tomorrow' }],
    ['a reason that is too long', { reason: 'x'.repeat(4_001) }],
    ['a list', []],
  ])('refuses %s', async (_, json) => {
    const { body } = await world.join({ name: exercise() });
    expect(await close(body.id, json)).toMatchObject(refused(400, expect.any(String)));
  });

  test.each(['018f0000-0000-7000-8000-000000000001', 'abc'])('answers %s as missing', async (id) => {
    expect(await close(id, {})).toMatchObject(refused(404, 'Session not found.'));
  });

  test('leaves uploads open until the session is frozen', async () => {
    const { body } = await world.join({ name: exercise() });
    await close(body.id, { email: 'machine-1@example.org' });
    const input = body.node_instances[0].id;
    expect((await world.upload(input)).status).toBe(201);
    await world.call('POST', `/api/v2/sessions/${body.id}/freeze`);
    expect(await world.upload(input)).toMatchObject(refused(400, 'Session is frozen.'));
  });
});

test('shared sessions keep what callers write in metadata beside what is the platform’s', async () => {
  const { body } = await world.join({ name: exercise() });
  const path = `/api/v2/sessions/${body.id}`;
  const patched = await world.call('PATCH', path, {
    metadata: { note: 'mine', status: 'closed', participants: ['a@example.org'], machineGroup: 9 },
  });
  expect(patched.status).toBe(200);
  expect(patched.body.metadata).toEqual({ ...body.metadata, note: 'mine' });
  await world.join({ name: body.name, email: 'machine-2@example.org' });
  expect((await shown(body.id)).metadata).toMatchObject({ note: 'mine', status: 'open' });
  const replaced = await world.call('PATCH', path, { metadata: {} });
  expect(replaced.body.metadata).not.toHaveProperty('note');
  expect(replaced.body.metadata.participants).toHaveLength(2);
});

test('a change that would make two open shared sessions overlap is refused', async () => {
  const first = await world.join({ name: exercise() });
  const second = await world.join({ name: exercise() });
  const rename = () => world.call('PATCH', `/api/v2/sessions/${second.body.id}`, { name: first.body.name });
  expect(await rename()).toMatchObject(refused(400, 'Invalid session data'));
  const template = [inputNode('x'), tabularNode('y', 'x')];
  const sessionTemplateId = await world.importTemplate('for overlaps', template);
  const third = await world.join({ name: first.body.name, sessionTemplateId });
  expect(
    await world.call('PATCH', `/api/v2/sessions/${third.body.id}`, { session_template_id: world.templateId }),
  ).toMatchObject(refused(400, 'Invalid session data'));
  expect(
    await world.call('PATCH', `/api/v2/sessions/${third.body.id}`, { simulation_name: null }),
  ).toMatchObject(refused(400, 'Invalid session data'));
  await close(first.body.id, { email: 'machine-1@example.org' });
  expect((await rename()).status).toBe(200);
});
