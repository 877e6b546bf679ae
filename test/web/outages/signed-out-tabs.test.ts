/** A person who signs out in one tab leaves no data on the screen of another. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { runnerStage } from '../../support/runner.ts';
import { describeInBrowser, openBrowser } from '../support/browser.ts';

const { api, people } = await runnerStage();

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
