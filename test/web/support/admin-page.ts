/** A browser in which an Administrator is signed in, and what tests of the pages for operators do there. */
import type { Page } from 'playwright-core';
import type { RunnerStage } from '../../support/runner.ts';
import { openBrowser } from './browser.ts';
import { signInAs } from './sign-in.ts';

export function adminPage({ api, people }: RunnerStage) {
  let page: Page;
  const start = async (path: string) => {
    const opened = await openBrowser(api.url);
    page = opened.page;
    await opened.browser.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: api.url });
    await signInAs(page, `${api.url}${path}`, people.Administrator);
    return opened;
  };
  const open = (name: string) =>
    page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
  const dialog = () => page.getByRole('dialog');
  const click = (name: string | RegExp) => page.getByRole('button', { name }).click();
  const closed = () => dialog().waitFor({ state: 'detached' });
  /** The secret that is shown this once, by its copy button. */
  const copied = async () => {
    await dialog().getByRole('button', { name: 'Copy' }).first().click();
    await dialog().getByText('Copied.').waitFor();
    const text = (await page.evaluate('navigator.clipboard.readText()')) as string;
    await dialog().getByRole('button', { name: 'I have copied it' }).click();
    await closed();
    return text;
  };
  return { start, open, dialog, click, closed, copied };
}
