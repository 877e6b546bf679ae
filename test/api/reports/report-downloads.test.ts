import { randomUUID } from 'node:crypto';
import { unzipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { reportWorld } from './report-world.ts';

const { people, database, as, column, report, dimension, file, csvLines } = await reportWorld();

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

  test('has no row of a scenario outside of the asked dates, also where another of its session is within', async () => {
    const name = `dates-${randomUUID().slice(0, 8)}`;
    await dimension(name, {
      scenarios: [
        ['early', '2026-03-01T10:00:00Z', '2026-03-01T11:30:00Z'],
        ['late', '2026-03-08T10:00:00Z', null],
        ['without a window', null, null],
      ],
    });
    const made = report({
      dimensionNameFilter: name,
      columns: [column('scenario', 'scenarioInstance.scenarioName')],
    });
    await as('Developer', 'POST', '', made);
    const scenarios = async (dates: string) => (await csvLines(made.key, dates)).slice(1).sort();
    expect(await scenarios('')).toEqual(['early', 'late', 'without a window']);
    expect(await scenarios('&from=2026-03-02&to=2026-03-31')).toEqual(['late', 'without a window']);
    expect(await scenarios('&to=2026-03-01')).toEqual(['early', 'without a window']);
    expect(await scenarios('&from=2026-03-01T11:30:00Z')).toEqual(['early', 'late', 'without a window']);
  });

  test('gives an expression over a whole part of a row all of its fields', async () => {
    const prefix = `whole-${randomUUID().slice(0, 8)}`;
    const scenarios = [['landing', '2026-03-01T12:00:00Z', null]] as const;
    await dimension(prefix, { members: ['anon:0'], scenarios, metadata: { grade: 1 } });
    const sizes = ['dimension', 'scenarioInstance', 'user', 'metadata', 'dashboard'];
    const named = [column('id', 'dimension.id'), column('version', 'version', { source: 'dashboard' })];
    const whole = sizes.map((part) => column(part, `size(${part})`));
    const only = report({ dimensionNameFilter: prefix, columns: [...named, column('at', 'createdAt')] });
    const made = report({ dimensionNameFilter: prefix, columns: [...named, ...whole] });
    for (const one of [only, made]) await as('Developer', 'POST', '', one);
    const [, line = ''] = await csvLines(made.key);
    // A scenario without an end has one field less.
    expect(line.split(',').slice(1)).toEqual(['next', '14', '5', '3', '1', '4']);
    const [, other = ''] = await csvLines(only.key);
    expect(other).toMatch(/^\d+,next,\d{4}-.*Z$/);
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

  test('runs no formula in a spreadsheet, and has real dates and numbers in xlsx', async () => {
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
    const styles = Buffer.from(parts['xl/styles.xml']!).toString();
    expect(styles).toContain('formatCode="0.00"');
    // Readers that miss the default style warn of a damaged workbook.
    expect(styles).toContain('<cellStyle name="Normal" xfId="0" builtinId="0"/>');
    expect(Object.keys(parts).sort()).toEqual([
      '[Content_Types].xml',
      '_rels/.rels',
      'xl/_rels/workbook.xml.rels',
      'xl/styles.xml',
      'xl/workbook.xml',
      'xl/worksheets/sheet1.xml',
    ]);
  });

  test('has every row of many exactly once, in the same order in both formats', async () => {
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

  test('is named by prefix and time, and defaults to the default report', async () => {
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
