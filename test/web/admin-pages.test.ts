/** The pages for operators, in a real browser: what is made there works on the platform itself. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ask, tokenOf } from '../support/api.ts';
import { runnerStage, type StageGraph } from '../support/runner.ts';
import { adminPage } from './support/admin-page.ts';
import { describeInBrowser, picture, type TestBrowser } from './support/browser.ts';
import { signInAs } from './support/sign-in.ts';

const stage = await runnerStage();
const { api, people } = stage;

describeInBrowser('the pages for operators', () => {
  const { start, open, dialog, click, closed, copied } = adminPage(stage);
  let browser: TestBrowser;
  let page: Page;
  let graph: StageGraph;

  beforeAll(async () => {
    ({ browser, page } = await start('/runners'));
    graph = await stage.chainOf(1);
  });

  test('templates are shown with their graphs, and a definition with faults says where they are', async () => {
    await open('Templates');
    await page.getByText('This template has no nodes').waitFor();
    const nodes = [
      { Name: 'recording', NodeTemplateName: 'no-such-node', Parents: [] as string[] },
      { Name: 'laps-of-it', NodeTemplateName: graph.template, Parents: ['recording'] },
    ];
    const take = async () => {
      await dialog()
        .getByLabel('Template definition file')
        .setInputFiles({
          name: 'laps.json',
          mimeType: 'application/json',
          buffer: Buffer.from(JSON.stringify({ Name: 'laps', Description: 'Laps of a car', Nodes: nodes })),
        });
      await dialog().getByRole('button', { name: 'Import', exact: true }).click();
    };
    await click('Import a definition');
    await take();
    await page.getByRole('alert').getByText('$.Nodes[0]').waitFor();
    nodes[0]!.NodeTemplateName = 'input';
    await take();
    await page.getByRole('heading', { name: 'laps', exact: true }).waitFor();
    await page.getByRole('region', { name: 'Node recording' }).waitFor();
    await page.locator('.node').nth(1).click();
    await page.getByRole('region', { name: 'Node Laps of it' }).waitFor();
    await picture(page, 'templates');
  });

  test('rows of the audit come with the names of what they hold, and without them where they cannot be read', async () => {
    await ask(api.url, 'POST', '/projects', { token: people.adminToken, json: { Title: 'Wet track' } });
    const first = page.locator('tbody tr').first().locator('[data-label="Object"]');
    const held = Promise.withResolvers<void>();
    await page.route('**/projects', async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto(`${api.url}/audit?action=createProject`);
    await page.getByRole('status', { name: 'Loading the audit' }).waitFor();
    held.resolve();
    expect(await first.innerText()).toContain('Wet track');
    await page.unrouteAll();
    await page.route('**/projects', (route) => route.abort());
    await page.reload();
    expect(await first.innerText()).toMatch(/^Project \d+/);
    await page.unrouteAll();
  });

  test('the form of a project says that another has its title, and does not refuse it', async () => {
    await open('Projects');
    const taken = () => dialog().getByText('Another project has this title.');
    await click('Edit Wet track');
    await dialog().getByLabel('Title').waitFor();
    expect(await taken().count()).toBe(0);
    await page.keyboard.press('Escape');
    await closed();
    await click('New project');
    await dialog().getByLabel('Title').fill(' wet Track');
    await taken().waitFor();
    await dialog().getByRole('button', { name: 'Create project' }).click();
    await closed();
    await page.getByRole('link', { name: 'wet Track', exact: true }).waitFor();
  });

  test('an ingest is created with a secret that admits files, and its secret is replaced', async () => {
    await open('Ingests');
    await page.getByText('No ingests yet').waitFor();
    await click('New ingest');
    await dialog().getByLabel('Path').fill('Not A Path');
    await dialog().getByLabel('Template').selectOption({ label: 'laps' });
    // The input nodes are read with the template.
    await dialog().getByRole('option', { name: 'recording' }).waitFor({ state: 'attached' });
    await dialog().getByRole('button', { name: 'Create ingest' }).click();
    await dialog().getByRole('alert').waitFor();
    await picture(page, 'ingest-form');
    await dialog().getByLabel('Path').fill('track-1/laps');
    await dialog().getByRole('button', { name: 'Create ingest' }).click();
    await dialog().getByText('It is shown only once').waitFor();
    const send = (secret: string) =>
      ask(api.url, 'POST', '/ingest/track-1/laps', { headers: { 'x-ingest-secret': secret }, json: {} });
    const first = await copied();
    expect((await send(first)).status).toBe(201);
    await picture(page, 'ingests');
    await click('New secret: track-1/laps');
    await dialog().getByRole('button', { name: 'Replace secret' }).click();
    await dialog().getByText('It is shown only once').waitFor();
    const second = await copied();
    expect([(await send(first)).status, (await send(second)).status]).toEqual([401, 201]);
    await click('Delete: track-1/laps');
    await dialog().getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No ingests yet').waitFor();
  });

  test('an ingest is not sent before the input nodes of its template are read', async () => {
    const read = Promise.withResolvers<void>();
    const templates = '**/session_templates/*';
    await page.route(templates, (route) => read.promise.then(() => route.continue()));
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
    await open('Ingests');
    await click('New ingest');
    await dialog().getByLabel('Path').fill('early/laps');
    await dialog().getByLabel('Template').selectOption({ label: 'laps' });
    await dialog().getByRole('button', { name: 'Create ingest' }).click();
    read.resolve();
    await dialog().getByRole('option', { name: 'recording' }).waitFor({ state: 'attached' });
    expect(sent).toEqual([]);
    await page.unroute(templates);
    await dialog().getByRole('button', { name: 'Cancel' }).click();
  });

  test('a configuration entry is created and updated; a value that does not match its type is refused', async () => {
    await open('Configuration');
    await click('New entry');
    await dialog().getByLabel('Name').fill('Features:compare');
    await dialog().getByLabel('Type').selectOption('bool');
    await dialog().getByLabel('Value').fill('perhaps');
    await dialog().getByRole('button', { name: 'Create entry' }).click();
    await dialog().getByRole('alert').waitFor();
    await dialog().getByLabel('Value').fill('true');
    await dialog().getByRole('button', { name: 'Create entry' }).click();
    await closed();
    await click('Features:compare');
    await dialog().getByLabel('Value').fill('false');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await closed();
    await page.getByRole('cell', { name: 'false' }).waitFor();
    await picture(page, 'configuration');
  });

  test('thousands of configuration entries are drawn a page at a time, and searched whole', async () => {
    await page.route('**/config/all*', async (route) => {
      const answer = await route.fetch();
      const entry = {
        id: 1,
        valueType: 0,
        value: 'v',
        description: '',
        updatedAt: '2026-03-14T09:30:00.000Z',
      };
      const names = Array.from({ length: 2500 }, (_, index) => `Group:Setting${index}`);
      const json = {
        Group: { '': Object.fromEntries(names.map((name, id) => [name, { ...entry, id, name }])) },
      };
      await route.fulfill({ response: answer, json });
    });
    await open('Runners');
    await open('Configuration');
    await page.getByText('2,500 entries').waitFor();
    expect(await page.locator('tbody tr').count()).toBeLessThanOrEqual(100);
    await click('Next');
    await page.getByText('Page 2 of 25').waitFor();
    await page.getByRole('searchbox').fill('setting2499');
    await page.getByText('1 entry', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Group:Setting2499' }).waitFor();
    await page.unroute('**/config/all*');
  });

  test('a user is created, found, updated and deleted', async () => {
    await open('Users');
    await click('New user');
    await dialog().getByLabel('Username').fill('petra');
    await dialog().getByLabel('Password', { exact: false }).first().fill('short');
    await dialog().getByRole('button', { name: 'Create user' }).click();
    await dialog().getByRole('alert').waitFor();
    await picture(page, 'user-form');
    await dialog().getByLabel('Password', { exact: false }).first().fill('correct horse battery staple');
    await dialog().getByRole('button', { name: 'Create user' }).click();
    await closed();
    await page.getByRole('searchbox').fill('petra');
    await page.getByText('1 user', { exact: true }).waitFor();
    await click('Edit petra');
    await dialog().getByLabel('Role').selectOption('Instructor');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await closed();
    await page.getByRole('cell', { name: 'Instructor' }).waitFor();
    await picture(page, 'users');
    await click('Edit petra');
    await dialog().getByLabel('New password').fill('a password by the Administrator');
    await dialog().getByLabel('Must change the password').uncheck();
    await dialog().getByRole('button', { name: 'Save' }).click();
    await closed();
    await changesOwnPassword('petra', 'a password by the Administrator');
    await click('Delete petra');
    await dialog().getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No user matches “petra”').waitFor();
  });

  /** In a separate tab. */
  async function changesOwnPassword(username: string, password: string): Promise<void> {
    const tab = await browser.newPage();
    await signInAs(tab, api.url, { username, password });
    await tab.getByRole('button', { name: 'Account: petra' }).click();
    await tab.getByLabel('Current password').fill('none of theirs');
    await tab.getByLabel('New password').fill('a password of my own choice');
    await tab.getByRole('button', { name: 'Change password' }).click();
    await tab.getByText('The current password is wrong.').waitFor();
    await tab.getByLabel('Current password').fill(password);
    await tab.getByRole('button', { name: 'Change password' }).click();
    await tab.getByText('Your password is changed.').waitFor();
    await picture(tab, 'account');
    await tab.close();
    expect(await tokenOf(api.url, username, 'a password of my own choice')).toMatch(/^hat_/);
  }

  test('a person sees their own tokens in the account, and revokes one', async () => {
    const { token } = people.Administrator;
    const call = (path: string, json: object, by = token) =>
      ask(api.url, 'POST', `/api/v2/admin/${path}`, { token: by, json });
    await stage.database.query("insert into runner_type (name, runtime) values ('own', 'external')");
    const runner = { runnerTypes: ['own'], scopes: ['tasks'], label: 'bench 3' };
    expect((await call('runner-tokens', runner)).status).toBe(201);
    await call('runner-tokens', { ...runner, label: 'of somebody else' }, people.Developer.token);
    const { body } = await call('offline-tokens', {});
    await page.getByRole('button', { name: /^Account:/ }).click();
    const own = dialog().getByRole('region', { name: 'Your tokens' });
    await own.getByText(/^Offline token/).waitFor();
    await picture(page, 'account-tokens');
    await own.getByText(/^Runner token · created .+ · never used · expires /).waitFor();
    expect(await own.textContent()).not.toContain('of somebody else');
    expect(await own.textContent()).not.toContain(body.token);
    await picture(page, 'account-tokens');
    await own.getByRole('button', { name: `Revoke …${body.token.slice(-4)}` }).click();
    await own.getByRole('button', { name: 'Revoke for good' }).click();
    await own.getByText(/^Offline token/).waitFor({ state: 'detached' });
    expect((await ask(api.url, 'GET', '/projects', { token: body.token })).status).toBe(401);
    await page.keyboard.press('Escape');
  });

  test('an offline token is created, works, and is refused when it is revoked', async () => {
    await open('Tokens');
    await click('New offline token');
    await dialog().getByText('It is shown only once').waitFor();
    const shownHint = await dialog().locator('.mono', { hasText: '…' }).textContent();
    const token = await copied();
    const hint = token.slice(-4);
    expect(shownHint).toBe(`…${hint}`);
    expect((await ask(api.url, 'GET', '/projects', { token })).status).toBe(200);
    await picture(page, 'tokens');
    await click(`Revoke …${hint}`);
    await dialog().getByRole('button', { name: 'Revoke' }).click();
    await closed();
    await page.getByRole('row').filter({ hasText: hint }).getByText('revoked').waitFor();
    expect((await ask(api.url, 'GET', '/projects', { token })).status).toBe(401);
  });

  test('a person who opens a page for other roles gets a refusal and stays signed in', async () => {
    const tab = await browser.newPage();
    await signInAs(tab, `${api.url}/runners`, people.Instructor);
    await tab.getByText('Your role has no access to this page').waitFor();
    await tab.close();
    const other = await browser.newPage();
    await signInAs(other, `${api.url}/reports`, people.Trainee);
    await other.getByText('Your role has no access to this page').waitFor();
    await other.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Dashboards' }).click();
    await other.getByText('No dashboards yet').waitFor();
    await other.close();
    expect(browser.offences).toEqual([]);
  });
});
