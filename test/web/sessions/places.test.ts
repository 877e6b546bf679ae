/** Where one is in the console, and stays: pages of lists, Back, addresses of nothing, the menu of a phone, the sign-in. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ask, tokenOf } from '../../support/api.ts';
import { describeInBrowser, openBrowser, type TestBrowser, untilTrue } from '../support/browser.ts';
import { sessionsStage } from '../support/sessions-stage.ts';
import { signInAs } from '../support/sign-in.ts';

const stage = await sessionsStage();
const { api, people } = stage;

describeInBrowser('places in the console', () => {
  let browser: TestBrowser;
  let page: Page;

  beforeAll(async () => {
    ({ browser, page } = await openBrowser(api.url));
    await stage.fillProject();
    await signInAs(page, `${api.url}/sessions`, people.Administrator);
  });

  const rows = () => page.locator('tbody tr');
  const menu = () => page.getByRole('navigation', { name: 'Main' });

  test('a list that fails shows no rows of another one', async () => {
    await rows().nth(24).waitFor();
    const failed = /\/api\/v2\/session\?.*state=failed/;
    await page.route(failed, (route) => route.abort());
    await page
      .getByRole('navigation', { name: 'Which sessions' })
      .getByRole('link', { name: 'Failed' })
      .click();
    await page.getByText('The sessions could not be listed.').waitFor();
    await expect.poll(() => rows().count()).toBe(0);
    await page.unroute(failed);
    await page.getByText('Car 44, stint 2').waitFor();
    await expect.poll(() => rows().count()).toBe(1);
  });

  test('a search keeps what is typed the moment the list is searched', async () => {
    for (const path of ['/sessions', '/users', '/dashboards']) {
      await page.goto(`${api.url}${path}`);
      const field = page.locator('.search input');
      await field.waitFor();
      // The next letter comes between the search in the address and the page that is drawn for it.
      await page.evaluate(`(() => {
        const write = history.replaceState;
        history.replaceState = (...entry) => {
          write.apply(history, entry);
          if (!String(entry[2]).includes('search=')) return;
          history.replaceState = write;
          setTimeout(() => {
            const field = document.querySelector('.search input');
            field.value += '4';
            field.dispatchEvent(new InputEvent('input', { bubbles: true }));
          });
        };
      })()`);
      await field.fill('car');
      await untilTrue(page, `new URLSearchParams(location.search).get('search') === 'car4'`);
      expect(await field.inputValue()).toBe('car4');
      await page.getByRole('link', { name: 'Simulation Data Platform' }).click();
      await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
      if (path === '/sessions') await expect.poll(() => field.inputValue()).toBe('');
    }
  });

  test('Back returns to the place in a list, and a new page begins at its top', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${api.url}/sessions?sortBy=name`);
    await rows().nth(24).waitFor();
    await page.evaluate('scrollTo(0, 1500)');
    await untilTrue(page, 'history.state?.scrollY === 1500');
    await page.locator('.row-link').nth(15).focus();
    const before = await page.evaluate<number>('scrollY');
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'Overview' }).waitFor();
    await expect.poll(() => page.evaluate('scrollY')).toBe(0);
    await page.goBack();
    await untilTrue(page, `Math.abs(scrollY - ${before}) < 2`);
    await page.reload();
    await untilTrue(page, `Math.abs(scrollY - ${before}) < 2`);
  });

  test('the menu stays in sight far down a page', async () => {
    await page.setViewportSize({ width: 1440, height: 500 });
    await page.goto(`${api.url}/sessions`);
    await rows().nth(24).waitFor();
    await page.evaluate('scrollTo(0, 400)');
    await expect
      .poll(async () => (await menu().getByRole('link').first().boundingBox())!.y)
      .toBeGreaterThan(0);
    await menu().getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    await expect.poll(() => page.evaluate('scrollY')).toBe(0);
    await page.setViewportSize({ width: 390, height: 844 });
  });

  test('Escape closes the menu of a phone', async () => {
    await page.getByRole('button', { name: 'Show the menu' }).click();
    await menu().getByRole('link', { name: 'Runs' }).focus();
    await page.keyboard.press('Escape');
    await menu().waitFor({ state: 'hidden' });
    await untilTrue(page, `document.activeElement.ariaLabel === 'Show the menu'`);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('a page past the end of a list is its last page', async () => {
    await page.goto(`${api.url}/runs?page=500`);
    await untilTrue(page, 'location.pathname + location.search === "/runs"');
    await rows().first().waitFor();
    await page.goto(`${api.url}/sessions?page=999`);
    await page.getByText('Page 2 of 2').waitFor();
    expect(new URL(page.url()).search).toBe('?page=2');
    await expect.poll(() => rows().count()).toBe(3);
    await page.getByLabel('Choose all on this page').check();
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    // Enter is no way to delete by mistake, nor to close.
    await untilTrue(page, `document.activeElement.textContent === 'Cancel'`);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await untilTrue(page, 'location.search === ""');
    await page.getByText('25 sessions', { exact: true }).waitFor();
    await expect.poll(() => page.locator('.row-gone').count()).toBe(0);
  });

  test('an address of nothing and a page with an error leave the others as they are', async () => {
    await page.goto(`${api.url}/sessions/%E0%A4%A`);
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    await expect.poll(() => page.title()).toMatch(/^Page not found · /);
    await page.route('**/api/v2/node-runs?*', (route) => route.fulfill({ json: {} }));
    await menu().getByRole('link', { name: 'Runs' }).click();
    await page.getByText('This page cannot be shown because of an error.').waitFor();
    await page.unrouteAll();
    await menu().getByRole('link', { name: 'Dashboards' }).click();
    await page.getByRole('heading', { level: 1, name: 'Dashboards' }).waitFor();
    await menu().getByRole('link', { name: 'Runs' }).click();
    await rows().first().waitFor();
  });

  test('an older page of the audit, the days of reports and a search of projects are in the address', async () => {
    for (let number = 1; number <= 55; number += 1)
      await ask(api.url, 'POST', '/projects', {
        token: people.adminToken,
        json: { Title: `Campaign ${number}` },
      });
    // Names of people come after the entries.
    const first = () => rows().first().locator('[data-label="Object"]').innerText();
    await page.goto(`${api.url}/audit?action=createProject`);
    await rows().nth(49).waitFor();
    const newest = await first();
    await page.getByRole('button', { name: 'Older' }).click();
    await untilTrue(page, 'document.querySelectorAll("tbody tr").length < 20');
    const older = await first();
    expect(older).not.toBe(newest);
    await page.reload();
    await expect.poll(first).toBe(older);
    await page.getByRole('button', { name: 'Newer' }).click();
    await expect.poll(first).toBe(newest);
    await page.goBack();
    await expect.poll(first).toBe(older);
    await page.goto(`${api.url}/reports`);
    await page.getByLabel('From').fill('2026-03-01');
    await untilTrue(page, 'location.search === "?from=2026-03-01"');
    await page.reload();
    await expect.poll(() => page.getByLabel('From').inputValue()).toBe('2026-03-01');
    await page.goto(`${api.url}/storage`);
    await rows().nth(50).waitFor();
    await page.getByRole('searchbox').fill('campaign 55');
    await untilTrue(page, 'document.querySelectorAll("tbody tr").length === 1');
    await untilTrue(page, 'location.search === "?search=campaign+55"');
  });

  test('a day that is typed is asked for once, when its year is whole', async () => {
    const asked: string[] = [];
    page.on('request', (request) => request.url().includes('/node-runs?') && asked.push(request.url()));
    await page.goto(`${api.url}/runs`);
    await rows().first().waitFor();
    const entries = await page.evaluate<number>('history.length');
    await page.getByLabel('From').focus();
    await page.keyboard.type('01012026');
    await untilTrue(page, 'location.search === "?from=2026-01-01"');
    expect(await page.evaluate<number>('history.length')).toBe(entries + 1);
    expect(asked.filter((url) => /from=0/.test(url))).toEqual([]);
    await page.getByRole('button', { name: 'All days' }).click();
    await expect.poll(() => page.getByLabel('From').inputValue()).toBe('');
  });

  const signIn = async ({ username, password }: typeof people.Administrator) => {
    await page.getByLabel('Username').fill(username);
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByLabel('Password').waitFor({ state: 'detached' });
  };

  test('an answer that comes after the new sign-in does not ask for another one', async () => {
    await page.goto(`${api.url}/sessions?search=Stint`);
    await page.locator('.row-link').first().click();
    const metadata = page.getByRole('region', { name: 'Metadata' });
    await metadata.getByRole('button', { name: 'Edit metadata' }).click();
    await metadata.getByLabel('Value of driver').fill('Ines');
    // The change is under way when the sign-in ends, and is refused only after the next one.
    const released = Promise.withResolvers<void>();
    const answers: number[] = [];
    await page.route('**/*', async (route) => {
      if (route.request().method() !== 'PATCH') return await route.continue();
      await released.promise;
      const response = await route.fetch();
      answers.push(response.status());
      await route.fulfill({ response });
    });
    const sent = page.waitForRequest((request) => request.method() === 'PATCH');
    await metadata.getByRole('button', { name: 'Save metadata' }).click();
    await sent;
    const { username, password } = people.Administrator;
    const token = await tokenOf(api.url, username, password);
    await ask(api.url, 'POST', '/api/authorization/revoke', { token, json: { username } });
    await page.getByText('Your sign-in has expired.').waitFor();
    await signIn(people.Administrator);
    released.resolve();
    await expect.poll(() => answers).toEqual([401, 200]);
    await metadata.getByRole('definition').getByText('Ines').waitFor();
    expect(await page.getByText('Your sign-in has expired.').count()).toBe(0);
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('an expired sign-in keeps what was typed for the same person, and nothing for another one', async () => {
    const { Administrator, Developer } = people;
    await page.goto(`${api.url}/sessions?search=Stint`);
    await page.locator('.row-link').first().click();
    const metadata = page.getByRole('region', { name: 'Metadata' });
    const expireAt = async (value: string) => {
      await metadata.getByRole('button', { name: 'Edit metadata' }).click();
      await metadata.getByLabel('Value of driver').fill(value);
      const { username, password } = Administrator;
      const token = await tokenOf(api.url, username, password);
      await ask(api.url, 'POST', '/api/authorization/revoke', { token, json: { username } });
      // The page's events may have ended already, whose question covers the button.
      await metadata.getByRole('button', { name: 'Save metadata' }).dispatchEvent('click');
      await page.getByText('Your sign-in has expired.').waitFor();
    };
    await expireAt('Maria');
    for (const key of ['Escape', 'Escape', 'Control+k']) await page.keyboard.press(key);
    await expect.poll(() => page.getByRole('dialog').count()).toBe(1);
    // The person types the password alone.
    expect(await page.getByLabel('Username').inputValue()).toBe(Administrator.username);
    expect(await page.locator(':focus').getAttribute('name')).toBe('password');
    await page.keyboard.type(Administrator.password);
    await page.keyboard.press('Enter');
    await metadata.getByRole('definition').getByText('Maria').waitFor();
    await expect.poll(() => page.title()).toMatch(/stint/i);
    await expireAt('Anna');
    await signIn(Developer);
    await metadata.getByRole('definition').getByText('Maria').waitFor();
    await expect.poll(() => metadata.getByLabel('Value of driver').count()).toBe(0);
  });

  test('asked nothing of other places, and broke nothing', () => expect(browser.offences).toEqual([]));
});
