/** Panels of a dashboard that are changed by the keys and the menu: nothing is lost without a way back, nor the focus. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { writeLink } from '../../../web/src/dashboard/panels/link.ts';
import { formOf, newPanel } from '../../../web/src/dashboard/panels/model.ts';
import { accessibilityFaults } from '../support/axe.ts';
import { describeInBrowser, openBrowser, untilTrue } from '../support/browser.ts';
import { driveSession } from '../support/drive.ts';
import { addPanel } from '../support/panels.ts';
import { wholePlatform } from '../support/platform.ts';
import { signInAs } from '../support/sign-in.ts';

const { api, administrator, token } = await wholePlatform();

describeInBrowser('panels that are changed', () => {
  let page: Page;
  let address: string;

  beforeAll(async () => {
    const { dashboardId } = await driveSession(api.url, token, { project: 'Red ring', name: 'Car 44' });
    address = `${api.url}/dashboards/${dashboardId}`;
    ({ page } = await openBrowser(api.url));
    await signInAs(page, address, administrator);
    await page.getByRole('toolbar', { name: 'Layout' }).waitFor();
  });

  const panels = () => page.locator('.panel-cell');
  const arranged = async (item: string) => {
    const menu = page.getByRole('button', { name: /^Arrange panel/ });
    await menu.last().press('Enter');
    await page.getByRole('menuitem', { name: item }).press('Enter');
  };
  const handleHasFocus = (panel: number) =>
    untilTrue(
      page,
      `document.activeElement.getAttribute('aria-label') === 'Move panel ${panel}: arrow keys'`,
    );

  test('say which channels they lack, and show every one that is chosen', async () => {
    await page.getByRole('button', { name: 'Add panel', exact: true }).click();
    const dialog = page.getByRole('dialog');
    const add = dialog.getByRole('button', { name: 'Add panel' });
    await add.press('Enter');
    await dialog.getByText('Choose at least 1 channel.').waitFor();
    await dialog.getByRole('checkbox', { name: 'speed' }).check();
    await dialog.getByLabel(/^Type/).selectOption({ label: 'XY' });
    await add.press('Enter');
    await dialog.getByText('Choose at least 2 channels.').waitFor();
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    await dialog.getByRole('checkbox', { name: /lapDistance$/ }).check();
    await add.click();
    await dialog.waitFor({ state: 'detached' });
  });

  test('have the focus after the menu moved them, and after one was removed the next has it', async () => {
    await addPanel(page, 'Histogram', ['speed']);
    const count = await panels().count();
    await arranged('Move forward');
    await handleHasFocus(count - 1);
    await arranged('Remove panel');
    await expect.poll(() => panels().count()).toBe(count - 1);
    await handleHasFocus(count - 1);
    await page.goBack();
    await expect.poll(() => panels().count()).toBe(count);
  });

  test('come back with Back when their layout was closed', async () => {
    const count = await panels().count();
    await page.getByRole('button', { name: 'More for this layout' }).click();
    await page.getByRole('menuitem', { name: 'Close layout' }).click();
    await expect.poll(() => panels().count()).toBe(0);
    await page.goBack();
    await expect.poll(() => panels().count()).toBe(count);
  });

  test('stay as they are where a layout cannot have as many', async () => {
    const channels = ['speed', ...Array.from({ length: 50 }, (_, index) => `other ${index}`)];
    const link = writeLink({ id: null, form: { ...formOf([]), panels: [newPanel('lines', channels)] } });
    await page.goto(`${address}?layout=${encodeURIComponent(link!)}`);
    await arranged('A panel for each channel');
    await page.getByText('A layout has at most 50 panels').waitFor();
    expect(await panels().count()).toBe(1);
    // Those that this dashboard has not can be taken out too.
    await arranged('Edit panel');
    await page
      .getByRole('dialog')
      .getByRole('checkbox', { name: /other 49$/ })
      .uncheck();
    await page.getByRole('dialog').getByRole('button', { name: 'Save panel' }).click();
    await arranged('A panel for each channel');
    await expect.poll(() => panels().count()).toBe(50);
  });
});
