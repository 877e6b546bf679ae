import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { projectRoutes } from '../../../api/projects/routes.ts';
import { sessionTemplateRoutes } from '../../../api/session-templates/routes.ts';
import { sessionRoutes } from '../../../api/sessions/routes.ts';
import { apiStage, ask } from '../../support/api.ts';
import { inputNode, ship, templateFile } from '../../support/templates.ts';

const routes = [...sessionRoutes, ...projectRoutes, ...sessionTemplateRoutes];
const { api, call, people } = await apiStage({ routes });
const names = ['Alpha 50%', 'alpha_b', 'Beta', 'ÄRGER', 'Gamma', 'Gamma', 'Gamma'];
const ids: string[] = [];
let projects: number[];
let templates: number[];
const idsMessage = 'ids must be 1 to 100 session ids, separated by commas.';

beforeAll(async () => {
  await ship(api.composed.services.database);
  projects = await inOrder(
    [1, 2],
    async (n) => (await call('POST', '/projects', { Title: `P${n}` })).body.id,
  );
  templates = await inOrder([1, 2], async (n) => {
    const file = templateFile(`list-${n}`, [inputNode('a')]);
    return (await call('POST', '/api/v2/admin/session-templates', file)).body.id;
  });
  for (const [index, Name] of names.entries()) {
    const json = { Name, ProjectId: projects[index % 2], SessionTemplateId: templates[index < 2 ? 0 : 1] };
    const made = await call('POST', '/session', { ...json, SimulationName: `sim-${index}` });
    ids.push(made.body.id);
  }
  // Three of one time and name: only the id can order them.
  await api.composed.services.database.query(
    "update session set created_at = '2026-01-01' where name = 'Gamma'",
  );
});

async function inOrder<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

const list = (query: string, token = people.Developer.token) =>
  call('GET', `/api/v2/session${query}`, undefined, token);
const indexes = (answer: { body: { sessions: { id: string }[] } }) =>
  answer.body.sessions.map((row) => ids.indexOf(row.id));

