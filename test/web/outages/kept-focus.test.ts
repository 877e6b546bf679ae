/** Work by keyboard goes on where it was, also when the part that had the focus is gone. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';
import { adminPage } from '../support/admin-page.ts';
import { describeInBrowser, untilTrue } from '../support/browser.ts';

const stage = await runnerStage();

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
