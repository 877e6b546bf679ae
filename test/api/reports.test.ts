import { randomUUID } from 'node:crypto';
import { unzipSync } from 'fflate';
import { afterAll, describe, expect, test } from 'vitest';
import type { Role } from '../../domain/access/access.ts';
import { Database } from '../../store/connection/database.ts';
import { ask, makePeople, startTestApi } from '../support/api.ts';
import { makeGraph } from '../support/graph.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();
const api = await startTestApi(platform.environment);
const people = await makePeople(api.url, platform.administrator);
const database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 4 });
afterAll(async () => {
  await database.close();
  await api.stop();
});

const path = '/api/v2/dashboard/reports';
const as = (role: Role, method: string, rest: string, json?: unknown) =>
  ask(api.url, method, `${path}${rest}`, {
    token: people[role].token,
    ...(json === undefined ? {} : { json }),
  });

const column = (columnKey: string, expression: string, more: object = {}) => ({
  columnKey,
  name: columnKey,
  expression,
  ...more,
});
const report = (more: object = {}) => ({
  key: `report-${randomUUID().slice(0, 8)}`,
  name: 'A report',
  columns: [column('title', 'dimension.title')],
  ...more,
});

/** A dimension of its own, of a session with this metadata, members and scenarios. */
async function dimension(
  name: string,
  options: {
    readonly metadata?: object;
    readonly members?: readonly string[];
    readonly scenarios?: ReadonlyArray<readonly [string, string | null, string | null]>;
  } = {},
) {
  const graph = await makeGraph(database, [{ name: 'input', parents: [] }]);
  await database.query('update session set metadata = $2::jsonb where id = $1', [
    graph.sessionId,
    JSON.stringify(options.metadata ?? {}),
  ]);
  await database.query(
    `insert into dimension (session_id, node_instance_id, name, dashboard_name, dashboard_version)
     values ($1, $2, $3, 'Recording', 'next')`,
    [graph.sessionId, graph.nodes.input, name],
  );
  for (const member of options.members ?? []) {
    await database.query('insert into session_user_entry (session_id, identifier) values ($1, $2)', [
      graph.sessionId,
      member,
    ]);
  }
  for (const [scenario, from, to] of options.scenarios ?? []) {
    await database.query(
      'insert into scenario_instance (id, session_id, scenario_name, from_at, to_at) values ($1, $2, $3, $4, $5)',
      [randomUUID(), graph.sessionId, scenario, from, to],
    );
  }
  return graph;
}

