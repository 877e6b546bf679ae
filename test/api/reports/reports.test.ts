import { describe, expect, test } from 'vitest';
import { reportWorld } from './report-world.ts';

const { database, as, column, report } = await reportWorld();

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
