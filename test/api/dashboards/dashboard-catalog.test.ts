import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Role } from '../../../domain/access/access.ts';
import { apiStage, ask } from '../../support/api.ts';
import { openDatabase } from '../../support/databases.ts';
import { makeGraph } from '../../support/graph.ts';

const { api, people, platform } = await apiStage();
const database = await openDatabase(platform, 4);

const get = (role: Role, path: string) => ask(api.url, 'GET', path, { token: people[role].token });
const admin = (method: string, path: string, json?: unknown) =>
  ask(api.url, method, `/api/v2/admin/statics${path}`, {
    token: people.Developer.token,
    ...(json ? { json } : {}),
  });

/** A session with a dashboard, members by identifier, and scenarios as [name, from, to]. */
async function dashboard(
  options: {
    readonly members?: readonly string[];
    readonly scenarios?: ReadonlyArray<readonly [string, string | null, string | null]>;
    readonly version?: string;
  } = {},
) {
  const graph = await makeGraph(database, [{ name: 'input', parents: [] }]);
  const title = `dashboard-${randomUUID()}`;
  const [row] = await database.query<{ id: number }>(
    `insert into dimension (session_id, node_instance_id, name, dashboard_name, dashboard_version)
     values ($1, $2, $3, 'Recording', $4) returning id`,
    [graph.sessionId, graph.nodes.input, title, options.version ?? 'next'],
  );
  for (const member of options.members ?? []) {
    await database.query('insert into session_member (session_id, identifier) values ($1, $2)', [
      graph.sessionId,
      member,
    ]);
  }
  for (const [name, from, to] of options.scenarios ?? []) {
    await database.query(
      'insert into scenario_instance (id, session_id, scenario_name, from_at, to_at) values ($1, $2, $3, $4, $5)',
      [randomUUID(), graph.sessionId, name, from, to],
    );
  }
  return { ...graph, title, dimensionId: row!.id };
}

async function titles(role: Role, query = ''): Promise<string[]> {
  const found: string[] = [];
  for (let page = 1; ; page += 1) {
    const { status, body } = await get(role, `/api/v2/dashboard/dimensions?pageNumber=${page}${query}`);
    expect(status).toBe(200);
    expect(body.pageSize).toBe(50);
    found.push(...body.dimensions.map(({ title }: { title: string }) => title));
    if (page >= body.totalPages) return found;
  }
}

