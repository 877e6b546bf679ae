import { afterAll, describe, expect, test } from 'vitest';
import { makePerson } from '../../support/api.ts';
import { testEnvironment } from '../../support/stack.ts';
import { inputNode, tabularNode } from '../../support/templates.ts';
import { exercise, sharedCalls } from './shared-calls.ts';
import { closeTests } from './shared-close.ts';
import { joinTests } from './shared-join.ts';
import { refused, sessionWorld } from './support.ts';

const platform = await testEnvironment();
const world = await sessionWorld(platform);
afterAll(() => world.api.stop());
const { close, shown } = sharedCalls(world);

joinTests(world);
closeTests(world);

describe('a new simulation of a shared session', () => {
  const rename = (id: string, simulation_name: unknown) =>
    world.call('PATCH', `/api/v2/sessions/${id}`, { simulation_name });

  test('is trimmed, so that requests that name it join the session', async () => {
    const name = exercise();
    const { body } = await world.join({ name });
    expect(await rename(body.id, ' Sim A ')).toMatchObject({
      status: 200,
      body: { simulation_name: 'Sim A' },
    });
    const joined = await world.join({ name, simulationName: 'Sim A' });
    expect([joined.status, joined.body.id]).toEqual([200, body.id]);
  });

  test.each([
    ['no text', null],
    ['blank', ' \t '],
    ['of two lines', 'Sim\nA'],
    ['with control characters', 'Sim\tA\u0007'],
    ['of 256 characters', 'x'.repeat(256)],
  ])('is refused when %s, as no request could join it', async (_, simulation) => {
    const { body } = await world.join({ name: exercise() });
    expect(await rename(body.id, simulation)).toMatchObject(refused(400, 'Invalid session data'));
    expect((await shown(body.id)).simulationName).toBe('sim');
  });
});

describe('participants', () => {
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

  test('are never confused with another person without an address', async () => {
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

test('a change that overlaps two open shared sessions is refused', async () => {
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
