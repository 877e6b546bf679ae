import { beforeAll, describe, expect, test } from 'vitest';
import { projectRoutes } from '../../api/projects/routes.ts';
import { apiStage, makePerson } from '../support/api.ts';

const { api, call, people } = await apiStage({ routes: projectRoutes });

const refusal = (status: number, message: string) => ({ status, body: { status: 'error', message } });

describe('POST /projects', () => {
  test('creates a project owned by the caller with every field of the contract', async () => {
    const { status, body } = await call('POST', '/projects', { Title: ' Flight tests ', Icon: 'plane' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      hexId: expect.stringMatching(/^[0-9a-f]{16}$/),
      title: 'Flight tests',
      description: '',
      icon: 'plane',
      ownerId: body.owner.id,
      owner: {
        id: expect.any(Number),
        email: people.Developer.email,
        type: 'Developer',
        isActive: true,
        createdAt: expect.stringMatching(/Z$/),
        externalB2CId: null,
        externalPlatformId: people.Developer.userId,
        sessionUsers: [],
        sessionDimensions: [],
      },
      defaultSessionTemplateId: null,
      defaultSessionTemplate: null,
      queuedIngestion: false,
      retentionDays: null,
      pinnedMetadata: [],
      priority: 0,
      createdAt: expect.stringMatching(/Z$/),
    });
  });

  test('accepts camelCase names, and works under /api/v2 and /api/v2.0', async () => {
    for (const prefix of ['/api/v2', '/api/v2.0']) {
      const { status, body } = await call('POST', `${prefix}/projects`, {
        title: 'a',
        queuedIngestion: true,
      });
      expect([status, body.title, body.queuedIngestion]).toEqual([201, 'a', true]);
    }
  });

  test.each([
    ['no body', undefined],
    ['no title', {}],
    ['a blank title', { Title: '  ' }],
    ['a title of 256 characters', { Title: 'x'.repeat(256) }],
    ['a title with a control character', { Title: 'a\nb' }],
    ['a description that is too long', { Title: 'a', Description: 'x'.repeat(4001) }],
    ['an icon that is too large', { Title: 'a', Icon: 'x'.repeat(65_537) }],
    ['an owner that does not exist', { Title: 'a', OwnerId: 999_999 }],
    ['an owner beyond all ids', { Title: 'a', OwnerId: 2 ** 53 }],
    ['an owner that is text', { Title: 'a', OwnerId: '1' }],
    ['a template that does not exist', { Title: 'a', DefaultSessionTemplateId: 999_999 }],
    ['retention of no days', { Title: 'a', RetentionDays: 0 }],
    ['retention of half a day', { Title: 'a', RetentionDays: 0.5 }],
    ['queueing that is text', { Title: 'a', QueuedIngestion: 'true' }],
  ])('refuses %s', async (_, json) => {
    expect(await call('POST', '/projects', json)).toMatchObject(refusal(400, 'Invalid project data.'));
  });
});

