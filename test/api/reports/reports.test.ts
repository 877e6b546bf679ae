import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { reportRoutes } from '../../../api/reports/routes.ts';
import { reportWorld } from './report-world.ts';

const { database, as, column, report, dimension } = await reportWorld();

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

  test('are created once, with a configuration key derived from the key', async () => {
    const made = report({ key: 'flight-hours-2' });
    const { status, body } = await as('Developer', 'POST', '', made);
    expect([status, body.configurationKey, body.fileName]).toEqual([201, 'flightHours2', 'SessionList']);
    expect((await as('Developer', 'POST', '', made)).status).toBe(409);
    expect((await as('Developer', 'POST', '', report({ configurationKey: 'flightHours2' }))).status).toBe(
      409,
    );
  });

  test('a key that begins with a digit has a configuration key that an update takes back', async () => {
    const made = report({ key: `9a650ce-${randomUUID().slice(0, 8)}` });
    const { status, body } = await as('Developer', 'POST', '', made);
    expect(status).toBe(201);
    const again = await as('Developer', 'PUT', `/${made.key}`, body);
    expect([again.status, again.body]).toMatchObject([200, { configurationKey: body.configurationKey }]);
    expect(body.configurationKey).toMatch(/^9a650ce/);
    for (const configurationKey of ['', '_a', 'a-b', 'a'.repeat(65)])
      expect((await as('Developer', 'POST', '', report({ configurationKey }))).status).toBe(400);
  });

  test('an update removes omitted list items, or merges by key, and keeps absent fields', async () => {
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
    expect((await as('Developer', 'PUT', `/${made.key}`, { unknown: 1 })).body).toEqual(replaced.body);
    expect((await as('Developer', 'PUT', '/absent', { name: 'x' })).status).toBe(404);
  });

  test('a change that names an earlier revision is refused and changes nothing', async () => {
    const made = report();
    const { body, headers } = await as('Developer', 'POST', '', made);
    expect([body.revision, headers.get('etag')]).toEqual([1, '"1"']);
    const change = (name: string, tag?: string) =>
      as('Developer', 'PUT', `/${made.key}`, { name }, tag === undefined ? {} : { 'if-match': tag });
    expect((await change('Second', '"1"')).headers.get('etag')).toBe('"2"');
    const refused = await change('Lost', '"1"');
    expect([refused.status, refused.body.message]).toEqual([
      412,
      'Another change of the report came between.',
    ]);
    const { body: stored } = await as('Developer', 'GET', `/${made.key}`);
    expect([stored.name, stored.revision]).toEqual(['Second', 2]);
    const atOnce = await Promise.all(['A', 'B', 'C'].map((name) => change(name, '"2"')));
    expect(atOnce.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
    expect((await change('Whichever')).body.revision).toBe(4);
  });

  test('exactly one is the default, also when several are set at the same time', async () => {
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

  test('changes of a report and of the default at the same time are all made', async () => {
    const one = report();
    await as('Developer', 'POST', '', one);
    const changes = Array.from({ length: 12 }, (_, k) => ({ name: `Name ${k}`, setAsDefault: k % 2 === 0 }));
    const made = await Promise.all(changes.map((change) => as('Developer', 'PUT', `/${one.key}`, change)));
    expect(made.map(({ status }) => status)).toEqual(changes.map(() => 200));
    await as('Developer', 'PUT', '/session-list', { setAsDefault: true });
  });

  test('no key is one at which another route answers, since the report could not be read', async () => {
    const literal = reportRoutes.flatMap(({ method, path }) => {
      const key = /^\/api\/v2\/dashboard\/reports\/([a-z-]+)$/.exec(path)?.[1];
      return method === 'GET' && key !== undefined ? [key] : [];
    });
    expect(literal).toEqual(['catalog', 'download']);
    for (const key of literal) {
      const { status, body } = await as('Developer', 'POST', '', report({ key }));
      expect([status, body]).toEqual([
        400,
        {
          status: 'error',
          message: 'key must not be `catalog` or `download`: other routes have these paths.',
        },
      ]);
      // One that an earlier version has created can still be changed.
      await database.query(
        `insert into report_definition (key, name, configuration_key, file_name) values ($1, $1, $1, 'Old')`,
        [key],
      );
      expect(await as('Developer', 'PUT', `/${key}`, { name: 'Renamed' })).toMatchObject({
        status: 200,
        body: { key, name: 'Renamed' },
      });
    }
    for (const key of ['catalogue', 'download-2'])
      expect((await as('Developer', 'POST', '', report({ key }))).status).toBe(201);
  });

  test('an invalid expression is refused with its key, position and reason', async () => {
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

  test('an expression has up to 64 KB, counted in bytes', async () => {
    const most = `"${'ä'.repeat(32_767)}"`;
    const long = (expression: string) => report({ columns: [column('long', expression)] });
    const filters = [{ filterKey: 'long', expression: most, value: 'a' }];
    expect((await as('Developer', 'POST', '', { ...long(most), filters })).status).toBe(201);
    const { status, body } = await as('Developer', 'POST', '', long(`${most} `));
    expect([status, body.message]).toEqual([400, expect.stringContaining('must hold at most 65536 bytes')]);
    for (const wrong of ['', '"\u0000"', '"\ud800"'])
      expect((await as('Developer', 'POST', '', long(wrong))).status).toBe(400);
  });

  test('an unknown name is refused with its position, in a definition and in a preview', async () => {
    for (const [expression, source, message] of [
      ['session.name', 'dimension', "Column 'one': 'session' is unknown at position 0."],
      ['name + dimension.nme', 'user', "Column 'one': 'dimension' has no 'nme' at position 7."],
      ['scenarioInstance.start', 'user', "Column 'one': 'scenarioInstance' has no 'start' at position 0."],
      [
        'metadata.tags.exists(tag, tag == other)',
        'dimension',
        "Column 'one': 'other' is unknown at position 33.",
      ],
    ] as const) {
      const columns = [column('one', expression, { source })];
      for (const [path, body] of [
        ['', report({ columns })],
        ['/preview', { columns }],
      ] as const) {
        const { status, body: said } = await as('Developer', 'POST', path, body);
        expect([status, said.message], path).toEqual([400, message]);
      }
    }
    const columns = [
      column('one', 'tyre.kind', { source: 'metadata' }),
      column('two', 'metadata.laps.filter(lap, lap.time > 3).size()'),
      column('three', 'sessionName'),
      column('four', "'name' in user ? string(1) : user.email"),
    ];
    expect((await as('Developer', 'POST', '', report({ columns }))).status).toBe(201);
  });

  test('a preview shows the first rows that a definition would have, and saves nothing', async () => {
    const prefix = `preview-${randomUUID().slice(0, 8)}`;
    for (const laps of [1, 2, 3]) await dimension(`${prefix}-${laps}`, { metadata: { laps } });
    const before = await as('Instructor', 'GET', '/catalog');
    const asked = {
      dimensionNameFilter: prefix,
      columns: [
        column('title', 'title'),
        column('laps', 'metadata.laps * 2', { type: 'number' }),
        column('who', 'user.name'),
      ],
      filters: [{ filterKey: 'two', expression: 'metadata.laps > 1', value: true }],
    };
    expect(await as('Instructor', 'POST', '/preview', asked)).toMatchObject({
      status: 200,
      body: {
        columns: ['title', 'laps', 'who'],
        rows: [
          [`${prefix}-2`, 4, null],
          [`${prefix}-3`, 6, null],
        ],
      },
    });
    const all = await as('Instructor', 'POST', '/preview', {
      columns: [column('id', 'id')],
      dimensionNameFilter: prefix,
    });
    expect(all.body.rows).toHaveLength(3);
    expect((await as('Instructor', 'GET', '/catalog')).body).toEqual(before.body);
    expect((await as('Trainee', 'POST', '/preview', asked)).status).toBe(401);
  });

  test('annotations of the session stand in its rows, those of a running task do not', async () => {
    const name = `annotated-${randomUUID().slice(0, 8)}`;
    await dimension(name);
    await dimension(`${name}-without`);
    await database.query(
      `insert into annotation (id, session_id, from_at, label, body, tags, staged)
       select gen_random_uuid(), d.session_id, timestamptz '2026-03-01' + n * interval '1 minute', 'Lap ' || n, '', '{}', n = 3
         from dimension d, generate_series(1, 3) as n where d.name = $1`,
      [name],
    );
    const columns = [
      column('labels', "annotations.map(a, a.label).join(', ')"),
      column('count', 'annotations.size()', { type: 'number' }),
    ];
    const { status, body } = await as('Developer', 'POST', '/preview', {
      columns,
      dimensionNameFilter: name,
    });
    expect([status, body.rows]).toEqual([
      200,
      [
        ['Lap 1, Lap 2', 2],
        [null, 0],
      ],
    ]);
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