describe('the dimension catalog', () => {
  test('shows a Trainee the dimensions of which they are a member, staff all of them', async () => {
    const mine = await dashboard({ members: [people.Trainee.userId] });
    const others = await dashboard();
    expect(await titles('Trainee')).toEqual([mine.title]);
    for (const role of ['Administrator', 'Instructor', 'Developer'] as const) {
      expect(await titles(role)).toEqual(expect.arrayContaining([mine.title, others.title]));
    }
    expect(await titles('Instructor', `&userId=${people.Trainee.userId}`)).toEqual([mine.title]);
  });

  test('names members as the caller may see them, else by identifier with an empty address', async () => {
    const unknown = randomUUID();
    const one = await dashboard({ members: [people.Trainee.userId, unknown] });
    const { body } = await get('Instructor', `/api/v2/dashboard/dimensions?userId=${people.Trainee.userId}`);
    const item = body.dimensions.find(({ title }: { title: string }) => title === one.title);
    expect(item.users).toEqual([
      { id: people.Trainee.userId, name: expect.any(String), email: people.Trainee.email },
      { id: unknown, name: unknown, email: '' },
    ]);
    expect([item.name, item.email]).toEqual([item.users[0].name, people.Trainee.email]);
    expect(item.url).toBe(`/dashboards/${one.dimensionId}`);
  });

  test('goes by overlap with any scenario; a date alone is the whole day; without a window always', async () => {
    const member = randomUUID();
    const march = await dashboard({
      members: [member],
      scenarios: [['a', '2026-03-01T10:00:00Z', '2026-03-01T11:00:00Z']],
    });
    const both = await dashboard({
      members: [member],
      scenarios: [
        ['old', '2026-01-01T10:00:00Z', '2026-01-01T11:00:00Z'],
        ['new', '2026-05-01T10:00:00Z', null],
      ],
    });
    const never = await dashboard({ members: [member], scenarios: [['open', null, null]] });
    const none = await dashboard({ members: [member] });
    const found = (query: string) => titles('Developer', `&userId=${member}${query}`);
    expect(await found('')).toEqual([march.title, both.title, never.title, none.title]);
    expect(await found('&orderBy=descending')).toEqual([both.title, march.title, none.title, never.title]);
    expect(await found('&to=2026-03-01')).toEqual([march.title, both.title, never.title, none.title]);
    expect(await found('&from=2026-03-01T11:00:01Z&to=2026-04-01')).toEqual([never.title, none.title]);
    expect(await found('&from=2026-03-01&to=2026-03-01')).toEqual([march.title, never.title, none.title]);
    expect(await found('&from=2027-01-01')).toEqual([both.title, never.title, none.title]);
  });

  test('refuses wrong dates, orders and pages with 400', async () => {
    for (const query of [
      'from=2026-02-30',
      'to=x',
      'from=2026-03-02&to=2026-03-01',
      'pageNumber=0',
      'orderBy=up',
      'userId=7',
    ]) {
      expect((await get('Instructor', `/api/v2/dashboard/dimensions?${query}`)).status, query).toBe(400);
    }
  });

  test('that cannot be read is 502, never an empty list', async () => {
    await database.query('alter table dimension rename to dimension_gone');
    try {
      const { status, body } = await get('Instructor', '/api/v2/dashboard/dimensions');
      expect([status, body]).toEqual([502, { status: 'error', message: expect.any(String) }]);
    } finally {
      await database.query('alter table dimension_gone rename to dimension');
    }
  });
});