async function file(query: string, role: Role = 'Instructor') {
  const response = await fetch(`${api.url}${path}/download?${query}`, {
    headers: { authorization: `Bearer ${people[role].token}` },
  });
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

const csvLines = async (key: string, query = '') => {
  const { status, bytes } = await file(`report=${key}&format=csv${query}`);
  expect(status).toBe(200);
  return bytes.toString('utf8').replace('\ufeff', '').trimEnd().split('\r\n');
};

describe('definitions', () => {
  test('the shipped session-list is the default, with its columns', async () => {
    const { body } = await as('Instructor', 'GET', '/catalog');
    expect(body).toMatchObject({
      defaultReport: 'session-list',
      reports: [{ key: 'session-list', name: 'Session list', configurationKey: 'sessionList' }],
    });
    const { body: shipped } = await as('Instructor', 'GET', '/session-list');
    expect(shipped.columns.map(({ columnKey }: { columnKey: string }) => columnKey)).toEqual([
      'session',
      'project',
      'scenario',
      'from',
      'to',
      'duration',
      'participant',
      'created',
    ]);
  });

  test('are made once, with a configuration key derived from the key', async () => {
    const made = report({ key: 'flight-hours-2' });
    const { status, body } = await as('Developer', 'POST', '', made);
    expect([status, body.configurationKey, body.fileName]).toEqual([201, 'flightHours2', 'SessionList']);
    expect((await as('Developer', 'POST', '', made)).status).toBe(409);
    expect((await as('Developer', 'POST', '', report({ configurationKey: 'flightHours2' }))).status).toBe(
      409,
    );
  });

  test('an update removes what its lists leave out, or merges by key, and leaves what it does not name', async () => {
    const made = report({
      columns: [column('a', 'dimension.title'), column('b', 'user.name')],
      filters: [{ filterKey: 'f', expression: 'dashboard.version', value: 'next' }],
    });
    await as('Developer', 'POST', '', made);
    const merged = await as('Administrator', 'PUT', `/${made.key}`, {
      replaceConfiguration: false,
      columns: [column('b', 'user.email'), column('c', 'dimension.id', { order: 5 })],
    });
    expect(
      merged.body.columns.map((item: { columnKey: string; expression: string }) => [
        item.columnKey,
        item.expression,
      ]),
    ).toEqual([
      ['c', 'dimension.id'],
      ['a', 'dimension.title'],
      ['b', 'user.email'],
    ]);
    expect(merged.body).toMatchObject({ name: 'A report', filters: [{ filterKey: 'f' }] });
    const replaced = await as('Administrator', 'PUT', `/${made.key}`, {
      name: 'New',
      columns: [column('z', 'dimension.id')],
    });
    expect(replaced.body).toMatchObject({
      name: 'New',
      columns: [{ columnKey: 'z' }],
      filters: [{ filterKey: 'f' }],
    });
    expect((await as('Developer', 'PUT', '/absent', { name: 'x' })).status).toBe(404);
  });

  test('one of them is the default, whoever sets it at the same time', async () => {
    const made = [report(), report(), report()];
    await Promise.all(made.map((one) => as('Developer', 'POST', '', { ...one, setAsDefault: true })));
    const [count] = await database.query<{ count: number }>(
      'select count(*) as count from report_definition where is_default',
    );
    expect(count!.count).toBe(1);
    await as('Developer', 'PUT', '/session-list', { setAsDefault: true });
    expect((await as('Trainee', 'GET', '/catalog')).status).toBe(401);
    expect((await as('Instructor', 'GET', '/catalog')).body.defaultReport).toBe('session-list');
  });

  test('an expression that cannot be is refused with its key, position and reason', async () => {
    for (const [expression, message] of [
      ['dimension.', /^Column 'bad': .+ at position 10\.$/],
      ['1 + "a"', /^Column 'bad': no such overload: int \+ string at position \d+\.$/],
      ['metadata.a.map(x, metadata.b.map(y, y))', /^Column 'bad': a loop inside a loop at position \d+\.$/],
      [
        'user.name.matches(user.email)',
        /^Column 'bad': the pattern of matches must be a literal at position \d+\.$/,
      ],
      ['user.name.matches("(?=a)")', /^Column 'bad': /],
    ] as const) {
      const { status, body } = await as(
        'Developer',
        'POST',
        '',
        report({ columns: [column('bad', expression)] }),
      );
      expect(status, expression).toBe(400);
      expect(body.message).toMatch(message);
    }
  });

  test('wrong fields are 400, other roles 401, and nothing is written', async () => {
    for (const wrong of [
      { key: 'Upper' },
      { key: 'a--b' },
      { name: '' },
      { columns: [column('a', 'dimension.id'), column('a', 'dimension.id')] },
      { columns: [column('a', 'dimension.id', { source: 'nowhere' })] },
      { columns: [column('a', 'dimension.id', { type: 'money' })] },
      { columns: 'all' },
      { fileName: '../x' },
      { fileName: 'a"b' },
    ]) {
      expect((await as('Developer', 'POST', '', report(wrong))).status, JSON.stringify(wrong)).toBe(400);
    }
    const own = report();
    expect((await as('Instructor', 'POST', '', own)).status).toBe(401);
    expect((await as('Instructor', 'GET', `/${own.key}`)).status).toBe(404);
  });
});

describe('a downloaded report', () => {
  test('has one row for each dimension, scenario and member, with empty parts where there are none', async () => {
    const prefix = `rows-${randomUUID().slice(0, 8)}`;
    await dimension(`${prefix}-a`, {
      members: [people.Trainee.userId, people.Developer.userId],
      scenarios: [
        ['take-off', '2026-03-01T10:00:00Z', '2026-03-01T11:30:00Z'],
        ['landing', '2026-03-01T12:00:00Z', null],
      ],
      metadata: { crew: { size: 4 } },
    });
    await dimension(`${prefix}-b`);
    const made = report({
      dimensionNameFilter: prefix.toUpperCase(),
      columns: [
        column('title', 'title'),
        column('scenario', 'scenarioInstance.scenarioName'),
        column('duration', 'scenarioInstance.to - scenarioInstance.from', { type: 'duration' }),
        column('email', 'email', { source: 'user' }),
        column('crew', 'metadata.crew.size + 1', { type: 'number' }),
      ],
    });
    await as('Developer', 'POST', '', made);
    const [trainee, developer] = [people.Trainee.email, people.Developer.email];
    expect(await csvLines(made.key)).toEqual([
      'title,scenario,duration,email,crew',
      `${prefix}-a,take-off,01:30:00,${trainee},5`,
      `${prefix}-a,take-off,01:30:00,${developer},5`,
      `${prefix}-a,landing,,${trainee},5`,
      `${prefix}-a,landing,,${developer},5`,
      `${prefix}-b,,,,`,
    ]);
    expect(await csvLines(made.key, `&userId=${people.Trainee.userId}`)).toHaveLength(3);
    expect(await csvLines(made.key, '&to=2026-02-28')).toEqual([
      'title,scenario,duration,email,crew',
      `${prefix}-b,,,,`,
    ]);
  });

  test('keeps the rows for which its filters equal their values, by type', async () => {
    const prefix = `filter-${randomUUID().slice(0, 8)}`;
    for (const grade of [1, 2, '2'])
      await dimension(`${prefix}-${typeof grade}-${grade}`, { metadata: { grade } });
    const rowsWhere = async (filter: object) => {
      const made = report({
        dimensionNameFilter: prefix,
        filters: [{ filterKey: 'grade', expression: 'metadata.grade', source: 'metadata', ...filter }],
      });
      await as('Developer', 'POST', '', made);
      return (await csvLines(made.key)).slice(1).map((line) => line.slice(prefix.length + 1));
    };
    expect(await rowsWhere({ value: 2 })).toEqual(['number-2']);
    expect(await rowsWhere({ value: '2' })).toEqual(['number-2', 'string-2']);
    expect(await rowsWhere({ expression: 'grade == 1', value: true })).toEqual(['number-1']);
  });

  test('runs nothing in a spreadsheet, and holds real dates and numbers in xlsx', async () => {
    const name = `=HYPERLINK("x"),${randomUUID().slice(0, 8)}`;
    await dimension(name, {
      metadata: { n: 2.5, at: '2026-03-01T12:00:00Z', text: '\u0001<&>', minus: '-1+1' },
    });
    const made = report({
      dimensionNameFilter: name,
      fileName: 'Flüge 1',
      columns: [
        column('title', 'dimension.title'),
        column('n', 'metadata.n', { type: 'number', format: '0.00' }),
        column('at', 'metadata.at', { type: 'date' }),
        column('text', 'metadata.text'),
        column('minus', 'metadata.minus'),
      ],
    });
    await as('Developer', 'POST', '', made);
    const [, line] = await csvLines(made.key);
    expect(line).toBe(`"'${name.replaceAll('"', '""')}",2.5,2026-03-01T12:00:00.000Z,\u0001<&>,'-1+1`);
    const { headers, bytes } = await file(`option=${made.key}`);
    expect(headers.get('content-disposition')).toMatch(
      /^attachment; filename="Fl_ge 1_\d{8}_\d\d\.\d\d\.xlsx"; filename\*=UTF-8''Fl%C3%BCge%201_\d{8}_\d\d\.\d\d\.xlsx$/,
    );
    const parts = unzipSync(bytes);
    const sheet = Buffer.from(parts['xl/worksheets/sheet1.xml']!).toString();
    expect(sheet).not.toContain('<f>');
    expect(sheet).toContain('<c r="B2" s="4"><v>2.5</v></c>');
    expect(sheet).toContain('<v>46082.5</v>');
    expect(sheet).toContain('<t xml:space="preserve">&lt;&amp;&gt;</t>');
    expect(Buffer.from(parts['xl/styles.xml']!).toString()).toContain('formatCode="0.00"');
    expect(Object.keys(parts).sort()).toEqual([
      '[Content_Types].xml',
      '_rels/.rels',
      'xl/_rels/workbook.xml.rels',
      'xl/styles.xml',
      'xl/workbook.xml',
      'xl/worksheets/sheet1.xml',
    ]);
  });

  test('has every row of many, once and in the same order in both formats, whatever they are read in', async () => {
    const name = `many-${randomUUID()}`;
    const made = report({
      dimensionNameFilter: name,
      columns: [column('scenario', 'scenarioInstance.scenarioName'), column('user', 'user.id')],
    });
    await as('Developer', 'POST', '', made);
    const members = Array.from({ length: 40 }, (_, at) => `anon:${at}`);
    const scenarios = Array.from({ length: 30 }, (_, at) => [`s${at}`, null, null] as const);
    await dimension(name, { members, scenarios });
    for (let at = 0; at < 205; at++) await dimension(name, { members: [`anon:alone-${at}`] });
    const lines = (await csvLines(made.key)).slice(1);
    const pairs = scenarios.flatMap(([scenario]) => members.map((member) => `${scenario},${member}`));
    const alone = Array.from({ length: 205 }, (_, at) => `,anon:alone-${at}`);
    expect(lines.toSorted()).toEqual([...pairs, ...alone].toSorted());
    const sheet = unzipSync((await file(`report=${made.key}`)).bytes)['xl/worksheets/sheet1.xml']!;
    const rows = Buffer.from(sheet).toString().split('<row ').slice(2);
    expect(rows.map((row) => [...row.matchAll(/preserve">([^<]*)</g)].map(([, text]) => text))).toEqual(
      lines.map((line) => line.split(',').filter((text) => text !== '')),
    );
  });

  test('is named by prefix and time, the default one without a key', async () => {
    const { status, headers } = await file('');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe(
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    );
    expect(headers.get('content-disposition')).toMatch(
      /^attachment; filename="SessionList_\d{8}_\d\d\.\d\d\.xlsx"/,
    );
  });

  test('refuses a wrong range or format with 400, an unknown key with 404, a Trainee with 401', async () => {
    for (const query of ['from=2026-03-02&to=2026-03-01', 'from=2026-02-30', 'format=pdf', 'userId=x']) {
      expect((await file(query)).status, query).toBe(400);
    }
    expect((await file('option=absent')).status).toBe(404);
    expect((await file('', 'Trainee')).status).toBe(401);
  });

  test('of a catalog that cannot be read is 502', async () => {
    await database.query('alter table dimension rename to dimension_gone');
    try {
      expect((await file('')).status).toBe(502);
    } finally {
      await database.query('alter table dimension_gone rename to dimension');
    }
  });
});
