/** A person's job in a real browser: panels that are seen in another theme, made higher, and moved by a finger. */
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ask } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { accessibilityFaults } from './support/axe.ts';
import { describeInBrowser, openBrowser, type TestBrowser, untilTrue } from './support/browser.ts';
import { asksBeforeReload, reloadsUnasked } from './support/closing.ts';
import { driveSession } from './support/drive.ts';
import { addPanel, addText } from './support/panels.ts';
import { wholePlatform } from './support/platform.ts';
import { signInAs } from './support/sign-in.ts';

/** What has the focus at the moment at which the form of a text is there. */
const noteFocusOfForm = `new MutationObserver((_, watch) => {
  if (document.querySelector('.text-panel-form') === null) return;
  watch.disconnect();
  window.focusOfForm = document.activeElement.tagName;
}).observe(document.body, { childList: true, subtree: true })`;

const { api, administrator, token } = await wholePlatform();

describeInBrowser('the panels of a dashboard', () => {
  let browser: TestBrowser;
  let page: Page;
  let address: string;

  beforeAll(async () => {
    const { dashboardId } = await driveSession(api.url, token, { project: 'Red ring', name: 'Car 44' });
    address = `${api.url}/dashboards/${dashboardId}`;
    ({ browser, page } = await openBrowser(api.url));
    await signInAs(page, address, administrator);
    await page.getByRole('toolbar', { name: 'Layout' }).waitFor();
  });

  /** Whether pixels of the first chart have a colour of the present theme. */
  const isDrawnIn = (colour: string) =>
    untilTrue(
      page,
      `(() => {
        const canvas = document.querySelector('.chart canvas');
        const hex = getComputedStyle(document.documentElement).getPropertyValue('${colour}').trim();
        const wanted = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join();
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        let found = 0;
        for (let at = 0; at < data.length; at += 4)
          if (data[at + 3] === 255 && [data[at], data[at + 1], data[at + 2]].join() === wanted) found += 1;
        return found > 100;
      })()`,
    );

  test('takes the colours of another theme while its charts are open', async () => {
    await page.locator('.chart[aria-busy="false"] .chart-plot:not([data-points="0"])').first().waitFor();
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      await untilTrue(page, `document.documentElement.dataset.theme === '${colorScheme}'`);
      await isDrawnIn('--series-1');
    }
    // Another tab of the browser has chosen dark.
    const other = await browser.newPage();
    await other.goto(`${api.url}/dashboards`);
    await other.evaluate(`localStorage.setItem('sdp.preferences', '{"theme":"dark"}')`);
    await untilTrue(page, `document.documentElement.dataset.theme === 'dark'`);
    await isDrawnIn('--series-1');
    await other.evaluate(`localStorage.removeItem('sdp.preferences')`);
    await other.close();
    await untilTrue(page, `document.documentElement.dataset.theme === 'light'`);
  });

  test('keep the text that is typed into one while another page is shown', async () => {
    const tab = await browser.newPage();
    await signInAs(tab, address, administrator);
    for (const text of ['Old front wing.', 'Old front wing.']) await addText(tab, text);
    const area = tab.getByRole('textbox', { name: 'Text' });
    await tab.getByRole('button', { name: 'Edit text' }).last().click();
    await area.fill('New front wing.');
    await tab.getByRole('link', { name: 'Reports', exact: true }).click();
    await tab.getByRole('heading', { name: 'Reports' }).waitFor();
    await asksBeforeReload(tab);
    await tab.evaluate(noteFocusOfForm);
    await tab.goBack();
    await untilTrue(tab, `window.focusOfForm === 'TEXTAREA'`);
    await expect.poll(() => area.inputValue()).toBe('New front wing.');
    await tab.keyboard.press('Control+Enter');
    await expect
      .poll(() => tab.getByRole('note').allInnerTexts())
      .toEqual(['Old front wing.', 'New front wing.']);
    // One that is removed takes its draft with it.
    await tab.getByRole('button', { name: 'Edit text' }).last().click();
    await area.fill('Newer front wing.');
    await tab
      .getByRole('button', { name: /^Arrange panel/ })
      .last()
      .click();
    await tab.getByRole('menuitem', { name: 'Remove panel' }).click();
    await area.waitFor({ state: 'detached' });
    await reloadsUnasked(tab);
    await tab.close();
  });

  test('are named apart, also where two have the same channels', async () => {
    const tab = await browser.newPage();
    await signInAs(tab, address, administrator);
    for (const kind of ['Lines', 'Lines', 'Histogram', 'Text', 'Text']) {
      if (kind === 'Text') await addText(tab, 'The same words.');
      else await addPanel(tab, kind, ['speed']);
    }
    await expect.poll(() => tab.getByRole('region', { name: /^Notes/ }).count()).toBe(2);
    expect(await accessibilityFaults(tab, 'every')).toEqual([]);
    await tab.close();
  });

  test('are drawn by a browser whose language Intl refuses', async () => {
    const tab = await browser.newPage();
    await tab.addInitScript(
      `Object.defineProperty(Navigator.prototype, 'language', { get: () => 'C', configurable: true })`,
    );
    await signInAs(tab, address, administrator);
    await tab.locator('.u-over').first().waitFor();
    await tab.close();
  });

  test('are drawn on paper as they would be seen, also those out of sight', async () => {
    const { browser: small, page: low } = await openBrowser(api.url, { width: 390 });
    await signInAs(low, page.url(), administrator);
    const last = `[...document.querySelectorAll('.chart')].at(-1).querySelector('canvas')`;
    await untilTrue(low, `document.querySelectorAll('.chart[aria-busy="false"] canvas').length > 4`);
    await untilTrue(low, `${last}.getBoundingClientRect().top > innerHeight + 300`);
    const before = await low.evaluate(`window.lastDrawn = ${last}.toDataURL()`);
    await low.locator('.chart-plot').first().focus();
    await low.keyboard.press('+');
    await low.waitForURL(/from=/);
    await untilTrue(low, `document.querySelectorAll('.chart[aria-busy="true"]').length === 0`);
    await expect.poll(() => low.evaluate(`${last}.toDataURL()`)).toBe(before);
    await low.evaluate(`window.dispatchEvent(new Event('beforeprint'))`);
    await untilTrue(low, `${last}.toDataURL() !== window.lastDrawn`);
    await small.close();
  });

  test('is drawn higher where it is made higher', async () => {
    await addPanel(page, 'Lines', ['lap']);
    const curves = page.locator('.panel-cell').last().locator('canvas');
    const high = async () => (await curves.boundingBox())!.height;
    await page
      .locator('.panel-cell')
      .last()
      .getByRole('button', { name: /^Arrange/ })
      .click();
    const before = await high();
    await page.getByRole('menuitem', { name: 'Higher' }).click();
    await eventually('the panel is higher', async () => (await high()) === before + 80);
  });

  test('moves its panels by a finger, also to places that the page must scroll to', async () => {
    for (const kind of ['Lines', 'Histogram', 'Table at the cursor']) await addPanel(page, kind, ['speed']);
    const { browser: touch, page: phone } = await openBrowser(api.url, { width: 390, touch: true });
    await signInAs(phone, page.url(), administrator);
    const titles = () => phone.locator('.panel-cell h2').allTextContents();
    const count = await page.locator('.panel-cell').count();
    await phone
      .locator('.panel-cell')
      .nth(count - 1)
      .waitFor();
    const before = await titles();
    const fingers = await phone.context().newCDPSession(phone);
    const finger = (type: 'touchStart' | 'touchMove' | 'touchEnd', x = 0, y = 0) =>
      fingers.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y }] });
    const handle = phone.getByRole('button', { name: 'Move panel 1: arrow keys' });
    await handle.scrollIntoViewIfNeeded();
    const box = (await handle.boundingBox())!;
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await finger('touchStart', x, y);
    // At the lower edge the page scrolls until the last panel is there.
    await finger('touchMove', x, y + 20);
    await finger('touchMove', x, 890);
    await untilTrue(
      phone,
      `[...document.querySelectorAll('.panel-cell')].at(-1).getBoundingClientRect().top < innerHeight - 120`,
    );
    const last = (await phone
      .locator('.panel-cell')
      .nth(count - 1)
      .boundingBox())!;
    await finger('touchMove', x, Math.max(80, last.y + 20));
    await phone.locator('.panel-cell-over').waitFor();
    await finger('touchEnd');
    const moved = [...before.slice(1), before[0]];
    await eventually('the panel is the last', async () => String(await titles()) === String(moved));
    expect(touch.offences).toEqual([]);
    await touch.close();
  });

  test('of a layout that somebody deleted are kept as a new one, and its address says what to do', async () => {
    const saved = async () => {
      await page.waitForURL(/layout=\d+$/);
      return new URL(page.url()).searchParams.get('layout')!;
    };
    const remove = async (id: string) =>
      expect((await ask(api.url, 'DELETE', `/api/v2/dashboard/layouts/${id}`, { token })).status).toBe(204);
    const save = (where: Page | Locator) => where.getByRole('button', { name: 'Save layout' }).click();
    const dialog = page.getByRole('dialog');
    await addPanel(page, 'Lines', ['speed']);
    await save(page);
    await dialog.getByLabel('For').selectOption({ label: 'Everyone, on every dashboard' });
    await save(dialog);
    const first = await saved();
    await remove(first);
    await save(page);
    await save(dialog);
    await dialog.getByText('The layout was deleted meanwhile.').waitFor();
    await save(dialog);
    await dialog.waitFor({ state: 'detached' });
    const second = await saved();
    expect(second).not.toBe(first);
    await remove(second);
    await page.reload();
    await page.getByText('It was deleted, or it is no longer shared with you.').waitFor();
    await page.getByRole('button', { name: 'Close layout' }).click();
    await page.locator('.chart-plot').first().waitFor();
  });

  test('of a layout that somebody changed are kept as a new one, or replace that change', async () => {
    const path = '/api/v2/dashboard/layouts';
    const stored = async () => {
      await page.waitForURL(/layout=\d+$/);
      return (
        await ask(api.url, 'GET', `${path}/${new URL(page.url()).searchParams.get('layout')}`, { token })
      ).body;
    };
    const save = (where: Page | Locator) => where.getByRole('button', { name: 'Save layout' }).click();
    const dialog = page.getByRole('dialog');
    await addPanel(page, 'Lines', ['speed']);
    await save(page);
    await dialog.getByLabel('For').selectOption({ label: 'Everyone, on every dashboard' });
    await dialog.getByLabel('Name').fill('Shared');
    await save(dialog);
    await dialog.waitFor({ state: 'detached' });
    const {
      id,
      revision: _revision,
      mayChange: _mayChange,
      updatedAt: _updatedAt,
      ...fields
    } = await stored();
    const other = await ask(api.url, 'PUT', `${path}/${id}`, { token, json: { ...fields, name: 'Theirs' } });
    expect(other.status).toBe(200);
    await save(page);
    await dialog.getByLabel('Name').fill('Ours');
    await save(dialog);
    await dialog.getByText('Someone changed the layout meanwhile.').waitFor();
    expect((await ask(api.url, 'GET', `${path}/${id}`, { token })).body).toEqual(other.body);
    await dialog.getByLabel('Keep Shared and save a new layout').uncheck();
    await save(dialog);
    await dialog.waitFor({ state: 'detached' });
    await eventually('the layout is replaced', async () => (await stored()).name === 'Ours');
    expect(await stored()).toMatchObject({ id, name: 'Ours', revision: 3 });
    expect((await ask(api.url, 'DELETE', `${path}/${id}`, { token })).status).toBe(204);
  });
});
