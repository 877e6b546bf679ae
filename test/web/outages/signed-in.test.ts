/** People whose sign-in, role or focus changes under an open page. */
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';
import { adminPage } from '../support/admin-page.ts';
import { describeInBrowser, goWithin, openBrowser, untilTrue } from '../support/browser.ts';

const stage = await runnerStage();
const { api, people } = stage;
const token = people.adminToken;
const password = 'correct horse battery staple';

describeInBrowser('a person whose role was lowered', () => {
  let page: Page;
  let path: string;

  const signIn = async (username: string, isKept: boolean) => {
    const json = { username, role: 'Developer', password, forceChangePasswordNextSignin: false };
    const { body } = await ask(api.url, 'POST', '/api/authorization/users', { token, json });
    path = `/api/authorization/users/${body.userId}`;
    await page.goto(`${api.url}/sessions`);
    await page.getByLabel('Username').fill(username);
    await page.getByLabel('Password').fill(password);
    if (isKept) await page.getByLabel('Keep me signed in').check();
    await page.keyboard.press('Enter');
    await link('Reports').waitFor();
  };
  const become = async (role: string) => {
    const changed = await ask(api.url, 'PATCH', path, { token, json: { role } });
    expect(changed.status).toBe(200);
  };
  const link = (name: string) =>
    page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true });
  const isOut = async () => {
    await page.getByText('Your role has no access to this page').waitFor();
    await expect.poll(() => link('Reports').count()).toBe(0);
    await link('Dashboards').click();
    await page.getByText('No dashboards yet').waitFor();
    expect(await page.getByLabel('Password').count()).toBe(0);
  };

  beforeEach(async () => {
    ({ page } = await openBrowser(api.url));
  });

  test.each([
    ['stays signed in and gets the menu of the new role', 'lowered', false],
    ['stays signed in where the sign-in is kept', 'lowered-kept', true],
  ])('%s', async (_guarantee, username, isKept) => {
    await signIn(username, isKept);
    await become('Trainee');
    // The platform refuses reports to a Trainee with a 401.
    await goWithin(page, '/reports');
    await isOut();
  });

  test('gets the menu of the new role after a call that is forbidden', async () => {
    await signIn('lowered-operator', false);
    await become('Trainee');
    await goWithin(page, '/runners');
    await isOut();
  });
});

describeInBrowser('tabs of one browser', () => {
  const signIn = async (tab: Page, kept: boolean) => {
    await tab.goto(`${api.url}/users`);
    await tab.getByLabel('Username').fill(people.Administrator.username);
    await tab.getByLabel('Password').fill(people.Administrator.password);
    if (kept) await tab.getByLabel('Keep me signed in').check();
    await tab.keyboard.press('Enter');
    await tab.getByRole('heading', { name: 'Users' }).waitFor();
  };
  const signOut = (tab: Page) => tab.getByRole('button', { name: 'Sign out' }).click();

  test('are all signed out of a kept sign-in at once', async () => {
    const { browser, page } = await openBrowser(api.url);
    await signIn(page, true);
    const other = await browser.newPage();
    await other.goto(`${api.url}/users`);
    await other.getByRole('heading', { name: 'Users' }).waitFor();
    await signOut(page);
    await other.getByText('You signed out in another tab.').waitFor();
    expect(await other.getByRole('heading', { name: 'Users' }).count()).toBe(0);
  });

  test('keep a sign-in of their own', async () => {
    const { browser, page } = await openBrowser(api.url);
    await signIn(page, false);
    const other = await browser.newPage();
    await signIn(other, false);
    await signOut(page);
    await page.getByText('You are signed out.').waitFor();
    await other.reload();
    await other.getByRole('heading', { name: 'Users' }).waitFor();
  });
});

describeInBrowser('the focus', () => {
  const { start, open, dialog, closed } = adminPage(stage);
  let page: Page;

  beforeAll(async () => {
    const { token } = stage.people.Administrator;
    const json = {
      username: 'leaver',
      role: 'Trainee',
      password: 'correct horse battery staple',
      forceChangePasswordNextSignin: true,
    };
    await ask(stage.api.url, 'POST', '/api/authorization/users', { token, json });
    ({ page } = await start('/runners'));
  });

  test('is at the content of the page after the row that had it was deleted', async () => {
    await open('Users');
    const row = page.getByRole('button', { name: 'Delete leaver' });
    await row.focus();
    await page.keyboard.press('Enter');
    await dialog().getByRole('button', { name: 'Delete' }).last().click();
    await closed();
    await row.waitFor({ state: 'detached' });
    await untilTrue(page, `document.activeElement.id === 'main'`);
    await page.keyboard.press('Tab');
    expect(await page.evaluate(`document.querySelector('main').contains(document.activeElement)`)).toBe(true);
  });
});
