import { beforeAll, describe, expect, test } from 'vitest';
import { projectRoutes } from '../../../api/projects/routes.ts';
import { sessionQueryRoutes } from '../../../api/session-query/routes.ts';
import { sessionTemplateRoutes } from '../../../api/session-templates/routes.ts';
import { sessionRoutes } from '../../../api/sessions/routes.ts';
import { apiStage, ask } from '../../support/api.ts';
import { inputNode, ship, templateFile } from '../../support/templates.ts';

const routes = [...projectRoutes, ...sessionTemplateRoutes, ...sessionRoutes, ...sessionQueryRoutes];
const { api, people } = await apiStage({ routes });
let base: { ProjectId: number; SessionTemplateId: number };

beforeAll(async () => {
  await ship(api.composed.services.database);
  const project = await call('/projects', { Title: 'p' });
  const template = await call('/api/v2/admin/session-templates', templateFile('t', [inputNode('a')]));
  base = { ProjectId: project.body.id, SessionTemplateId: template.body.id };
});

const call = (path: string, json?: unknown, token = people.Developer.token) =>
  ask(api.url, 'POST', path, { token, json });
const query = (json?: unknown, token?: string) => call('/api/sessions/query', json, token);
const make = async (Name: string, fields: object = {}, token?: string) =>
  (await call('/session', { ...base, Name, ...fields }, token)).body;
const names = async (filter: unknown, orderBy: unknown = [{ path: 'name' }], token?: string) => {
  const answer = await query({ filter, orderBy }, token);
  expect([answer.status, answer.body.message]).toEqual([200, 'OK']);
  return answer.body.template.sessions.map((session: { name: string }) => session.name);
};
const leaf = (path: string, op: string, value?: unknown) => ({
  path,
  op,
  ...(value === undefined ? {} : { value }),
});

