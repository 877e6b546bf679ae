/** Failed runs by their reasons in a real browser. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { runnerStage, type TestRunner } from '../../support/runner.ts';
import { faultsInAllAppearances } from '../support/all-appearances.ts';
import { describeInBrowser, openBrowser, untilTrue } from '../support/browser.ts';
import { signInAs } from '../support/sign-in.ts';

const stage = await runnerStage();
const { api, people } = stage;

describeInBrowser('failed runs in the console', () => {
  let page: Page;
  let runner: TestRunner;

  beforeAll(async () => {
    ({ page } = await openBrowser(api.url));
    runner = stage.runner({ instanceId: 'pit-wall-3' });
    await signInAs(page, `${api.url}/runs`, people.Developer);
  });

  const looks = async (name: string) => expect(await faultsInAllAppearances(page, name)).toEqual([]);

  test('failed runs of several sessions are grouped by their reasons, and those of one are retried at once', async () => {
    const template = `of-the-night-${Date.now()}`;
    const sessions = [];
    for (const lap of [1, 2, 3]) {
      const one = await stage.chainOf(1, { maxAttempts: 1, leaseSeconds: 900 });
      sessions.push(one);
      await stage.upload(one, 'input', '1');
      const held = await runner.acquire(one.template);
      const ends =
        lap === 3
          ? { category: 'validation', reason: `${template}: no such column.` }
          : { category: 'error', reason: `${template}: licence ${lap} is in use.` };
      await runner.end(held.taskId, 'fail', ends);
    }
    await page.goto(`${api.url}/runs?state=failed`);
    await page.getByRole('button', { name: 'Group by reason' }).click();
    await untilTrue(page, 'location.search === "?state=failed&by=reason"');
    const row = (text: string) => page.getByRole('row').filter({ hasText: `${template}: ${text}` });
    await row('licence 2 is in use.')
      .getByRole('button', { name: /^Retry 2 runs/ })
      .waitFor();
    await row('no such column.').getByText('would fail again').waitFor();
    await looks('runs-by-reason');
    await row('licence 2').getByRole('button').click();
    await page.getByText('2 runs retried.').waitFor();
    await row('licence 2').waitFor({ state: 'detached' });
    await row('no such column.').waitFor();
    await page.getByRole('link', { name: 'Open runs' }).click();
    await page.locator('.run-table tbody tr').getByText('Queued').nth(1).waitFor();
    for (const one of sessions.slice(0, 2)) {
      const held = await runner.acquire(one.template);
      await runner.end(held.taskId, 'complete', { outcome: 'no-output' });
    }
  });
});
