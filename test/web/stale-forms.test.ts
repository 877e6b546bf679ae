/** Forms over lists that are older than the last change of somebody else: saving changes what the person changed, no more. */
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { ask } from '../support/api.ts';
import { runnerStage } from '../support/runner.ts';
import { adminPage } from './support/admin-page.ts';
import { describeInBrowser } from './support/browser.ts';

const stage = await runnerStage();
const { api, people } = stage;

async function call(method: string, path: string, json?: object) {
  const { token } = people.Administrator;
  const answer = await ask(api.url, method, path, { token, ...(json === undefined ? {} : { json }) });
  expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
  return answer.body;
}

describeInBrowser('a form over an older list', () => {
  const { start, open, dialog, click, closed } = adminPage(stage);
  let page: Page;
  let projectId: number;

  beforeAll(async () => {
    ({ page } = await start('/runners'));
    projectId = (await call('POST', '/projects', { Title: 'Of the webhook' })).id;
  });
  beforeEach(() => open('Runners'));

  const save = async () => {
    await dialog().getByRole('button', { name: 'Save' }).click();
    await closed();
  };

  test('leaves a deactivated user deactivated', async () => {
    const path = '/api/authorization/users';
    const fields = { username: 'stale', role: 'Developer', forceChangePasswordNextSignin: true };
    const { userId } = await call('POST', path, { ...fields, password: 'correct horse battery staple' });
    await open('Users');
    await page.getByRole('button', { name: 'Edit stale' }).waitFor();
    const of = { isActive: false, role: 'Trainee', forceChangePasswordNextSignin: false };
    await call('PATCH', `${path}/${userId}`, of);
    await click('Edit stale');
    await dialog().getByLabel('Company').fill('Acme');
    await save();
    expect(await call('GET', `${path}/${userId}`)).toMatchObject({ ...of, company: 'Acme' });
  });

  test('keeps the retention of a project', async () => {
    const { id } = await call('POST', '/projects', { Title: 'Season', RetentionDays: 7 });
    await open('Projects');
    await page.getByRole('link', { name: 'Season', exact: true }).waitFor();
    const of = { Title: 'Season of 2026', RetentionDays: null, QueuedIngestion: true, Priority: 3 };
    await call('PUT', `/projects/${id}`, of);
    await click('Edit Season');
    await dialog().getByLabel('Description').fill('Of all cars');
    await save();
    expect(await call('GET', `/projects/${id}`)).toMatchObject({
      title: 'Season of 2026',
      retentionDays: null,
      queuedIngestion: true,
      priority: 3,
      description: 'Of all cars',
    });
  });

  test('asks before retention with what is due by then', async () => {
    const { id } = await call('POST', '/projects', { Title: 'Of last season' });
    await stage.chainOf(1);
    const Nodes = [{ Name: 'recording', NodeTemplateName: 'input', Parents: [] }];
    const template = await call('POST', '/api/v2/admin/session-templates', { Name: 'last season', Nodes });
    const made = { Name: 'Stint of last season', ProjectId: id, SessionTemplateId: template.id };
    const session = await call('POST', '/session', made);
    await stage.database.query(
      "update session set created_at = created_at - interval '30 days' where id = $1",
      [session.id],
    );
    await open('Retention');
    await page.getByText('Nothing is due to be deleted').waitFor();
    await call('PUT', `/projects/${id}`, { Title: 'Of last season', RetentionDays: 7 });
    await click('Run now');
    await dialog().getByText('1 session with 0 B').waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await page.reload();
    await page.getByRole('link', { name: 'Stint of last season' }).waitFor();
    await call('PUT', `/projects/${id}`, { Title: 'Of last season', RetentionDays: null });
  });

  test('leaves a webhook disabled', async () => {
    const path = '/api/v2/admin/webhooks';
    const fields = { url: 'https://hooks.example.org/stale', events: ['node.failed'] };
    const { id } = await call('POST', path, fields);
    await open('Webhooks');
    await page.getByRole('heading', { name: fields.url }).waitFor();
    const of = { enabled: false, projectId };
    await call('PUT', `${path}/${id}`, of);
    await click(`Edit: ${fields.url}`);
    await dialog().getByLabel('A session is created').check();
    await save();
    const events = ['node.failed', 'session.created'];
    expect(await call('GET', `${path}/${id}`)).toMatchObject({ ...of, events });
  });

  test('leaves an ingest closed to uploads without a token', async () => {
    await stage.chainOf(1);
    const Nodes = [{ Name: 'recording', NodeTemplateName: 'input', Parents: [] }];
    const template = await call('POST', '/api/v2/admin/session-templates', { Name: 'stale', Nodes });
    const path = '/api/v2/admin/ingests';
    const where = { urlPath: 'stale', projectId, sessionTemplateId: template.id, inputNode: 'recording' };
    const fields = { ...where, allowAnonymous: true };
    const { id } = await call('POST', path, fields);
    await open('Ingests');
    await page.getByRole('button', { name: 'Edit: stale' }).waitFor();
    const of = { allowAnonymous: false, creationBehaviour: 'LatestSession' };
    await call('PUT', `${path}/${id}`, of);
    await click('Edit: stale');
    await dialog().getByLabel('Data type').selectOption('Csv');
    await save();
    expect(await call('GET', `${path}/${id}`)).toMatchObject({ ...of, ingestDataType: 'Csv' });
  });

  test('keeps the value of a configuration entry', async () => {
    await call('POST', '/config', { name: 'Stale:Entry', valueType: 0, value: 'before' });
    await open('Configuration');
    await page.getByRole('button', { name: 'Stale:Entry' }).waitFor();
    await call('PUT', '/config/Stale:Entry', { name: 'Stale:Entry', value: 'after' });
    await click('Stale:Entry');
    await dialog().getByLabel('Description').fill('Of a test');
    await save();
    const { Stale } = await call('GET', '/config/all?prefix=Stale');
    expect(Object.values(Stale)).toMatchObject([{ '': { value: 'after', description: 'Of a test' } }]);
  });

  test('leaves a schedule disabled', async () => {
    const path = '/api/v2/dashboard/report-schedules';
    const { id } = await call('POST', path, { reportKey: 'session-list', every: 'day' });
    await open('Reports');
    await page.getByRole('button', { name: /^Edit: / }).waitFor();
    const of = { enabled: false, at: '23:45' };
    await call('PATCH', `${path}/${id}`, of);
    await click(/^Edit: /);
    await dialog().getByLabel('Files kept').fill('3');
    await save();
    expect(await call('GET', `${path}/${id}`)).toMatchObject({ ...of, keptFiles: 3 });
  });

  test('leaves the default report and the filter of a report', async () => {
    const path = '/api/v2/dashboard/reports';
    const columns = [
      { columnKey: 'id', name: 'Id', expression: 'dimension.id', type: 'string', source: 'dimension' },
    ];
    await call('POST', path, { key: 'stale', name: 'Stale', columns, setAsDefault: true });
    await open('Reports');
    await click('Edit Stale');
    await dialog().getByLabel('File name').waitFor();
    await call('PUT', `${path}/stale`, { dimensionNameFilter: 'car' });
    await call('PUT', `${path}/session-list`, { setAsDefault: true });
    await dialog().getByLabel('File name').fill('Cars');
    await save();
    const kept = { dimensionNameFilter: 'car', isDefault: false, fileName: 'Cars' };
    expect(await call('GET', `${path}/stale`)).toMatchObject(kept);
  });

  test('replaces the columns that somebody else saved only when it is said again', async () => {
    const path = '/api/v2/dashboard/reports/stale-columns';
    const column = (name: string) => ({ columnKey: name, name, expression: 'dimension.id' });
    await call('POST', '/api/v2/dashboard/reports', {
      key: 'stale-columns',
      name: 'Lists',
      columns: [column('a')],
    });
    await open('Reports');
    await click('Edit Lists');
    await dialog().getByLabel('File name').waitFor();
    const theirs = await call('PUT', path, { columns: [column('a'), column('b')] });
    await dialog().getByText('Advanced').click();
    await dialog().getByLabel('Heading of column 1').fill('Number');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByText('Someone changed the report meanwhile.').waitFor();
    expect(await call('GET', path)).toEqual(theirs);
    await save();
    expect((await call('GET', path)).columns).toMatchObject([{ columnKey: 'a', name: 'Number' }]);
  });
});
