/** The console while the platform does not answer, and once it does again. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { tcpGate } from '../../support/network/tcp-gate.ts';
import { describeInBrowser, openBrowser, untilTrue } from '../support/browser.ts';
import { type DriveSession, driveSession } from '../support/drive.ts';
import { wholePlatform } from '../support/platform.ts';
import { signInAs } from '../support/sign-in.ts';

const { api, administrator, token } = await wholePlatform();
const site = await tcpGate(api.url);

describeInBrowser('after an outage', () => {
  let page: Page;
  let drive: DriveSession;
  const open = (name: string) =>
    page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();

  beforeAll(async () => {
    drive = await driveSession(api.url, token, { project: 'Outages', name: 'Stint 1' });
    ({ page } = await openBrowser(site.url));
    await signInAs(page, `${site.url}/sessions`, administrator);
    await page.getByText('1 session', { exact: true }).waitFor();
  });

  test('a page that was opened during it is fetched by itself, with its styles', async () => {
    // Firefox refuses a script for good whose import failed once, so none may be imported before it could be fetched.
    const failedImports: string[] = [];
    page.on('requestfailed', (request) => {
      if (request.resourceType() === 'script') failedImports.push(request.url());
    });
    site.shut();
    await open('Runs');
    await page.getByText('This part of the console could not be loaded').waitFor();
    site.open();
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    await untilTrue(page, `getComputedStyle(document.querySelector('.run-states')).display === 'flex'`);
    expect(failedImports).toEqual([]);
  });

  test('what could not be read during it is read by itself', async () => {
    await open('Users');
    await page.getByRole('button', { name: `Edit ${administrator.username}` }).waitFor();
    site.shut();
    await open('Tokens');
    await page.getByText('The tokens could not be listed.').waitFor();
    site.open();
    await page.getByText('No offline tokens yet').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('the charts of a dashboard that was zoomed during it are read by themselves', async () => {
    await page.goto(`${site.url}/dashboards/${drive.dashboardId}`);
    await page.locator('.chart[aria-busy="false"] .chart-plot:not([data-points="0"])').first().waitFor();
    site.shut();
    await page.getByRole('button', { name: 'Zoom in' }).click();
    const failure = page.getByText('could not be read.');
    await failure.waitFor();
    site.open();
    await failure.waitFor({ state: 'detached' });
    await page.locator('.chart[aria-busy="false"] .chart-plot:not([data-points="0"])').first().waitFor();
  });
});
