/** The pages for operators, in a real browser: what is made there works on the platform itself. */
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tokenStage } from '../api/runner-tokens/support.ts';
import { ask, tokenOf } from '../support/api.ts';
import { runnerStage, type StageGraph } from '../support/runner.ts';
import { accessibilityFaults } from './support/axe.ts';
import { buildConsole, findChromium, picture, startBrowser, type TestBrowser } from './support/browser.ts';
import { signInAs } from './support/sign-in.ts';

const program = findChromium();
if (program === null)
  console.warn('skipped: the browser tests need Chromium, and there is none on this machine');

const stage = await runnerStage();
const { api, people } = stage;

describe.skipIf(program === null)('the pages for operators', () => {
  let browser: TestBrowser;
  let page: Page;
  let graph: StageGraph;

  beforeAll(async () => {
    await buildConsole();
    browser = await startBrowser(program!, api.url);
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: api.url });
    page = await browser.newPage();
    graph = await stage.chainOf(1);
    await signInAs(page, `${api.url}/runners`, people.Administrator);
  });
  afterAll(async () => await browser?.close());

  const open = (name: string) =>
    page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
  const dialog = () => page.getByRole('dialog');
  const click = (name: string | RegExp) => page.getByRole('button', { name }).click();
  const closed = () => dialog().waitFor({ state: 'detached' });
  /** The secret that is shown this once, by its copy button. */
  const copied = async () => {
    await dialog().getByRole('button', { name: 'Copy' }).first().click();
    await dialog().getByText('Copied.').waitFor();
    const text = (await page.evaluate('navigator.clipboard.readText()')) as string;
    await dialog().getByRole('button', { name: 'I have copied it' }).click();
    await closed();
    return text;
  };

  test('a runner token is created, shown once, works, and is refused when it is revoked', async () => {
    await page.getByText('No runners yet').waitFor();
    await click('New runner token');
    await dialog().getByLabel('Runner types').fill('nobody-knows-it');
    await dialog().getByRole('button', { name: 'Create token' }).click();
    await dialog().getByRole('alert').waitFor();
    await picture(page, 'runner-token-refused');
    await dialog().getByLabel('Label').fill('Laboratory 3');
    await dialog().getByLabel('Runner types').fill('outside-runner');
    await dialog().getByRole('button', { name: 'Create token' }).click();
    await dialog().getByText('It is shown only once').waitFor();
    await picture(page, 'runner-token-made');
    // Keys that close other windows leave this one, whose text is shown nowhere else.
    for (let times = 0; times < 3; times += 1) await page.keyboard.press('Escape');
    const token = await copied();
    expect(token).toMatch(/^hrt_/);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('New runner token');
    expect(await page.content()).not.toContain(token);
    const runner = stage.runner({ token, instanceId: 'laboratory-3' });
    expect((await runner.claim(graph.template)).status).toBe(204);
    await click('Revoke Laboratory 3');
    await dialog().getByRole('button', { name: 'Revoke' }).click();
    await closed();
    await page.getByRole('cell', { name: 'revoked' }).waitFor();
    expect((await runner.claim(graph.template)).status).toBe(401);
  });

  test('a runner is shown with its task, drained and resumed', async () => {
    const runner = stage.runner({ instanceId: 'workbench-7' });
    const { graph: unserved } = await tokenStage(stage);
    await stage.upload(unserved, 'input', '1');
    await stage.upload(graph, 'input', '1');
    await runner.acquire(graph.template);
    await click('Refresh');
    const queue = (template: string) => page.getByRole('row').filter({ hasText: template });
    await queue(graph.template).getByText('1 busy').waitFor();
    await queue(unserved.template).getByText('None').waitFor();
    await page.getByText('1 task waits, 1 queue has no runner').waitFor();
    const row = page.getByRole('row').filter({ hasText: 'workbench-7' });
    await row.getByRole('link', { name: 'n1' }).waitFor();
    await row.getByRole('button', { name: 'Drain workbench-7' }).click();
    await row.getByText('drained').waitFor();
    await picture(page, 'runners');
    await row.getByRole('button', { name: 'Resume workbench-7' }).click();
    await row.getByText('drained').waitFor({ state: 'detached' });
  });

  test('a queue gets a limit, says it, and goes back to the manifest', async () => {
    const row = page.getByRole('row').filter({ hasText: graph.template });
    await click(`Limit ${graph.template}`);
    await dialog().getByLabel('Tasks at once').fill('5');
    await dialog().getByLabel('Of one session').fill('2');
    await picture(page, 'queue-limit');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    await dialog().getByRole('button', { name: 'Save' }).click();
    await closed();
    await row.getByText('of at most 5, 2 a session').waitFor();
    const path = '/api/v2/admin/concurrency';
    const limits = async () =>
      (await ask(api.url, 'GET', path, { token: people.Developer.token })).body.limits;
    expect(await limits()).toMatchObject([{ name: graph.template, max: 5, perProject: null, perSession: 2 }]);
    await click(`Limit ${graph.template}`);
    expect(await dialog().getByLabel('Tasks at once').inputValue()).toBe('5');
    await dialog().getByRole('button', { name: 'Back to what the manifest says' }).click();
    await closed();
    await row.getByText('of at most 5').waitFor({ state: 'detached' });
    expect(await limits()).toEqual([]);
  });

  test('a runner is connected: manifest, token and commands, until it was seen', async () => {
    await open('Runners');
    await click('Connect a runner');
    await dialog().getByLabel('Name').fill('Top Speed');
    await dialog().getByRole('button', { name: 'Next' }).click();
    await dialog().getByRole('alert').waitFor();
    const name = `top-speed-${randomUUID().slice(0, 8)}`;
    await dialog().getByLabel('Name').fill(name);
    await dialog().getByLabel('Language').selectOption('python');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    await dialog().getByRole('button', { name: 'Next' }).click();
    await dialog().getByText('Waiting for the runner').waitFor();
    await picture(page, 'runner-connect');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    const shown = await dialog().getByLabel('Commands', { exact: true }).inputValue();
    expect(shown).toContain(`sdp runner init ${name} --python`);
    const token = /SDP_RUNNER_TOKEN=(hrt_\S+)/.exec(shown)![1]!;
    const runner = stage.runner({ token, instanceId: 'pit-wall-3' });
    expect((await runner.claim(name)).status).toBe(204);
    await dialog().getByText('is connected').waitFor();
    await dialog().getByRole('button', { name: 'Done' }).click();
    await closed();
    await page.getByRole('row').filter({ hasText: name }).first().waitFor();
  });

  test('templates are shown with their graphs, and a definition with faults says where they are', async () => {
    await open('Templates');
    await page.getByText('This template has no nodes').waitFor();
    const nodes = [
      { Name: 'recording', NodeTemplateName: 'no-such-node', Parents: [] as string[] },
      { Name: 'laps-of-it', NodeTemplateName: graph.template, Parents: ['recording'] },
    ];
    const take = () =>
      page.locator('input[type=file]').setInputFiles({
        name: 'laps.json',
        mimeType: 'application/json',
        buffer: Buffer.from(JSON.stringify({ Name: 'laps', Description: 'Laps of a car', Nodes: nodes })),
      });
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

  test('an ingest is created with a secret that admits files, and its secret is replaced', async () => {
    await open('Ingests');
    await page.getByText('No ingests yet').waitFor();
    await click('New ingest');
    await dialog().getByLabel('Path').fill('Not A Path');
    await dialog().getByLabel('Template').selectOption({ label: 'laps' });
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
    const token = await copied();
    const hint = token.slice(-4);
    expect((await ask(api.url, 'GET', '/projects', { token })).status).toBe(200);
    await picture(page, 'tokens');
    await click(`Revoke …${hint}`);
    await dialog().getByRole('button', { name: 'Revoke' }).click();
    await closed();
    await page.getByRole('row').filter({ hasText: hint }).getByText('revoked').waitFor();
    expect((await ask(api.url, 'GET', '/projects', { token })).status).toBe(401);
  });

  test('tasks for which no runner is there are pointed out until one comes', async () => {
    const { graph, runnerType, runner: newRunner } = await tokenStage(stage);
    await stage.upload(graph, 'input', '1');
    await open('Runners');
    const notice = page.getByRole('alert').filter({ hasText: runnerType });
    await notice.getByText('is there').waitFor();
    expect(await notice.textContent()).toContain(`Tasks of ${graph.template} wait`);
    await picture(page, 'runners-missing');
    const runner = newRunner();
    const task = await runner.acquire(graph.template);
    await notice.waitFor({ state: 'detached' });
    await runner.end(task.taskId, 'fail', { category: 'validation', reason: 'No.' });
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
