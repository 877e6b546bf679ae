/** A person whose role an Administrator changes while their page stays open. */
import type { Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';
import { describeInBrowser, goWithin, openBrowser } from '../support/browser.ts';

const { api, people } = await runnerStage();
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
    // Of a Trainee the platform refuses reports with a 401.
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