describe('the session list', () => {
  test('lists rows without personal data, newest first, in pages of 25', async () => {
    const { status, body } = await list('');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      page: 1,
      pageSize: 25,
      totalCount: 7,
      totalCountIsExact: true,
      totalPages: 1,
    });
    expect(body.sessions.map((row: { id: string }) => ids.indexOf(row.id))).toEqual([3, 2, 1, 0, 6, 5, 4]);
    expect(body.sessions[3]).toEqual({
      id: ids[0],
      name: 'Alpha 50%',
      simulationName: 'sim-0',
      projectId: projects[0],
      projectTitle: 'P1',
      sessionTemplateId: templates[0],
      sessionTemplateName: 'list-1',
      createdAt: expect.stringMatching(/Z$/),
      metadata: null,
      state: 'notStarted',
      frozen: false,
      priority: 0,
      nodeCounts: { NeverBegan: 1 },
      outputBytes: 0,
      lastActivityAt: expect.stringMatching(/Z$/),
      owner: { id: people.Developer.userId, name: expect.any(String) },
      pinnedMetadata: [],
      dashboardUrl: null,
    });
  });

  test.each([
    ['?sortOrder=asc', [4, 5, 6, 0, 1, 2, 3]],
    ['?sortBy=name&sortOrder=asc', [0, 2, 4, 5, 6, 1, 3]],
    ['?sortBy=name', [3, 1, 6, 5, 4, 2, 0]],
    ['?search=ALPHA', [1, 0]],
    ['?search=%25', [0]],
    ['?search=_', [1]],
    ['?search=%5C', []],
    ['?search=%C3%A4rg', [3]],
    ['?search=SIM-3', [3]],
    ['?search=', [3, 2, 1, 0, 6, 5, 4]],
    ['?projectId=', [3, 2, 1, 0, 6, 5, 4]],
    ['?sortBy=date&sortOrder=desc&pageSize=2&page=2', [1, 0]],
    ['?page=99', []],
    ['?unknown=1&unknown=2&page=99', []],
    ['?page=2147483647&pageSize=100', []],
  ])('answers %s', async (query, expected) => {
    expect(indexes(await list(query))).toEqual(expected);
  });

  test('finds by part of the id, in any case', async () => {
    expect(indexes(await list(`?search=${ids[2]!.slice(4, 30).toUpperCase()}`))).toEqual([2]);
  });

  test('filters by project and template', async () => {
    expect(indexes(await list(`?projectId=${projects[1]}`))).toEqual([3, 1, 5]);
    expect(indexes(await list(`?sessionTemplateId=${templates[0]}`))).toEqual([1, 0]);
    expect(
      indexes(await list(`?projectId=${projects[1]}&sessionTemplateId=${templates[0]}&search=b`)),
    ).toEqual([1]);
    expect((await list('?projectId=999999')).body).toMatchObject({
      sessions: [],
      totalCount: 0,
      totalPages: 0,
    });
  });

  test('reads only the sessions of given ids, in the order of the list; ids of no session are passed over', async () => {
    const asked = [ids[6]!, ids[0]!.toUpperCase(), ids[3]!, ids[0]!, randomUUID()].join(', ');
    const { status, body } = await list(`?ids=${encodeURIComponent(asked)}`);
    expect(status).toBe(200);
    expect(indexes({ body })).toEqual([3, 0, 6]);
    expect(body).toMatchObject({ totalCount: 3, totalCountIsExact: true, totalPages: 1 });
    expect(indexes(await list(`?ids=${ids.join(',')}&search=gamma&sortBy=name&pageSize=2`))).toEqual([6, 5]);
    const most = [...Array.from({ length: 99 }, () => randomUUID()), ids[2]!];
    expect(indexes(await list(`?ids=${most.join(',')}`))).toEqual([2]);
    expect((await list(`?ids=${ids[0]}`, people.Trainee.token)).status).toBe(403);
  });

  test.each(['date', 'name'])('pages by %s neither repeat nor skip', async (sortBy) => {
    for (const sortOrder of ['asc', 'desc']) {
      const pages = await inOrder([1, 2, 3, 4, 5, 6, 7], (page) =>
        list(`?sortBy=${sortBy}&sortOrder=${sortOrder}&pageSize=1&page=${page}`),
      );
      expect(pages[0]!.body).toMatchObject({ totalCount: 7, totalPages: 7 });
      expect(new Set(pages.flatMap(indexes)).size).toBe(7);
    }
  });

  test.each([
    ['?page=0', 'page must be 1 or greater.'],
    ['?page=x', 'page must be 1 or greater.'],
    ['?pageSize=0', 'pageSize must be between 1 and 100.'],
    ['?pageSize=101', 'pageSize must be between 1 and 100.'],
    ['?pageSize=', 'pageSize must be between 1 and 100.'],
    ['?sortBy=id', 'sortBy must be date or name.'],
    ['?sortOrder=up', 'sortOrder must be desc or asc.'],
    ['?projectId=abc', 'projectId must be a positive integer.'],
    ['?sessionTemplateId=-1', 'sessionTemplateId must be a positive integer.'],
    ['?state=broken', 'state must be one or more of notStarted, running, failed, done, separated by commas.'],
    ['?owner=somebody', 'owner must be me or the id of a person.'],
    ['?ids=', idsMessage],
    ['?ids=abc', idsMessage],
    [`?ids=${randomUUID()},`, idsMessage],
    [`?ids=${Array.from({ length: 101 }, () => randomUUID()).join(',')}`, idsMessage],
    [`?ids=${'x'.repeat(8000)}`, idsMessage],
    ['?from=2026-02-02&to=2026-02-01', 'from must not be after to.'],
    // Many clients send a list so; all values but the first were passed over.
    [
      '?state=failed&state=running',
      'query.state: is given more than once; several values are one text, with commas between them.',
    ],
    ['?search=%00', 'query.search: must hold no NUL.'],
    [`?search=${'x'.repeat(256)}`, 'search must hold at most 255 characters.'],
  ])('refuses %s', async (query, message) => {
    expect(await list(query)).toMatchObject({ status: 400, body: { status: 'error', message } });
  });

  test('refuses to count from a time to one before it, and takes the same time twice', async () => {
    const count = (query: string) =>
      ask(api.url, 'GET', `/api/v2/session/counts?${query}`, { token: people.adminToken });
    expect(await count('from=2026-02-02&to=2026-02-01')).toMatchObject({
      status: 400,
      body: { status: 'error', message: 'from must not be after to.' },
    });
    expect(await count('from=2026-02-02&to=2026-02-02')).toMatchObject({
      status: 200,
      body: { all: { count: 0 } },
    });
  });

  test('is for staff and devices, not for Trainees', async () => {
    for (const token of [people.adminToken, people.Instructor.token, people.offlineToken]) {
      expect((await list('', token)).status).toBe(200);
    }
    expect((await list('', people.Trainee.token)).status).toBe(403);
    expect((await ask(api.url, 'GET', '/api/v2/session')).status).toBe(401);
  });
});

test('the search finds names whose accents are apart from their letters, as macOS writes them, and the other way round', async () => {
  const [ProjectId, SessionTemplateId] = [projects[0], templates[0]];
  const forms = ['Prüfstand', 'Prüfstand'.normalize('NFD')];
  const made = await inOrder(forms, async (Name) => {
    const { body } = await call('POST', '/session', { Name, ProjectId, SessionTemplateId });
    expect(body.name).toBe(Name);
    return body.id;
  });
  for (const part of [...forms, 'PRÜF', 'prüf'.normalize('NFD'), 'ü', 'ü'.normalize('NFD')]) {
    const { body } = await list(`?search=${encodeURIComponent(part)}&sortOrder=asc`);
    expect(body.sessions.map(({ id }: { id: string }) => id)).toEqual(made);
  }
});
