import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testEnvironment } from '../../support/stack.ts';
import { type SessionWorld, sessionCreator, sessionWorld } from './support.ts';

const platform = await testEnvironment();
let world: SessionWorld;
let otherProject: number;
/** By name. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  world = await sessionWorld(platform);
  const create = sessionCreator(world);
  otherProject = (
    await world.call('POST', '/projects', { Title: 'Tracks', PinnedMetadata: ['track.name', 'missing'] })
  ).body.id;
  const spa = { track: { name: 'Spa', length: 7004 }, tyre: 'soft' };
  const made = {
    idle: await create({ Name: 'idle' }),
    broken: await create({ Name: 'broken', Metadata: { track: { name: 'Monza' } } }),
    spa: await create({ Name: 'spa', ProjectId: otherProject, Metadata: spa }, world.people.Instructor.token),
    busy: await create({ Name: 'busy' }),
  };
  for (const [name, session] of Object.entries(made)) ids[name] = session.id;
  await world.upload(made.broken.nodeInstances[0].id, 'not a table');
  await world.upload(made.busy.nodeInstances[0].id);
  // No worker runs here: the failure of a node is written as its run would.
  await world.query(
    `with run as (update node_run set state = 'done', outcome = 'failed' where session_id = $1)
     update node_instance set state = 2 where session_id = $1 and name = 'out'`,
    [ids.broken],
  );
});
afterAll(() => world.api.stop());

const names = async (query: string, token?: string): Promise<string[]> => {
  const { status, body } = await world.call('GET', `/api/v2/session${query}`, undefined, token);
  expect(status).toBe(200);
  return body.sessions.map(({ name }: { name: string }) => name);
};

describe('a list of sessions', () => {
  test.each([
    ['?state=failed', ['broken']],
    ['?state=running', ['busy']],
    ['?state=notStarted', ['spa', 'idle']],
    ['?state=done', []],
    ['?state=failed,running', ['busy', 'broken']],
    ['?state=notStarted&search=SPA', ['spa']],
    ['?owner=me', ['busy', 'broken', 'idle']],
    ['?from=2026-01-01&to=2100-01-01', ['busy', 'spa', 'broken', 'idle']],
    ['?to=2026-01-01', []],
    ['?from=2100-01-01', []],
  ])('answers %s', async (query, expected) => {
    expect(await names(query)).toEqual(expected);
  });

  test('takes the id of an owner, and names owners whom the caller may see', async () => {
    const { userId, token } = world.people.Instructor;
    expect(await names(`?owner=${userId}`)).toEqual(['spa']);
    expect(await names('?owner=me', token)).toEqual(['spa']);
    const { body } = await world.call('GET', `/api/v2/session?owner=${userId}`);
    expect(body).toMatchObject({ totalCount: 1, totalCountIsExact: true, totalPages: 1 });
    expect(body.sessions[0].owner).toEqual({ id: userId, name: expect.any(String) });
    const device = await world.call('GET', '/api/v2/session', undefined, world.people.offlineToken);
    expect(device.body.sessions.every((row: { owner: { name: unknown } }) => row.owner.name === null)).toBe(
      true,
    );
    expect(JSON.stringify(body)).not.toContain('@');
  });

  test('shows what the project pins, and counts of nodes', async () => {
    const { body } = await world.call('GET', '/api/v2/session?search=spa');
    expect(body.sessions[0]).toMatchObject({
      pinnedMetadata: [{ path: 'track.name', value: 'Spa' }],
      state: 'notStarted',
      nodeCounts: { NeverBegan: 2 },
    });
    const busy = await world.call('GET', '/api/v2/session?search=busy');
    expect(busy.body.sessions[0]).toMatchObject({
      nodeCounts: { Succeeded: 1, Pending: 1 },
      outputBytes: 8,
      frozen: false,
    });
  });

  test('has counts for its tabs', async () => {
    const exact = (count: number) => ({ count, isExact: true });
    const counts = async (query: string) => (await world.call('GET', `/api/v2/session/counts${query}`)).body;
    expect(await counts('')).toEqual({ all: exact(4), running: exact(1), failed: exact(1), mine: exact(3) });
    expect(await counts(`?projectId=${otherProject}`)).toEqual({
      all: exact(1),
      running: exact(0),
      failed: exact(0),
      mine: exact(0),
    });
    expect((await counts('?search=bro')).failed).toEqual(exact(1));
  });

  test('is for staff and devices', async () => {
    for (const path of ['/counts', '/metadata-keys', '/storage']) {
      const as = (token: string) => world.call('GET', `/api/v2/session${path}`, undefined, token);
      expect((await as(world.people.offlineToken)).status).toBe(200);
      expect((await as(world.people.Trainee.token)).status).toBe(403);
    }
  });
});

test('a session shows the same of its work as its row', async () => {
  const row = (await world.call('GET', '/api/v2/session?search=spa')).body.sessions[0];
  const { body } = await world.call('GET', `/api/v2/sessions/${ids.spa}`);
  for (const field of [
    'state',
    'frozen',
    'nodeCounts',
    'outputBytes',
    'lastActivityAt',
    'owner',
    'pinnedMetadata',
  ])
    expect(body[field], field).toEqual(row[field]);
  await world.call('POST', `/api/v2/sessions/${ids.spa}/freeze`);
  expect((await world.call('GET', `/api/v2/sessions/${ids.spa}`)).body.frozen).toBe(true);
  await world.call('POST', `/api/v2/sessions/${ids.spa}/unfreeze`);
});

test('a query finds sessions by state, owner and last activity', async () => {
  const found = async (filter: object) =>
    (await world.call('POST', '/api/sessions/query', { filter })).body.template.sessions.map(
      ({ name }: { name: string }) => name,
    );
  expect(await found({ path: 'state', op: 'eq', value: 'failed' })).toEqual(['broken']);
  expect(await found({ path: 'owner', op: 'ne', value: 'me' })).toEqual(['spa']);
  expect(await found({ path: 'lastActivityAt', op: 'lt', value: '2026-01-01' })).toEqual([]);
});

test('metadata keys come with sample values, of one project or all', async () => {
  const keys = async (query: string) =>
    (await world.call('GET', `/api/v2/session/metadata-keys${query}`)).body.keys;
  expect(await keys(`?projectId=${otherProject}`)).toEqual([
    { path: 'track.length', sessions: 1, samples: [7004] },
    { path: 'track.name', sessions: 1, samples: ['Spa'] },
    { path: 'tyre', sessions: 1, samples: ['soft'] },
  ]);
  expect((await keys(''))[0]).toEqual({ path: 'track.name', sessions: 2, samples: ['Spa', 'Monza'] });
});

describe('what a project pins', () => {
  const put = (PinnedMetadata: unknown) =>
    world.call('PUT', `/projects/${otherProject}`, { Title: 'Tracks', PinnedMetadata });

  test('is changed, kept when absent, and checked', async () => {
    expect((await put(['tyre'])).body.pinnedMetadata).toEqual(['tyre']);
    expect((await put(undefined)).body.pinnedMetadata).toEqual(['tyre']);
    for (const wrong of [
      ['a..b'],
      [''],
      ['participants.0'],
      ['a', 'a'],
      'a',
      Array.from({ length: 9 }, (_, at) => `k${at}`),
    ])
      expect((await put(wrong)).status, JSON.stringify(wrong)).toBe(400);
    expect((await put([])).body.pinnedMetadata).toEqual([]);
  });
});