describe('PUT /projects/{id}', () => {
  test('changes the sent fields and keeps the rest', async () => {
    const made = await call('POST', '/projects', {
      Title: 'a',
      Description: 'b',
      Icon: 'c',
      RetentionDays: 5,
    });
    const changed = await call(
      'PUT',
      `/projects/${made.body.id}`,
      { Title: 'd', Icon: '' },
      people.adminToken,
    );
    expect(changed.status).toBe(200);
    expect(changed.body).toEqual({ ...made.body, title: 'd', icon: '' });
    const cleared = await call('PUT', `/projects/${made.body.id}`, { Title: 'd', RetentionDays: null });
    expect(cleared.body.retentionDays).toBeNull();
  });

  test('transfers a project to another owner, also with an offline token', async () => {
    const other = await call('POST', '/projects', { Title: 'x' }, people.Instructor.token);
    const made = await call('POST', '/projects', { Title: 'a' });
    const json = { Title: 'a', OwnerId: other.body.ownerId };
    const changed = await call('PUT', `/projects/${made.body.id}`, json, people.offlineToken);
    expect([changed.status, changed.body.ownerId, changed.body.owner.email]).toEqual([
      200,
      other.body.ownerId,
      '',
    ]);
    expect(changed.body.owner.externalPlatformId).toBe(people.Instructor.userId);
  });

  test('at the same time as another is as one after the other: the last one stays', async () => {
    for (let round = 0; round < 20; round++) {
      const made = await call('POST', '/projects', { Title: 'x0', Description: 'd0' });
      const change = (json: object) => call('PUT', `/projects/${made.body.id}`, json);
      const answers = await Promise.all([
        change({ Title: 'x0', Description: 'd1' }),
        change({ Title: 'y', Description: 'd0' }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      const { title, description } = (await call('GET', `/projects/${made.body.id}`)).body;
      expect(['x0 d1', 'y d0']).toContain(`${title} ${description}`);
    }
  });

  test('refuses missing or wrong values', async () => {
    const made = await call('POST', '/projects', { Title: 'a' });
    expect(await call('PUT', '/projects/999999', { Title: 'a' })).toMatchObject(
      refusal(404, 'Project not found.'),
    );
    expect(await call('PUT', '/projects/abc', { Title: 'a' })).toMatchObject(
      refusal(404, 'Project not found.'),
    );
    expect(await call('PUT', `/projects/${made.body.id}`, {})).toMatchObject(
      refusal(400, 'Invalid project data.'),
    );
    const json = { Title: 'a', OwnerId: 999_999 };
    expect(await call('PUT', `/projects/${made.body.id}`, json)).toMatchObject(
      refusal(400, 'Invalid project data.'),
    );
    expect(
      (await call('PUT', `/projects/${made.body.id}`, { Title: 'z' }, people.Trainee.token)).status,
    ).toBe(401);
  });
});

describe('GET /projects', () => {
  test('lists all to every role, with addresses only where the caller may see them', async () => {
    const made = await call('POST', '/projects', { Title: 'listed' });
    for (const token of [people.Administrator.token, people.Instructor.token, people.Developer.token]) {
      const list = await call('GET', '/projects', undefined, token);
      expect(list.status).toBe(200);
      expect(list.body).toContainEqual(made.body);
      expect((await call('GET', `/projects/${made.body.id}`, undefined, token)).body).toEqual(made.body);
    }
    for (const token of [people.Trainee.token, people.offlineToken]) {
      const one = await call('GET', `/projects/${made.body.id}`, undefined, token);
      expect(one.body).toEqual({ ...made.body, owner: { ...made.body.owner, email: '' } });
    }
  });

  test('lists hundreds of projects, each once, in the order of their creation', async () => {
    await api.composed.services.database.query(
      `insert into project (hex_id, title, owner_id)
       select md5(i::text), 'many', p.owner_id from generate_series(1, 250) i, (select owner_id from project limit 1) p`,
    );
    const ids = (await call('GET', '/projects')).body.map(({ id }: { id: number }) => id);
    expect(ids.length).toBeGreaterThan(250);
    expect(ids).toEqual([...new Set<number>(ids)].toSorted((a, b) => a - b));
  });

  test('shows the present role of an owner whom the caller may see', async () => {
    const owner = await makePerson(api.url, people.adminToken, 'Instructor');
    const made = await call('POST', '/projects', { Title: 'promoted' }, owner.token);
    const role = { role: 'Developer' };
    await call('PATCH', `/api/authorization/users/${owner.userId}`, role, people.adminToken);
    const one = await call('GET', `/projects/${made.body.id}`, undefined, people.Instructor.token);
    expect(one.body).toEqual({ ...made.body, owner: { ...made.body.owner, type: 'Developer' } });
    expect((await call('GET', '/projects', undefined, people.Instructor.token)).body).toContainEqual(
      one.body,
    );
  });

  describe('of an owner who was deleted', () => {
    let made: Awaited<ReturnType<typeof call>>;
    let owner: Awaited<ReturnType<typeof makePerson>>;
    beforeAll(async () => {
      owner = await makePerson(api.url, people.adminToken, 'Instructor');
      made = await call('POST', '/projects', { Title: 'left behind' }, owner.token);
      await call('DELETE', `/api/authorization/users/${owner.userId}`, undefined, people.adminToken);
    });
    const shown = async (token: string) => {
      const list = await call('GET', '/projects', undefined, token);
      const one = await call('GET', `/projects/${made.body.id}`, undefined, token);
      expect(list.body).toContainEqual(one.body);
      return one.body.owner;
    };

    test('shows them as inactive to those who see everybody, with the ids kept', async () => {
      for (const token of [people.adminToken, people.Instructor.token, people.Developer.token])
        expect(await shown(token)).toEqual({ ...made.body.owner, email: '', isActive: false });
    });

    test('tells those who may not see them nothing new', async () => {
      for (const token of [people.Trainee.token, people.offlineToken])
        expect(await shown(token)).toEqual({ ...made.body.owner, email: '' });
    });
  });

  test.each(['999999', 'abc', '0', '-1', '9007199254740993'])('answers id %s as missing', async (id) => {
    expect(await call('GET', `/projects/${id}`)).toMatchObject(refusal(404, 'Project not found'));
  });
});