describe('system dashboards', () => {
  const definition = (code: string, more: object = {}) => ({
    code,
    title: `Title ${code}`,
    icon: 'plane',
    order: 5,
    sectionCode: 'overview',
    sectionTitle: 'Overview',
    scopeKind: 0,
    ...more,
  });
  const links = async () =>
    (await get('Trainee', '/api/v2/dashboard/statics/nav')).body.sections.flatMap(
      (section: { items: { code: string }[] }) => section.items.map(({ code }) => code),
    );

  test('are linked when global and backed by a session with a dashboard of the version next', async () => {
    const good = await dashboard();
    const old = await dashboard({ version: 'classic' });
    for (const [code, more] of [
      ['global', {}],
      ['global-old', {}],
      ['unbacked', {}],
      ['per-project', { scopeKind: 1 }],
      ['per-user', { scopeKind: 2 }],
    ] as const) {
      expect((await admin('POST', '', definition(code, more))).status).toBe(201);
    }
    for (const [code, session] of [
      ['global', good],
      ['global-old', old],
      ['per-project', good],
      ['per-user', good],
    ] as const) {
      const { status } = await admin('POST', `/${code}/instances`, { sessionId: session.sessionId });
      expect(status).toBe(201);
    }
    const { body } = await get('Trainee', '/api/v2/dashboard/statics/nav');
    expect(body).toEqual({
      sections: [
        {
          title: 'Overview',
          code: 'overview',
          order: 5,
          items: [
            {
              title: 'Title global',
              icon: 'plane',
              url: `/dashboards/${good.dimensionId}`,
              order: 5,
              code: 'global',
            },
          ],
        },
      ],
    });
    expect((await get('Developer', '/api/v2/dashboard/navigation')).body.sections.at(-1).code).toBe(
      'overview',
    );
    expect((await admin('DELETE', '/global')).status).toBe(204);
    expect(await links()).toEqual([]);
  });

  test('hide the sessions that back them from the list, its total and queries, until they back none', async () => {
    const backing = await dashboard();
    const listed = async () => {
      const list = await get('Instructor', '/api/v2/session?pageSize=100');
      const query = await ask(api.url, 'POST', '/api/sessions/query', {
        token: people.Instructor.token,
        json: { limit: 500 },
      });
      expect(list.body.totalCount).toBe(list.body.sessions.length);
      const has = (rows: { id: string }[]) => rows.some(({ id }) => id === backing.sessionId);
      return [has(list.body.sessions), JSON.stringify(query.body).includes(backing.sessionId)];
    };
    expect(await listed()).toEqual([true, true]);
    await admin('POST', '', definition('hiding'));
    await admin('POST', '/hiding/instances', { sessionId: backing.sessionId });
    await admin('POST', '/hiding/instances', { sessionId: backing.sessionId });
    expect(await listed()).toEqual([false, false]);
    await ask(api.url, 'PATCH', `/api/v2/session/${backing.sessionId}`, {
      token: people.Instructor.token,
      json: { name: 'renamed' },
    });
    expect(await listed()).toEqual([false, false]);
    expect((await admin('DELETE', `/hiding/instances/${backing.sessionId}`)).status).toBe(204);
    expect(await listed()).toEqual([true, true]);
    await admin('POST', '/hiding/instances', { sessionId: backing.sessionId });
    await ask(api.url, 'DELETE', `/api/v2/sessions/${backing.sessionId}`, {
      token: people.Administrator.token,
    });
    expect(
      (await admin('GET', '')).body.find(({ code }: { code: string }) => code === 'hiding').instances,
    ).toEqual([]);
    await admin('DELETE', '/hiding');
  });

  test('refuse an existing code with 409, unknown codes and sessions with 404, wrong fields with 400, other roles with 403', async () => {
    await admin('POST', '', definition('taken'));
    expect((await admin('POST', '', definition('taken'))).status).toBe(409);
    expect((await admin('DELETE', '/absent')).status).toBe(404);
    expect((await admin('POST', '/absent/instances', { sessionId: randomUUID() })).status).toBe(404);
    expect((await admin('POST', '/taken/instances', { sessionId: randomUUID() })).status).toBe(404);
    for (const wrong of [{ code: 'Upper' }, { code: '' }, { scopeKind: 3 }, { title: ' ' }, { order: 1.5 }]) {
      expect((await admin('POST', '', definition('fresh', wrong))).status, JSON.stringify(wrong)).toBe(400);
    }
    const { status } = await ask(api.url, 'POST', '/api/v2/admin/statics', {
      token: people.Instructor.token,
      json: definition('other'),
    });
    expect(status).toBe(403);
    await admin('DELETE', '/taken');
  });
});

test('the sidebar shows each role its own pages', async () => {
  const codes = async (role: Role) =>
    (await get(role, '/api/v2/dashboard/navigation')).body.sections.map(({ code }: { code: string }) => code);
  expect(await codes('Trainee')).toEqual(['sessions', 'dashboards']);
  expect(await codes('Instructor')).toEqual(['sessions', 'dashboards', 'reports']);
  expect(await codes('Developer')).toEqual([
    'sessions',
    'dashboards',
    'reports',
    'runners',
    'templates',
    'ingests',
  ]);
  expect(await codes('Administrator')).toEqual([
    'sessions',
    'dashboards',
    'reports',
    'runners',
    'templates',
    'ingests',
    'configuration',
    'users',
    'tokens',
  ]);
});

test('feature flags come from the configuration; unknown names and other types are off', async () => {
  for (const [name, valueType, value] of [
    ['Features:compare', 3, 'true'],
    ['Features:reports', 3, 'false'],
    ['Features:text', 0, 'true'],
  ] as const) {
    await ask(api.url, 'POST', '/config', {
      token: people.Administrator.token,
      json: { name, valueType, value, description: '' },
    });
  }
  const flags = async (query: string) =>
    (await get('Trainee', `/api/v2/dashboard/feature-flags${query}`)).body;
  expect(await flags('?features=compare,reports,text,absent,__proto__')).toEqual(
    JSON.parse('{"compare": true, "reports": false, "text": false, "absent": false, "__proto__": false}'),
  );
  expect(await flags('')).toEqual({ compare: true, reports: false });
});
