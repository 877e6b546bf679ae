/** The console while the platform does not answer, and once it does again. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { tcpGate } from '../support/network/tcp-gate.ts';
import { runnerStage } from '../support/runner.ts';
import { describeInBrowser, openBrowser, untilTrue } from './support/browser.ts';
import { signInAs } from './support/sign-in.ts';

const { api, people } = await runnerStage();
const site = await tcpGate(api.url);

describeInBrowser('after an outage', () => {
  let page: Page;
  const open = (name: string) =>
    page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();

  beforeAll(async () => {
    ({ page } = await openBrowser(site.url));
    await signInAs(page, `${site.url}/sessions`, people.Administrator);
    await page.getByText('No sessions yet').waitFor();
  });

  test('a page that was opened during it is fetched by itself, with its styles', async () => {
    site.shut();
    await open('Runs');
    await page.getByText('This part of the console could not be loaded').waitFor();
    site.open();
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    await untilTrue(page, `getComputedStyle(document.querySelector('.run-states')).display === 'flex'`);
  });

  test('what could not be read during it is read by itself', async () => {
    await open('Users');
    await page.getByRole('button', { name: `Edit ${people.Instructor.username}` }).waitFor();
    site.shut();
    await open('Tokens');
    await page.getByText('The tokens could not be listed.').waitFor();
    site.open();
    await page.getByRole('table', { name: 'Offline tokens' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});
