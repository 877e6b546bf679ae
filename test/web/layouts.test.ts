/** A person's job in a real browser: arranging a dashboard in panels, and finding it so again. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { accessibilityFaults, appearances, wear } from './support/axe.ts';
import {
  describeInBrowser,
  openBrowser,
  picture,
  type TestBrowser,
  tooWide,
  untilTrue,
} from './support/browser.ts';
import { asksBeforeReload } from './support/closing.ts';
import { driveSession } from './support/drive.ts';
import { addPanelsOfDrive, addText } from './support/panels.ts';
import { wholePlatform } from './support/platform.ts';
import { maxScriptBytes, scriptBytes } from './support/script-bytes.ts';
import { signInAs } from './support/sign-in.ts';

const { api, administrator, token } = await wholePlatform();

describeInBrowser('a dashboard that is arranged in panels', () => {
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
  const button = (name: string) => page.getByRole('button', { name, exact: true });

  test('gets a track, an XY, a histogram and a table that follow one cursor', async () => {
    await addPanelsOfDrive(page);
    await page.getByRole('img', { name: 'Track of latitude and longitude' }).waitFor();
    await page.getByRole('img', { name: 'lapDistance over speed' }).waitFor();
    await page.getByRole('img', { name: 'How often each value of speed is' }).waitFor();
    const shares = await page.locator('.plot-bar title').allTextContents();
    const total = shares.reduce((sum, text) => sum + Number(/: ([\d.]+) %/.exec(text)![1]), 0);
    expect(Math.abs(total - 100)).toBeLessThan(1);
    await page.locator('.chart-plot').first().focus();
    await page.keyboard.press('End');
    await page
      .locator('.cursor-table')
      .getByText(/^25[89]/)
      .waitFor();
    await expect.poll(() => page.locator('.plot-cursor').first().getAttribute('visibility')).toBe('visible');
    await button('Step back').click();
    await page.getByLabel('Playback speed').selectOption('64×');
    await button('Play').click();
    await button('Pause').waitFor();
    await button('Play').waitFor();
    await page
      .locator('.cursor-table')
      .getByText(/^25[89]/)
      .waitFor();
    await page.locator('.cursor-table').scrollIntoViewIfNeeded();
    await picture(page, 'layout-panels');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
  });

  test('opens the same for whoever follows its address, in the same time', async () => {
    await page.locator('.chart-plot').first().focus();
    await page.keyboard.press('+');
    await page.waitForURL(/from=/);
    const shown = async (tab: Page) => ({
      titles: await tab.locator('.panel-cell h2').allTextContents(),
      time: await tab.locator('.toolbar-span').textContent(),
    });
    const mine = await shown(page);
    expect(mine.titles.length).toBeGreaterThan(4);
    const { browser: other, page: tab } = await openBrowser(api.url);
    await signInAs(tab, page.url(), administrator);
    await tab
      .locator('.panel-cell')
      .nth(mine.titles.length - 1)
      .waitFor();
    await expect.poll(() => shown(tab)).toEqual(mine);
    await tab.goto(`${address}?layout=12~broken`);
    await tab.getByText('The address holds no layout that can be read.').waitFor();
    await tab.getByRole('button', { name: 'Close layout' }).click();
    await tab.locator('.chart-plot').first().waitFor();
    await other.close();
    await button('Reset zoom').click();
  });

  test('saves each panel as rows and as a picture', async () => {
    const saved = async (panel: string, item: string) => {
      const cell = page.locator('.panel-cell', {
        has: page.getByRole('region', { name: panel, exact: true }),
      });
      const downloading = page.waitForEvent('download');
      await cell.getByRole('button', { name: /^Arrange panel/ }).click();
      await page.getByRole('menuitem', { name: item }).click();
      const download = await downloading;
      return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
    };
    const csv = await saved('latitude, longitude', 'Save csv');
    const lines = csv.bytes.toString().trim().split('\n');
    expect([lines[0], lines.length]).toEqual(['time,latitude,longitude', 3601]);
    expect((await saved('speed, lapDistance', 'Save Parquet')).bytes.subarray(0, 4).toString()).toBe('PAR1');
    const png = await saved('latitude, longitude', 'Save PNG');
    expect(png.name).toBe('latitude, longitude.png');
    // A picture of the track: its colour is in it, and no other curve's.
    const colours = await page.evaluate<string[]>(`(async () => {
      const bytes = Uint8Array.from(atob('${png.bytes.toString('base64')}'), (one) => one.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, image.width, image.height);
      const found = new Set();
      for (let at = 0; at < data.length; at += 4) found.add([data[at], data[at + 1], data[at + 2]].join());
      return [...found];
    })()`);
    expect(colours).toContain('11,122,148');
    expect(colours).not.toContain('217,87,43');
  });

  test('zooms an XY panel to a box, by keys, and back', async () => {
    const panel = page.getByRole('region', { name: 'speed, lapDistance', exact: true });
    const lock = panel.getByRole('button', { name: 'Lock' });
    const marks = () => panel.locator('svg[role=img] text').allTextContents();
    const plot = panel.getByRole('img');
    await plot.scrollIntoViewIfNeeded();
    const whole = await marks();
    const box = (await plot.boundingBox())!;
    await page.mouse.move(box.x + 150, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 260, box.y + 160, { steps: 4 });
    await page.mouse.up();
    await panel.locator('.chart-tool[aria-pressed="true"]').waitFor();
    const held = await marks();
    expect(held).not.toEqual(whole);
    // Held over another time too.
    await page.locator('.chart-plot').first().focus();
    await page.keyboard.press('+');
    await page.waitForURL(/from=/);
    await expect.poll(() => marks()).toEqual(held);
    await button('Reset zoom').click();
    await plot.dblclick();
    await panel.locator('.chart-tool[aria-pressed="false"]').waitFor();
    await eventually('the whole is shown', async () => String(await marks()) === String(whole));
    await panel.getByRole('application').focus();
    await page.keyboard.press('+');
    await lock.click();
    await expect.poll(() => marks()).toEqual(whole);
  });

  test('moves its panels by dragging and by keys', async () => {
    const titles = () => page.locator('.panel-cell h2').allTextContents();
    const before = await titles();
    const handle = (panel: number) => button(`Move panel ${panel}: arrow keys`);
    await handle(2).dragTo(page.locator('.panel-cell').first());
    const dragged = [before[1], before[0], ...before.slice(2)];
    await eventually('the panel was dropped', async () => String(await titles()) === String(dragged));
    await handle(1).press('ArrowRight');
    await eventually('the panel is back', async () => String(await titles()) === String(before));
    await untilTrue(page, `document.activeElement.getAttribute('aria-label')?.includes('Move panel 2')`);
    await page.getByText(`Panel 1 is panel 2 of ${before.length} now.`).waitFor();
  });

  test('has texts that are changed where they stand, by keys too, and are in its address', async () => {
    await button('Add panel').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^Type/).selectOption({ label: 'Text' });
    await dialog.locator('textarea').fill('New front wing.\n<b>Look</b> at turn 3.');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    await dialog.getByRole('button', { name: 'Add panel' }).click();
    const panel = page.getByRole('region', { name: 'Notes', exact: true });
    const shown = () => panel.locator('.text-panel p').innerText();
    await expect.poll(() => shown()).toBe('New front wing.\n<b>Look</b> at turn 3.');
    const edit = panel.getByRole('button', { name: 'Edit text' });
    await edit.press('Enter');
    const area = panel.getByRole('textbox');
    await area.fill('Gone again');
    await area.press('Escape');
    await expect.poll(() => shown()).toContain('New front wing.');
    await untilTrue(page, `document.activeElement.textContent === 'Edit text'`);
    await page.keyboard.press('Enter');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    await area.fill('x'.repeat(4001));
    await area.press('Control+Enter');
    await panel.getByText('At most 4000 characters; these are 4001.').waitFor();
    await asksBeforeReload(page);
    const words = Array.from({ length: 40 }, (_, line) => `Line ${line + 1}`).join('\n');
    await area.fill(words);
    await area.press('Control+Enter');
    await area.waitFor({ state: 'detached' });
    await expect.poll(() => shown()).toBe(words);
    const other = await browser.newPage();
    await signInAs(other, page.url(), administrator);
    await expect.poll(() => other.getByRole('note').innerText()).toBe(words);
    // Paper shows the whole text, where the page has it scroll.
    const hidden = `(() => {
      const { scrollHeight, clientHeight } = document.querySelector('.text-panel');
      return scrollHeight - clientHeight;
    })()`;
    await expect.poll(() => other.evaluate<number>(hidden)).toBeGreaterThan(100);
    await other.emulateMedia({ media: 'print' });
    await expect.poll(() => other.evaluate<number>(hidden)).toBe(0);
    await other.close();
    await panel.scrollIntoViewIfNeeded();
    await picture(page, 'layout-text');
  });

  test('loads less than 120 KB of script, with panels of every kind', async () => {
    const other = await browser.newPage();
    await signInAs(other, address, administrator);
    await addPanelsOfDrive(other);
    await addText(other, 'New front wing.');
    // Without the scripts of the windows in which they were added.
    await other.reload();
    await other.locator('.cursor-table').waitFor();
    await other.getByRole('note').waitFor();
    const bytes = await scriptBytes(other);
    expect(bytes).toBeGreaterThan(60_000);
    expect(bytes).toBeLessThan(maxScriptBytes.dashboard);
    await other.close();
  });

  test('refuses an expression at the place of its fault, and draws a right one', async () => {
    await button('Derived channels').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('metres');
    await dialog.getByLabel('Unit').fill('m');
    await dialog.getByLabel('Expression').fill('integrate(speed / )');
    await dialog.getByRole('button', { name: 'Add channel' }).click();
    await dialog.getByText(/^Expression, position 18: /).waitFor();
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    await dialog.getByLabel('Expression').fill('integrate(speed / 3.6)');
    await dialog.getByRole('button', { name: 'Add channel' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 2, name: 'metres' }).waitFor();
  });

  test('is drawn over distance, one trace for each lap', async () => {
    await page.getByLabel('X axis').selectOption('lapDistance');
    // It falls at each lap: that is said once for all panels, with a way back.
    const fault = page.getByRole('alert');
    await fault.getByText("Channel 'lapDistance' cannot be x").waitFor();
    await expect.poll(() => fault.count()).toBe(1);
    await page.getByText('Not drawn over this axis.').nth(1).waitFor();
    // A panel that still loads has the name of the histogram of its channel.
    await untilTrue(page, `document.querySelector('[aria-busy=true]') === null`);
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    await fault.getByRole('button', { name: 'Show over time' }).click();
    await fault.waitFor({ state: 'detached' });
    await page.getByLabel('X axis').selectOption('lapDistance');
    await fault.waitFor();
    await page.getByLabel('Split by').selectOption('lap');
    await fault.waitFor({ state: 'detached' });
    await page
      .locator('.plot-key', { hasText: /lap 3$/ })
      .first()
      .waitFor();
    await picture(page, 'layout-laps');
  });

  test('is saved, and opens so again by itself', async () => {
    await button('Save layout').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Race engineer');
    await dialog.getByRole('button', { name: 'Save layout' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.goto(address);
    await page
      .locator('.plot-key', { hasText: /lap 3$/ })
      .first()
      .waitFor();
    await expect
      .poll(() => page.getByRole('combobox', { name: 'Layout' }).locator('option:checked').textContent())
      .toBe('Race engineer (mine)');
    for (const appearance of appearances) {
      await wear(page, appearance);
      await page
        .locator('.plot-key', { hasText: /lap 3$/ })
        .first()
        .waitFor();
      expect(await tooWide(page)).toEqual([]);
      expect(await accessibilityFaults(page, 'contrast')).toEqual([]);
      await picture(page, `layout-${appearance.name}`);
    }
  });

  test('is deleted after a question, and the dashboard shows its channels again', async () => {
    await wear(page, appearances[0]!);
    await button('More for this layout').click();
    await page.getByRole('menuitem', { name: 'Delete Race engineer' }).click();
    await page.getByRole('dialog').getByText('Only you see it.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the layout' }).click();
    await page.locator('.panel-grid').waitFor({ state: 'detached' });
    await page.locator('.chart-plot').first().waitFor();
  });
});
