/** Validation of template definition files: what an import would do, without doing it. */
import { beforeAll, expect, test } from 'vitest';
import { sessionTemplateRoutes } from '../../../api/session-templates/routes.ts';
import { apiStage, ask } from '../../support/api.ts';
import { inputNode, ship, tabularNode, templateFile } from '../../support/templates.ts';

const { api, people } = await apiStage({ routes: sessionTemplateRoutes });
beforeAll(() => ship(api.composed.services.database));

const send = (path: string, json: unknown, token = people.Developer.token) =>
  ask(api.url, 'POST', `/api/v2/admin/session-templates${path}`, { token, json });
const validate = (json: unknown, token?: string) => send('/validate', json, token);

/** All that an import could change. */
const stored = () =>
  api.composed.services.database.query(
    `select t.*, (select json_agg(n order by n.ordinal) from session_template_node n where n.session_template_id = t.id),
            (select json_agg(v order by v.version) from session_template_version v where v.session_template_id = t.id)
       from session_template t order by t.id`,
  );

const file = (name: string, inputFormat: string, updateIfExists = true) =>
  templateFile(
    name,
    [inputNode('in'), { ...tabularNode('table', 'in'), DefaultConfiguration: { inputFormat } }],
    { updateIfExists },
  );

test('says what an import would make, and changes nothing', async () => {
  const before = await stored();
  const created = await validate(file('laps', 'csv'));
  expect([created.status, created.body]).toEqual([
    200,
    { name: 'laps', created: true, version: 1, changed: true },
  ]);
  expect(await stored()).toEqual(before);

  expect((await send('', file('laps', 'csv'))).body).toMatchObject(created.body);
  const imported = await stored();
  const same = { name: 'laps', created: false, version: 1, changed: false };
  expect((await validate(file('laps', 'csv'))).body).toEqual(same);
  const next = await validate(file('laps', 'json'));
  expect([next.status, next.body]).toEqual([
    200,
    { name: 'laps', created: false, version: 2, changed: true },
  ]);
  expect(await stored()).toEqual(imported);
  expect((await send('', file('laps', 'json'))).body).toMatchObject(next.body);
  expect((await send('', file('laps', 'json'))).body).toMatchObject({ version: 2, changed: false });
});

test.each([
  ['a file with faults', { Name: 'x', Nodes: [tabularNode('t', 'nowhere')] }, 400],
  ['what is no object', [1], 400],
  ['a name that exists', file('system-tabular-dashboard-autodetect-next', 'csv', false), 409],
  ['another graph under a name that exists', file('system-tabular-dashboard-autodetect-next', 'csv'), 409],
])('refuses %s as the import does', async (_what, json, status) => {
  const before = await stored();
  const [checked, imported] = [await validate(json), await send('', json)];
  expect(checked.status).toBe(status);
  expect(checked.body).toEqual(imported.body);
  expect(await stored()).toEqual(before);
});

test('answers many at once, also beside an import of the same name', async () => {
  const [imported, ...checks] = await Promise.all([
    send('', file('at-once', 'csv')),
    ...Array.from({ length: 8 }, () => validate(file('at-once', 'csv'))),
  ]);
  expect(imported!.status).toBe(201);
  for (const { status, body } of checks)
    expect([status, body.name, body.version]).toEqual([200, 'at-once', 1]);
});

test('is for those who may import', async () => {
  for (const [token, status] of [
    [people.Administrator.token, 200],
    [people.Instructor.token, 403],
    [people.Trainee.token, 403],
    ['', 401],
  ] as const)
    expect((await validate(file('by-role', 'csv'), token)).status).toBe(status);
});
