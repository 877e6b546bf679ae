/** Actions on the chosen sessions run one after the other. */
import { expect, test } from 'vitest';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { sessionsStage } from '../support/sessions-stage.ts';
import { signInAs } from '../support/sign-in.ts';

const stage = await sessionsStage();
const { api, people } = stage;

describeInBrowser('an action on the chosen sessions', () => {
  test('begins no other while it runs, which would be confirmed and not done', async () => {
    await stage.fillProject();
    const { page } = await openBrowser(api.url);
    await signInAs(page, `${api.url}/sessions?tab=failed`, people.Administrator);
    const held = Promise.withResolvers<void>();
    await page.route('**/retry-failed', async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.getByLabel('Choose all on this page').check();
    const chosen = page.getByRole('toolbar', { name: 'Chosen sessions' });
    await chosen.getByRole('button', { name: 'Retry failed' }).click();
    const remove = chosen.getByRole('button', { name: 'Delete' });
    await expect.poll(() => remove.getAttribute('aria-disabled')).toBe('true');
    await remove.dispatchEvent('click');
    held.resolve();
    await page.getByText(/sessions? retried\./).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });
});
