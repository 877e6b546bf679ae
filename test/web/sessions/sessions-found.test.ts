/** What a query of sessions finds, in a real browser. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import type { StageGraph } from '../../support/runner.ts';
import { accessibilityFaults } from '../support/axe.ts';
import {
  describeInBrowser,
  goWithin,
  openBrowser,
  picture,
  type TestBrowser,
  untilTrue,
} from '../support/browser.ts';
import { sessionsStage } from '../support/sessions-stage.ts';
import { signInAs } from '../support/sign-in.ts';

const stage = await sessionsStage();
const { api, people, end } = stage;

describeInBrowser('sessions that a query finds', () => {
  let browser: TestBrowser;
  let page: Page;
  let projectId: number;
  let failed: StageGraph;

  beforeAll(async () => {
    ({ browser, page } = await openBrowser(api.url));
    ({ projectId, failed } = await stage.fillProject());
    await signInAs(page, `${api.url}/sessions`, people.Administrator);
  });

  const row = (name: string) => page.locator('tbody tr').filter({ hasText: name });

  test('are the rows of the list: in its order, live, and chosen to act on them', async () => {
    const filter = { and: [{ path: 'projectId', op: 'eq', value: projectId }] };
    const address = new URLSearchParams({ query: JSON.stringify(filter), orderBy: '-name' });
    await goWithin(page, `/sessions?${address}`);
    await row('Stint 9').waitFor();
    await page.getByText('28 sessions', { exact: true }).waitFor();
    const names = () => page.locator('.row-link').allInnerTexts();
    const byName = [
      'Car 16, stint 1',
      'Car 44, stint 2',
      ...Array.from({ length: 26 }, (_, n) => `Stint ${n + 1}`),
    ];
    byName.sort();
    await expect.poll(() => names()).toEqual(byName.toReversed().slice(0, 25));
    // A heading orders the query; a condition that is being written stays.
    await page.getByRole('button', { name: 'Add condition' }).click();
    await page.getByRole('columnheader').getByRole('button', { name: 'Session' }).click();
    await untilTrue(page, 'new URLSearchParams(location.search).get("orderBy") === "name"');
    await row('Car 44, stint 2').waitFor();
    await expect.poll(() => names()).toEqual(byName.slice(0, 25));
    await expect.poll(() => page.getByLabel('Field of condition 2').count()).toBe(1);
    const text = await row('Car 44, stint 2').innerText();
    for (const part of ['Failed', '1/3', 'Red Bull Ring, November', 'LH', 'soft', '8 B', 'just now'])
      expect(text).toContain(part);
    await expect.poll(() => row('Car 16, stint 1').getByRole('progressbar').getAttribute('value')).toBe('2');
    await page.getByLabel('Choose Car 44, stint 2').check();
    await picture(page, 'sessions-found');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    await page.getByRole('button', { name: 'Retry failed' }).click();
    await page.getByText('1 session retried.').waitFor();
    await row('Car 44, stint 2').getByText('Running').waitFor();
    await end(failed, 'fail');
    await row('Car 44, stint 2').getByText('Failed').waitFor();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('button', { name: 'Next' }).click();
    await untilTrue(page, 'document.querySelectorAll(".row-link").length === 3');
    await expect.poll(() => names()).toEqual(byName.slice(25));
    // What an action takes out of the query's results says so in its place; a fault of a query is said in their stead.
    const broken = JSON.stringify({ path: 'state', op: 'eq', value: 'failed' });
    await goWithin(page, `/sessions?query=${encodeURIComponent(broken)}`);
    await page.getByText('1 session', { exact: true }).waitFor();
    await page.getByLabel('Choose all on this page').check();
    await page.getByRole('button', { name: 'Retry failed' }).click();
    await row('Car 44, stint 2').and(page.locator('.row-gone')).waitFor();
    await end(failed, 'fail');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await row('Car 44, stint 2').and(page.locator('tr:not(.row-gone)')).waitFor();
    const faulty = JSON.stringify({ path: 'state', op: 'eq', value: 'broken' });
    await goWithin(page, `/sessions?query=${encodeURIComponent(faulty)}`);
    await page.getByText('must be', { exact: false }).first().waitFor();
    await expect.poll(() => page.getByRole('heading', { name: 'Results' }).count()).toBe(0);
  });

  test('have the type of their metadata, also where its path is written before the keys are known', async () => {
    const answered = Promise.withResolvers<void>();
    await page.route(/metadata-keys/, async (route) => {
      await answered.promise;
      await route.continue();
    });
    await page.goto(`${api.url}/sessions?query=`);
    await page.getByLabel('Field of condition 1').selectOption({ label: 'Metadata …' });
    await page.getByLabel('Metadata path of condition 1').fill('tyre.laps');
    expect(await page.getByLabel('Type of condition 1').inputValue()).toBe('text');
    answered.resolve();
    await expect.poll(() => page.getByLabel('Type of condition 1').inputValue()).toBe('number');
    await page.getByLabel('Comparison of condition 1').selectOption({ label: 'is' });
    const value = page.getByLabel('Value of condition 1');
    await value.fill('5');
    await value.press('Enter');
    await page.getByText('1 session', { exact: true }).waitFor();
    // The next value is typed at once.
    expect(await value.evaluate((field) => field.matches(':focus'))).toBe(true);
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('asked nothing of other places, and broke nothing', () => expect(browser.offences).toEqual([]));
});
