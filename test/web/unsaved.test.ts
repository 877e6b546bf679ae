/** What was typed and not saved is not lost without a question, and no question is asked about anything else. */
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { runnerStage } from '../support/runner.ts';
import { adminPage } from './support/admin-page.ts';
import { describeInBrowser, goWithin } from './support/browser.ts';
import { asksBeforeReload, reloadsUnasked } from './support/closing.ts';
import { signInAs } from './support/sign-in.ts';

const stage = await runnerStage();
const { api, people } = stage;

describeInBrowser('a form with something typed', () => {
  const { start, open, dialog, click, closed } = adminPage(stage);
  let page: Page;
  let sessionId: string;

  beforeAll(async () => {
    ({ page } = await start('/runners'));
    sessionId = (await stage.chainOf(1)).sessionId;
  });
  beforeEach(() => open('Runners'));

  const button = (name: string) => dialog().getByRole('button', { name, exact: true });

  test('asks before the page is closed, also after it was refused, and not once it is discarded', async () => {
    await open('Users');
    await click('New user');
    await dialog().getByLabel('Username').fill(people.Trainee.username);
    await dialog()
      .getByLabel(/^Password/)
      .fill('correct horse battery staple');
    await asksBeforeReload(page);
    await button('Create user').click();
    await dialog().getByRole('alert').waitFor();
    await asksBeforeReload(page);
    await page.keyboard.press('Escape');
    await dialog().getByText('Press Escape again to discard it.').waitFor();
    await asksBeforeReload(page);
    await page.keyboard.press('Escape');
    await closed();
    await reloadsUnasked(page);
  });

  test('keeps a window with something typed at the first Back, and what came between stays in the history', async () => {
    await open('Runs');
    await open('Users');
    const before = page.url();
    await click('New user');
    await dialog().getByLabel('Username').fill('maria');
    await page.goBack();
    await dialog().getByText('Go back again to discard it.').waitFor();
    expect(page.url()).toBe(before);
    await expect.poll(() => dialog().getByLabel('Username').inputValue()).toBe('maria');
    await dialog().getByLabel('Username').fill('maria2');
    await page.goBack();
    await dialog().getByText('Go back again to discard it.').waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await closed();
    await reloadsUnasked(page);
    await open('Users');
    await click('New user');
    await page.goBack();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
  });

  test('keeps a secret that is shown once, whatever the reader presses', async () => {
    await open('Tokens');
    await click('New offline token');
    const once = () =>
      dialog()
        .getByText(/shown only once/)
        .waitFor();
    await once();
    await page.goBack();
    for (const key of ['Escape', 'Control+k']) await page.keyboard.press(key);
    await once();
    await expect.poll(() => dialog().count()).toBe(1);
    expect(new URL(page.url()).pathname).toBe('/tokens');
    await button('I have copied it').click();
    await closed();
    await page.goBack();
    await expect.poll(() => new URL(page.url()).pathname, { timeout: 5000 }).toBe('/runners');
  });

  test('does not ask after it was saved', async () => {
    await open('Projects');
    await click('New project');
    await dialog().getByLabel('Title').fill('Saved');
    await button('Create project').click();
    await closed();
    await reloadsUnasked(page);
  });

  test('keeps a manifest whose faults were found at the first Escape', async () => {
    await open('Manifests');
    await click('Publish a manifest');
    const text = dialog().locator('textarea');
    await text.fill('{ "manifestVersion": 1 }');
    await button('Publish').click();
    await dialog().getByText('nothing was published').waitFor();
    await asksBeforeReload(page);
    await page.keyboard.press('Escape');
    await dialog().getByText('Press Escape again to discard it.').waitFor();
    await expect.poll(() => text.inputValue()).toContain('manifestVersion');
    await page.keyboard.press('Escape');
    await closed();
    await reloadsUnasked(page);
  });

  test('asks no other person after a sign-out, and is there again for its own', async () => {
    const address = `/sessions/${sessionId}`;
    await page.goto(api.url + address);
    const metadata = page.getByRole('region', { name: 'Metadata' });
    await metadata.getByRole('button', { name: 'Add metadata' }).click();
    await metadata.getByLabel(/^Value of/).fill('Maria');
    await page.getByRole('tab', { name: 'Files' }).click();
    await asksBeforeReload(page);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Username').fill(people.Administrator.username);
    await page.getByLabel('Password').fill(people.Administrator.password);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await goWithin(page, address);
    await expect.poll(() => metadata.getByLabel(/^Value of/).inputValue()).toBe('Maria');
    await asksBeforeReload(page);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Username').waitFor();
    await reloadsUnasked(page);
    await signInAs(page, api.url + address, people.Administrator);
  });
});
