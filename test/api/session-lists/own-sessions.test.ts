/** Whose sessions the list of the caller's own shows, to each role. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isSessionMember } from '../../../store/sessions/sessions.ts';
import { makePerson, type TestPerson } from '../../support/api.ts';
import { testEnvironment } from '../../support/stack.ts';
import { refused, type SessionWorld, sessionCreator, sessionWorld } from '../sessions/support.ts';

const platform = await testEnvironment();
let world: SessionWorld;
let trainee: TestPerson;
let other: TestPerson;
/** By name: how the Trainee belongs to each; `not` of those to which they do not. */
const made = new Map<string, string>();

const mine = (token: string, query = '') =>
  world.call('GET', `/api/v2/session/mine${query}`, undefined, token);
const namesOf = async (token: string): Promise<string[]> =>
  (await mine(token, '?pageSize=100')).body.sessions.map((row: { name: string }) => row.name);

beforeAll(async () => {
  world = await sessionWorld(platform);
  const { url } = world.api;
  trainee = await makePerson(url, world.people.adminToken, 'Trainee');
  other = await makePerson(url, world.people.adminToken, 'Trainee');
  const create = sessionCreator(world);
  const make = async (name: string, token: string, more: object) => {
    const session = await create({ Name: name, ...more }, token);
    expect(session, name).toHaveProperty('id');
    made.set(name, session.id);
  };
  const join = async (name: string, email: string, token?: string) => {
    const { status, body } = await world.join({ name, email }, token);
    expect(status, JSON.stringify(body)).toBeLessThan(300);
    made.set(name, body.id);
  };
  await make('not: of another', other.token, {});
  await make('not: named in free metadata', other.token, {
    Metadata: { participants: [{ id: trainee.userId }, trainee.email], openedBy: trainee.email },
  });
  await make('not: moved to another', world.people.Instructor.token, { Email: trainee.email });
  const moved = { email: other.email };
  await world.call('PATCH', `/api/v2/sessions/${made.get('not: moved to another')}`, moved);
  await make('made', trainee.token, {});
  await make('made for another', trainee.token, { Email: other.email });
  await make('made for me', world.people.Instructor.token, { Email: ` ${trainee.email.toUpperCase()} ` });
  // A device knows nobody: it names the person by the key of the address.
  await make('made for me by a device', world.people.offlineToken, { Email: trainee.email });
  await join('opened for me by a device', trainee.email);
  await join('joined', other.email);
  await join('joined', trainee.email, world.people.Instructor.token);
  await join('joined by a device', other.email);
  await join('joined by a device', trainee.email);
  await join('not: joined by another', other.email);
});
afterAll(() => world.api.stop());

const expected = () => [...made.keys()].filter((name) => !name.startsWith('not:')).reverse();

describe('the list of own sessions', () => {
  test('shows a Trainee those that they made and in which they take part, newest first, and no other', async () => {
    expect(await namesOf(trainee.token)).toEqual(expected());
  });

  test('agrees with who may open the dashboards of a session, for every person and session', async () => {
    const everybody = [
      ...Object.values(world.people).filter((one) => typeof one === 'object'),
      trainee,
      other,
    ];
    for (const person of everybody as TestPerson[]) {
      const key = { identifier: person.userId, key: world.keyOf(person.email) };
      const members = await Promise.all(
        [...made].map(async ([name, id]) =>
          (await isSessionMember(world.api.composed.services.database, id, key)) ? [name] : [],
        ),
      );
      expect((await namesOf(person.token)).sort()).toEqual(members.flat().sort());
    }
  });

  test('shows rows of the list of all sessions, which a Trainee still may not read', async () => {
    const { people } = world;
    const all = await world.call('GET', '/api/v2/session?owner=me', undefined, people.Instructor.token);
    const own = (await mine(people.Instructor.token)).body;
    expect(own.sessions).toEqual(all.body.sessions);
    expect(own).toMatchObject({
      page: 1,
      pageSize: 25,
      totalCount: 2,
      totalCountIsExact: true,
      totalPages: 1,
    });
    expect((await world.call('GET', '/api/v2/session', undefined, trainee.token)).status).toBe(403);
    // What a row says, its Trainee may read of the session itself.
    const [row] = (await mine(trainee.token)).body.sessions;
    const { body: whole } = await world.call('GET', `/api/v2/sessions/${row.id}`, undefined, trainee.token);
    const { projectTitle, sessionTemplateName, metadata: _, ...rest } = row;
    expect(whole).toMatchObject(rest);
    expect([whole.project.title, whole.sessionTemplate.name]).toEqual([projectTitle, sessionTemplateName]);
  });

  test('shows nothing to people without a session, and needs a token', async () => {
    const { token } = await makePerson(world.api.url, world.people.adminToken, 'Trainee');
    expect((await mine(token)).body).toMatchObject({ sessions: [], totalCount: 0, totalPages: 0 });
    expect((await mine('')).status).toBe(401);
  });

  test('shows a device those that it made', async () => {
    expect(await namesOf(world.people.offlineToken)).toContain('made for me by a device');
  });

  test('pages neither repeat nor skip', async () => {
    const { length } = expected();
    const pages = await Promise.all(
      Array.from({ length: length + 1 }, (_, index) => mine(trainee.token, `?pageSize=1&page=${index + 1}`)),
    );
    for (const { body } of pages) expect(body).toMatchObject({ totalCount: length, totalPages: length });
    expect(pages.flatMap(({ body }) => body.sessions.map((row: { name: string }) => row.name))).toEqual(
      expected(),
    );
    expect((await mine(trainee.token, '?page=2147483647&pageSize=100')).body.sessions).toEqual([]);
  });

  test.each([
    ['?page=0', 'page must be 1 or greater.'],
    ['?pageSize=101', 'pageSize must be between 1 and 100.'],
    ['?pageSize=all', 'pageSize must be between 1 and 100.'],
  ])('refuses %s', async (query, message) => {
    expect(await mine(trainee.token, query)).toMatchObject(refused(400, message));
  });
});
