/** Saved views of the list of sessions: for oneself, for a project, for everyone. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';

const stage = await runnerStage();
const { api, people } = stage;
const path = '/api/v2/session/views';
const { Developer, Instructor, Trainee } = people;

const call = (method: string, at: string, json?: unknown, token = Developer.token) =>
  ask(api.url, method, at, { token, json });
const own = (name: string, query = 'tab=failed') => ({ name, scope: 'mine', query });
const named = (views: readonly { name: string }[], prefix: string) =>
  views.map(({ name }) => name).filter((name) => name.startsWith(prefix));
const listed = async (prefix: string, token = Developer.token) =>
  named((await call('GET', path, undefined, token)).body.views, prefix);

describe('saved views', () => {
  let projectId: number;
  beforeAll(async () => {
    const project = await call('POST', '/projects', { Title: 'Red Bull Ring' }, people.adminToken);
    projectId = project.body.id;
  });

  test('are saved, listed by name, changed whole and deleted', async () => {
    const prefix = randomUUID();
    const second = await call('POST', path, own(`${prefix} b`));
    expect(second).toMatchObject({
      status: 201,
      body: {
        name: `${prefix} b`,
        scope: 'mine',
        projectId: null,
        query: 'tab=failed',
        isOwn: true,
        createdByName: expect.any(String),
        createdAt: expect.stringMatching(/Z$/),
      },
    });
    await call('POST', path, own(`${prefix} A`));
    expect(await listed(prefix)).toEqual([`${prefix} A`, `${prefix} b`]);
    const at = `${path}/${second.body.id}`;
    const changed = await call('PUT', at, { ...own(`${prefix} 0`, ''), scope: 'project', projectId });
    expect(changed).toMatchObject({ status: 200, body: { scope: 'project', projectId, query: '' } });
    expect(await listed(prefix)).toEqual([`${prefix} 0`, `${prefix} A`]);
    expect((await call('DELETE', at)).status).toBe(204);
    expect((await call('DELETE', at)).status).toBe(404);
    expect((await call('PUT', at, own('gone'))).status).toBe(404);
  });

  test('are seen by others only when they are shared, and changed by nobody else but an Administrator', async () => {
    const prefix = randomUUID();
    const mine = await call('POST', path, own(`${prefix} mine`));
    const shared = await call('POST', path, { ...own(`${prefix} shared`), scope: 'everyone' });
    expect(await listed(prefix, Instructor.token)).toEqual([`${prefix} shared`]);
    const change = { ...own(`${prefix} taken`), scope: 'everyone' };
    const by = (id: string, token: string) => call('PUT', `${path}/${id}`, change, token);
    expect((await by(mine.body.id, Instructor.token)).status).toBe(404);
    expect((await by(mine.body.id, people.adminToken)).status).toBe(404);
    expect((await by(shared.body.id, Instructor.token)).status).toBe(403);
    expect((await call('DELETE', `${path}/${shared.body.id}`, undefined, Instructor.token)).status).toBe(403);
    expect(await listed(prefix, Instructor.token)).toEqual([`${prefix} shared`]);
    expect((await by(shared.body.id, people.adminToken)).body).toMatchObject({ isOwn: false });
    expect((await call('DELETE', `${path}/${shared.body.id}`, undefined, people.adminToken)).status).toBe(
      204,
    );
  });

  test('of a project go with it, and belong to one that is there', async () => {
    const prefix = randomUUID();
    const view = { ...own(`${prefix} p`), scope: 'project' };
    expect((await call('POST', path, { ...view, projectId: 2_000_000_000 })).status).toBe(404);
    expect((await call('POST', path, { ...view, projectId })).status).toBe(201);
    expect(await listed(prefix)).toEqual([`${prefix} p`]);
    await stage.database.query('delete from project where id = $1', [projectId]);
    expect(await listed(prefix)).toEqual([]);
  });

  test('are refused with their fault, and nothing is saved', async () => {
    const prefix = randomUUID();
    const refused = [
      own(''),
      { ...own(`${prefix} x`), scope: 'all' },
      { ...own(`${prefix} x`), scope: 'project' },
      { ...own(`${prefix} x`), projectId: 1 },
      own(`${prefix} x`, 'x'.repeat(8_193)),
      own(`${prefix} x`, `search=${encodeURIComponent('jo@example.org')}`),
      own(`${prefix} x`, 'search=\u0000'),
      own(`${prefix} x`, 'tab=failed&password=secret'),
    ];
    for (const json of refused)
      expect((await call('POST', path, json)).status, JSON.stringify(json).slice(0, 80)).toBe(400);
    expect(await listed(prefix)).toEqual([]);
    expect((await call('GET', path, undefined, Trainee.token)).status).toBe(403);
    expect((await call('POST', path, own('x'), Trainee.token)).status).toBe(403);
  });

  test('are at most 200 for a person, also of calls at the same time', async () => {
    const { token, userId } = Instructor;
    await stage.database.query(
      `insert into session_view (id, name, scope, query, created_by)
       select gen_random_uuid(), 'filler ' || n, 'mine', '', $1 from generate_series(1, 198) as n`,
      [userId],
    );
    const tries = await Promise.all(
      Array.from({ length: 6 }, (_, index) => call('POST', path, own(`filler more ${index}`), token)),
    );
    expect(tries.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400, 400, 400]);
    expect(tries.find(({ status }) => status === 400)?.body.message).toBe(
      'A person saves at most 200 views.',
    );
  });
});