describe('POST /api/sessions/query', () => {
  test('answers with every field of the contract, under every form of the path', async () => {
    const made = await make('Every field', {
      SimulationName: 'sim',
      Metadata: { a: { b: 1 }, logoUrl: 'https://x/y.png' },
    });
    for (const path of ['/api/sessions/query', '/api/v2/sessions/query', '/api/v2.0/sessions/query']) {
      const { status, body } = await call(path, {
        filter: leaf('id', 'eq', made.id.toUpperCase()),
        limit: 5,
      });
      expect([status, body]).toEqual([
        200,
        {
          status: true,
          message: 'OK',
          template: {
            sessions: [
              {
                id: made.id,
                name: 'Every field',
                email: people.Developer.email,
                ...{ projectId: base.ProjectId, sessionTemplateId: base.SessionTemplateId },
                simulationName: 'sim',
                logoUrl: 'https://x/y.png',
                userId: people.Developer.userId,
                createdAt: made.createdAt,
                metadataJson: expect.any(String),
              },
            ],
            totalCount: 1,
            totalCountIsExact: true,
            limit: 5,
            offset: 0,
          },
        },
      ]);
      expect(JSON.parse(body.template.sessions[0].metadataJson)).toEqual({
        a: { b: 1 },
        logoUrl: 'https://x/y.png',
      });
    }
  });

  test('without a filter returns all sessions, newest first, page by page', async () => {
    for (const name of ['p1', 'p2', 'p3']) await make(name);
    const all = await query();
    expect(all.body.template).toMatchObject({
      limit: 50,
      offset: 0,
      totalCount: all.body.template.sessions.length,
    });
    expect(all.body.template.sessions.slice(0, 3).map((session: { name: string }) => session.name)).toEqual([
      'p3',
      'p2',
      'p1',
    ]);
    expect(all.body.template.sessions[0].metadataJson).toBeNull();
    const page = await query({ limit: 1, offset: 1 });
    expect(page.body.template).toMatchObject({
      sessions: [{ name: 'p2' }],
      totalCount: all.body.template.totalCount,
    });
    expect((await query({ offset: 100_000 })).body.template.sessions).toEqual([]);
  });

  test('finds by metadata of each kind and orders them: numbers, texts, truth values, nothing', async () => {
    const Metadata = (value: unknown) => ({ Metadata: { kind: 'ordered', v: value, tags: ['x', value] } });
    for (const [name, value] of [
      ['two', 2],
      ['ten', 10],
      ['text', '5'],
      ['true', true],
      ['null', null],
      ['list', [1]],
    ] as const)
      await make(name, Metadata(value));
    await make('none', { Metadata: { kind: 'ordered' } });
    const ordered = leaf('kind', 'eq', 'ordered');
    const by = (direction: string) => [{ path: 'v', direction }, { path: 'name' }];
    expect(await names(ordered, by('asc'))).toEqual(['two', 'ten', 'text', 'true', 'list', 'none', 'null']);
    expect(await names(ordered, by('desc'))).toEqual(['ten', 'two', 'text', 'true', 'list', 'none', 'null']);
    const and = (...nodes: object[]) => ({ and: [ordered, ...nodes] });
    expect(await names(and(leaf('v', 'gt', 2)))).toEqual(['ten']);
    expect(await names(and(leaf('v', 'gte', '2')))).toEqual(['text']);
    expect(await names(and(leaf('v', 'eq', null)))).toEqual(['none', 'null']);
    expect(await names(and(leaf('v', 'exists', false)))).toEqual(['none']);
    expect(await names(and(leaf('v', 'in', [true, '5', 11])))).toEqual(['text', 'true']);
    expect(await names(and(leaf('tags', 'contains', 10)))).toEqual(['ten']);
    expect(await names(and(leaf('tags.1', 'eq', '5')))).toEqual(['text']);
    expect(
      await names(
        and(
          { or: [leaf('name', 'startsWith', 't'), leaf('name', 'eq', 'none')] },
          leaf('name', 'ne', 'true'),
        ),
      ),
    ).toEqual(['none', 'ten', 'text', 'two']);
  });

  test('an address means the person, and results show addresses to those who may see them', async () => {
    const { email, userId } = people.Instructor;
    const Metadata = {
      kind: 'people',
      openedBy: email,
      participants: [{ email }, 'stranger@elsewhere.example'],
    };
    await make('theirs', { Email: email, Metadata });
    // The device cannot resolve people: the same person is stored by key.
    await make('device', { Email: email, Metadata }, people.offlineToken);
    await make('other', { Email: 'stranger@elsewhere.example', Metadata: { kind: 'people' } });
    const of = (...nodes: object[]) => ({ and: [leaf('kind', 'eq', 'people'), ...nodes] });
    for (const path of ['email', 'openedBy', 'participants.0.id'])
      expect([path, await names(of(leaf(path, 'eq', ` ${email.toUpperCase()}`)))]).toEqual([
        path,
        ['device', 'theirs'],
      ]);
    expect(await names(of(leaf('participants', 'contains', email)))).toEqual(['device', 'theirs']);
    expect(await names(of(leaf('participants', 'contains', 'stranger@elsewhere.example')))).toEqual([
      'device',
      'theirs',
    ]);
    for (const op of ['contains', 'startsWith', 'endsWith'])
      for (const path of ['email', 'openedBy', 'participants.0.id'])
        expect([op, path, await names(of(leaf(path, op, `${email.toUpperCase()} `)))]).toEqual([
          op,
          path,
          ['device', 'theirs'],
        ]);
    expect(await names(of(leaf('email', 'startsWith', userId.slice(0, 13))))).toEqual(['theirs']);
    expect(await names(of(leaf('email', 'ne', email)))).toEqual(['other']);
    expect(await names(of(leaf('openedBy', 'in', ['nobody@elsewhere.example', email])))).toEqual([
      'device',
      'theirs',
    ]);
    expect(await names(of(leaf('email', 'eq', userId)))).toEqual(['theirs']);
    // A device knows people only by their keys, which are stored beside identifiers and not shown.
    expect(await names(of(leaf('email', 'eq', email)), [{ path: 'name' }], people.offlineToken)).toEqual([
      'device',
      'theirs',
    ]);
    const filter = of(leaf('name', 'eq', 'theirs'));
    const [shown] = (await query({ filter })).body.template.sessions;
    expect(shown.email).toBe(email);
    expect(JSON.parse(shown.metadataJson)).toMatchObject({
      openedBy: email,
      participants: [{ id: userId, email }, expect.stringMatching(/^anon:/)],
    });
    const [hidden] = (await query({ filter }, people.offlineToken)).body.template.sessions;
    expect(hidden.email).toBe(userId);
    expect(JSON.parse(hidden.metadataJson)).toMatchObject({
      openedBy: userId,
      participants: [{ id: userId, email: null }, expect.any(String)],
    });
    expect(JSON.stringify(hidden)).not.toContain('@');
  });

  test.each([
    [
      { filter: { and: [leaf('name', 'eq', 'a'), leaf('name', 'gt', 'a')] } },
      '$.filter.and[1]',
      "The path does not support the operator 'gt'; it supports eq, ne, contains, startsWith, endsWith.",
    ],
    [
      { filter: leaf('a..b', 'eq', 1) },
      '$.filter',
      'path must have 1 to 20 names, separated by single dots.',
    ],
    [{ orderBy: [{ path: 'a', direction: 'x' }] }, '$.orderBy[0]', "direction must be 'asc' or 'desc'."],
    [{ limit: 501 }, '$.limit', 'limit must be a whole number from 1 to 500.'],
    [{ offset: 100_001 }, '$.offset', 'offset must be a whole number from 0 to 100000.'],
    [[], '$', 'The query must be a JSON object.'],
    [null, '$', 'The query must be a JSON object.'],
    [
      {
        filter: {
          or: Array.from({ length: 2 }, (_, half) =>
            leaf(
              'openedBy',
              'in',
              Array.from({ length: 60 }, (_, i) => `p${half}-${i}@example.org`),
            ),
          ),
        },
      },
      '$.filter',
      'A filter must name at most 100 addresses.',
    ],
  ])('refuses %.60j with the path of the node', async (json, path, message) => {
    expect(await query(json)).toMatchObject({
      status: 400,
      body: { status: 'error', message: `${path}: ${message}`, errors: [{ path, message }] },
    });
  });

  test('binds every text of a caller as a parameter', async () => {
    const evil = "'); drop table session_search; --";
    for (const filter of [
      leaf(evil, 'eq', evil),
      leaf(evil, 'contains', evil),
      leaf(evil, 'gt', evil),
      leaf('name', 'endsWith', evil),
      leaf(evil, 'in', [evil, 1, null]),
    ])
      expect(await query({ filter, orderBy: [{ path: evil, direction: 'desc' }] })).toMatchObject({
        status: 200,
      });
  });

  test('answers the largest filter', async () => {
    const value = [null, ...Array.from({ length: 99 }, (_, i) => `v${i}`)];
    for (const path of ['a.b', Array(20).fill('0').join('.')]) {
      const or = Array.from({ length: 100 }, () => leaf(path, 'in', value));
      expect(await query({ filter: { or }, orderBy: [{ path }] })).toMatchObject({ status: 200 });
    }
  });

  test('is for Administrators, Instructors and Developers, and for offline tokens', async () => {
    for (const token of [
      people.Administrator.token,
      people.Instructor.token,
      people.Developer.token,
      people.offlineToken,
    ])
      expect((await query({}, token)).status).toBe(200);
    expect((await query({}, people.Trainee.token)).status).toBe(401);
    expect((await ask(api.url, 'POST', '/api/sessions/query', { json: {} })).status).toBe(401);
    expect((await ask(api.url, 'GET', '/api/sessions/query', { token: people.adminToken })).status).toBe(405);
  });
});
