import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startAuth } from '../../../auth/main.ts';
import { authServerSettings, authSettings } from '../../../auth/settings.ts';
import type { RunningServer } from '../../../http/server/server.ts';
import { makePerson } from '../../support/api.ts';
import { type AuthWire, openAuthWire } from '../../support/network/auth-wire.ts';
import { testEnvironment } from '../../support/stack.ts';
import { type SessionWorld, sessionCreator, sessionWorld } from './support.ts';

const platform = await testEnvironment();
let auth: RunningServer;
let wire: AuthWire;
let world: SessionWorld;
beforeAll(async () => {
  auth = await startAuth(
    authSettings.parse(platform.environment),
    authServerSettings.parse({ PORT: '0', LOG_LEVEL: 'silent', RESPONSE_CHECKS: 'strict' }),
  );
  wire = await openAuthWire(auth.url);
  world = await sessionWorld(platform, { AUTH_URL: wire.url });
});
afterAll(async () => {
  await world.api.stop();
  wire.close();
  await auth.stop(1);
});
beforeEach(() => {
  wire.fault = null;
});

const everything = async () => {
  const tables = await world.query<{ name: string }>(
    `select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const texts = await Promise.all(
    tables.map(
      async ({ name }) => `${name}: ${JSON.stringify(await world.query(`select * from "${name}"`))}`,
    ),
  );
  return texts.join('\n');
};

describe.each(['broken', 'failing', 'a page', 'other JSON', 'refused by something else'] as const)(
  'while the answer of the authentication service is: %s',
  (kind) => {
    test.each<[string, string, (email: string) => Promise<{ status: number; headers: Headers }>]>([
      [
        'a join',
        '/users/resolve',
        (email) => world.join({ name: 'never written', email }, world.people.Instructor.token),
      ],
      [
        'a close in the name of somebody',
        '/users/resolve',
        async (email) => {
          wire.fault = null;
          const opened = await world.join({ name: `closable ${kind}` });
          wire.fault = { path: '/users/resolve', kind };
          return world.call('POST', `/api/v2/session/${opened.body.id}/close`, { email });
        },
      ],
      [
        'an update of the address',
        '/users/resolve',
        async (email) => {
          wire.fault = null;
          const opened = await world.join({ name: `changeable ${kind}` });
          wire.fault = { path: '/users/resolve', kind };
          return world.call('PATCH', `/api/v2/sessions/${opened.body.id}`, { email, name: 'never written' });
        },
      ],
      [
        'a session whose metadata names somebody',
        '/users/resolve',
        (email) =>
          world.call('POST', '/session', {
            Name: 'never written',
            ProjectId: world.projectId,
            SessionTemplateId: world.templateId,
            Metadata: { openedBy: email },
          }),
      ],
      [
        'a join with a token that cannot be checked',
        '/validate',
        (email) => world.join({ name: 'never written', email }),
      ],
    ])('%s is answered 503 with Retry-After: 1 and nothing is written', async (_, path, ask) => {
      wire.fault = { path, kind };
      const answer = await ask('somebody@example.org');
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
      wire.fault = null;
      expect(await everything()).not.toContain('never written');
      expect(await world.query('select 1 from session where closed_at is not null')).toEqual([]);
    });

    test('devices can join, since they resolve no person, and replies show identifiers', async () => {
      wire.fault = { path: '/users', kind };
      const { people } = world;
      const { status, body } = await world.join({ name: `devices ${kind}`, email: people.Trainee.email });
      expect([status, body.email]).toEqual([201, world.keyOf(people.Trainee.email)]);
      const shown = await world.call(
        'GET',
        `/api/v2/sessions/${body.id}`,
        undefined,
        people.Instructor.token,
      );
      expect([shown.status, shown.body.email]).toEqual([200, world.keyOf(people.Trainee.email)]);
    });
  },
);

test('a person whom the caller may not see is a one-way key, and matches when they join', async () => {
  const { api, people } = world;
  const stranger = await makePerson(api.url, people.adminToken, 'Trainee', { company: 'Other' });
  const name = 'Strangers';
  // A Trainee cannot resolve people of another company.
  const opened = await world.join({ name, email: stranger.email }, people.Trainee.token);
  expect(opened.body.metadata.openedBy).toBe(world.keyOf(stranger.email));
  const joined = await world.join({ name, email: stranger.email }, stranger.token);
  expect(joined.body.metadata.participants).toHaveLength(1);
  expect((await world.call('PATCH', `/api/v2/sessions/${opened.body.id}`, {}, stranger.token)).status).toBe(
    200,
  );
  const closed = await world.call(
    'POST',
    `/api/v2/session/${opened.body.id}/close`,
    undefined,
    stranger.token,
  );
  expect(closed).toMatchObject({ status: 200, body: { participantCount: 1, closedBy: stranger.email } });
  const repeat = await world.call(
    'POST',
    `/api/v2/session/${opened.body.id}/close`,
    { email: stranger.email },
    people.offlineToken,
  );
  expect(repeat.body).toEqual({ ...closed.body, closedBy: stranger.userId });
});

test('a person whose address has changed is still the same participant', async () => {
  const { api, people } = world;
  const person = await makePerson(api.url, people.adminToken, 'Instructor');
  const { body } = await world.join({ name: 'Renamed', email: person.email }, person.token);
  const email = 'new-address@example.org';
  await world.call('PATCH', `/api/authorization/users/${person.userId}`, { email }, people.adminToken);
  const joined = await world.join({ name: 'Renamed', email }, people.Instructor.token);
  expect([joined.status, joined.body.metadata.participants.length]).toEqual([200, 1]);
  expect((await world.call('POST', `/api/v2/session/${body.id}/close`, {}, person.token)).status).toBe(200);
});

test('a session that a device sends back as it got it does not change, nor who is in its email', async () => {
  const { people, keyOf } = world;
  const patch = async (id: string, json: unknown, token = people.offlineToken) =>
    world.call('PATCH', `/api/v2/sessions/${id}`, json, token);
  for (const email of [people.Trainee.email, 'somebody@example.org']) {
    const { id } = await sessionCreator(world)({ Email: email, Metadata: { seat: 4 } });
    const { body: shown } = await patch(id, {});
    expect(await patch(id, shown)).toMatchObject({ status: 200, body: shown });
    expect(await patch(id, { email })).toMatchObject({ status: 200, body: shown });
    for (const other of [people.Instructor.userId, keyOf('nobody@example.org'), ''])
      expect((await patch(id, { email: other, name: 'No' })).status).toBe(400);
    expect((await patch(id, {})).body).toEqual(shown);
  }
});

test('a person whom a device named is known as soon as a token that resolves them names them again', async () => {
  const { people, keyOf } = world;
  const { id } = await sessionCreator(world)({});
  const named = async (token: string) =>
    (await world.call('PATCH', `/api/v2/sessions/${id}`, { email: people.Trainee.email }, token)).body.email;
  expect(await named(people.offlineToken)).toBe(keyOf(people.Trainee.email));
  expect(await named(people.Developer.token)).toBe(people.Trainee.email);
});

test('no table holds an address, a token or a password after every route of sessions was called', async () => {
  const { people } = world;
  const canaries = [
    'canary-one@example.org',
    'Canary.Two@Example.org',
    people.Trainee.email,
    people.Instructor.email,
  ];
  for (const [index, email] of canaries.entries()) {
    const name = `Canaries ${index}`;
    for (const token of [people.offlineToken, people.Instructor.token, people.Trainee.token])
      await world.join({ name, email }, token);
    const { body } = await world.join({ name, email });
    const metadata = { openedBy: email, closedBy: email, participants: [email, { email }] };
    await world.call('PATCH', `/api/v2/sessions/${body.id}`, { email, metadata });
    await world.call('GET', `/api/v2/sessions/${body.id}`);
    await world.call('POST', `/api/v2/session/${body.id}/close`, { email });
    const session = await world.call('POST', '/session', {
      Email: email,
      Metadata: metadata,
      ProjectId: world.projectId,
      SessionTemplateId: world.templateId,
    });
    await world.call('PATCH', `/api/v2/sessions/${session.body.id}`, { email, metadata });
    await world.call('POST', `/api/v2/session/${session.body.id}/close`, { email });
  }
  const stored = (await everything()).toLowerCase();
  for (const secret of [
    ...canaries,
    '@example.org',
    people.offlineToken,
    people.Trainee.token,
    people.Trainee.password,
  ])
    expect(stored).not.toContain(secret.toLowerCase());
});
