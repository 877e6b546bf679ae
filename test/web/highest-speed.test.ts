/** A person's job in a real browser: the highest speed of a drive, and when it was. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ask } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { accessibilityFaults } from './support/axe.ts';
import { describeInBrowser, openBrowser, picture, type TestBrowser } from './support/browser.ts';
import { wholePlatform } from './support/platform.ts';
import { signInAs } from './support/sign-in.ts';

const { api, administrator, token } = await wholePlatform();
const start = Date.UTC(2026, 2, 14, 9, 30);
const rows = 60_000;
const [peakRow, lowRow] = [23_456, 41_007];

/** Ten minutes at 100 Hz: one row is far faster than its neighbours, one far slower. */
function drive(length: number): string {
  const lines = Array.from({ length }, (_, row) => {
    const speed =
      row === peakRow ? 341.7 : row === lowRow ? 12.5 : (200 + 40 * Math.sin(row / 900)).toFixed(2);
    const tyre = row < 20_000 ? 'soft' : 'medium';
    return `${new Date(start + row * 10).toISOString()},${speed},${tyre},${row % 4000 < 900}`;
  });
  return `time,speed [km/h],tyre,braking\n${lines.join('\n')}\n`;
}

describeInBrowser('the highest speed of a drive', () => {
  let browser: TestBrowser;
  let page: Page;
  let inputId: number;
  let sessionId: string;

  const upload = (body: string) =>
    fetch(`${api.url}/api/v2/node-instance/${inputId}/outputs/data`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'text/csv',
        'x-platform-output-identifier': 'stint.csv',
      },
      body,
    });
  const dashboardAddress = async () => {
    const found = await eventually('the session has a dashboard', async () => {
      const { body } = await ask(api.url, 'GET', `/api/v2/sessions/${sessionId}`, { token });
      return body.dimensions[0];
    });
    return `${api.url}/dashboards/${found.id}`;
  };

  beforeAll(async () => {
    const project = await ask(api.url, 'POST', '/projects', { token, json: { Title: 'Test track' } });
    const { body: templates } = await ask(api.url, 'GET', '/api/v2/session/session_templates', { token });
    const template = templates.find(
      ({ name }: { name: string }) => name === 'system-tabular-dashboard-autodetect-next',
    );
    const session = await ask(api.url, 'POST', '/session', {
      token,
      json: { ProjectId: project.body.id, SessionTemplateId: template.id, Name: 'Car 44 – stint 2' },
    });
    sessionId = session.body.id;
    inputId = session.body.nodeInstances[0].id;
    expect((await upload(drive(rows))).status).toBe(201);
    ({ browser, page } = await openBrowser(api.url));
  });
  test('stands beside its channel, and one click puts the cursor there', async () => {
    await signInAs(page, await dashboardAddress(), administrator);
    await page.getByRole('heading', { level: 1, name: 'Car 44 – stint 2' }).waitFor();
    await page.getByRole('heading', { level: 2, name: 'speed [km/h]' }).waitFor();
    await page.getByRole('button', { name: 'max 341.7 km/h, speed: put the cursor there' }).click();
    const cursors = page.getByRole('list', { name: 'Cursors' });
    await cursors.getByText('14 Mar 2026 09:33:54.560').waitFor();
    await page.locator('.legend-marks', { hasText: 'A 341.7' }).waitFor();
    await expect.poll(() => page.locator('.legend-value').first().textContent()).toBe('341.7');
    expect(new URL(page.url()).searchParams.get('a')).toBe('2026-03-14T09:33:54.560Z');
    await picture(page, 'dashboard-highest');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
  });

  test('is compared with the lowest by two cursors', async () => {
    await page.locator('.chart-plot').first().focus();
    await page.keyboard.press('End');
    await page.keyboard.press('b');
    const cursors = page.getByRole('list', { name: 'Cursors' });
    await cursors.getByText('6 min 5.43 s').waitFor();
    await page.locator('.legend-marks', { hasText: 'Δ' }).waitFor();
    await page.reload();
    await cursors.getByText('6 min 5.43 s').waitFor();
    await page.getByRole('button', { name: 'Remove cursor B' }).click();
    await cursors.getByText('Δ').waitFor({ state: 'detached' });
  });

  test('is drawn over a scale that is logarithmic, kept and zoomed', async () => {
    const tool = (word: string) => page.getByRole('button', { name: `${word}: speed in km/h`, exact: true });
    await tool('Log').click();
    await page.locator('.chart-tool[aria-pressed="true"]', { hasText: 'Log' }).waitFor();
    await picture(page, 'dashboard-logarithmic');
    await tool('Log').click();
    await page.locator('.chart-plot').first().focus();
    await page.keyboard.press('Shift+ArrowUp');
    await page.locator('.chart-tool[aria-pressed="true"]', { hasText: 'Lock' }).waitFor();
    await tool('Lock').click();
    await page.locator('.chart-tool[aria-pressed="true"]').waitFor({ state: 'detached' });
    expect(browser.offences).toEqual([]);
  });

  test('is annotated, and the annotation leads back to it', async () => {
    await page.getByRole('button', { name: 'Annotate', exact: true }).click();
    await page.getByLabel('Label').fill('Top speed');
    await page.getByLabel('Tags').fill('fast, slipstream');
    await page.getByRole('button', { name: 'Add annotation' }).click();
    const list = page.getByRole('region', { name: 'Annotations' });
    const entry = list.getByRole('button', { name: /^14 Mar 2026 09:33:54\.560 Top speed/ });
    await entry.waitFor();
    await list.getByText('slipstream').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.chart-plot').first().focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('m');
    await page.getByRole('dialog').getByLabel('Label').fill('Start');
    await page.getByRole('dialog').getByRole('button', { name: 'Add annotation' }).click();
    await list.getByRole('button', { name: 'Edit Start' }).click();
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    // Somebody else changes it meanwhile: only what is written here changes.
    const annotations = `/api/v2/session/${sessionId}/annotations`;
    const stored = async () => {
      const { body } = await ask(api.url, 'GET', `${annotations}?label=Start`, { token });
      return body.annotations[0];
    };
    const others = { tags: ['cold, wet'], to: new Date(start + 2000).toISOString() };
    await ask(api.url, 'PATCH', `${annotations}/${(await stored()).id}`, { token, json: others });
    await page.getByRole('dialog').getByLabel('Text').fill('From the pits');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await stored()).toMatchObject({ ...others, text: 'From the pits' });
    await list.getByText('From the pits').waitFor();
    await list.getByRole('button', { name: 'Edit Start' }).click();
    const remove = () => page.getByRole('dialog').getByRole('button', { name: 'Delete annotation' }).click();
    await remove();
    const question = page.getByRole('dialog', { name: 'Delete Start?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog', { name: 'Edit annotation' }).waitFor();
    await remove();
    await question.waitFor();
    await remove();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const box = (await page.locator('.chart .u-over').first().boundingBox())!;
    await page.keyboard.down('Alt');
    await page.mouse.move(box.x + box.width * 0.2, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.3, box.y + 20, { steps: 6 });
    await page.mouse.up();
    await page.keyboard.up('Alt');
    await page
      .getByRole('dialog')
      .getByText(/^14 Mar 2026 09:3\S+ to 14 Mar 2026 09:3/)
      .waitFor();
    expect(new URL(page.url()).searchParams.get('from')).toBeNull();
    await page.keyboard.press('Escape');
    await list.getByText('Start').waitFor({ state: 'detached' });
    await entry.click();
    expect(new URL(page.url()).searchParams.get('a')).toBe('2026-03-14T09:33:54.560Z');
    await picture(page, 'dashboard-annotated');
  });

  test('follows the window that is shown', async () => {
    const from = new Date(start + 30_000 * 10).toISOString();
    const to = new Date(start + 50_000 * 10).toISOString();
    await page.goto(`${await dashboardAddress()}?from=${from}&to=${to}`);
    await page.getByRole('button', { name: /^min 12\.5 km\/h, speed/ }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: /^max 341\.7/ }).count()).toBe(0);
    await page.getByText(/^false 7\d %$/).waitFor();
  });

  test('is saved as rows and as a picture', async () => {
    const saved = async (name: string) => {
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('menuitem', { name }).click();
      const download = await downloading;
      return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
    };
    const csv = await saved('Save csv');
    const lines = csv.bytes.toString().trim().split('\n');
    expect([csv.name, lines[0], lines.length]).toEqual([
      'Car 44 – stint 2.csv',
      'time,speed [km/h],braking',
      20_002,
    ]);
    const parquet = await saved('Save Parquet');
    expect([parquet.name, parquet.bytes.subarray(0, 4).toString()]).toEqual([
      'Car 44 – stint 2.parquet',
      'PAR1',
    ]);
    const png = await saved('Save PNG');
    expect(png.name).toBe('Car 44 – stint 2.png');
    expect(png.bytes.subarray(1, 4).toString()).toBe('PNG');
    expect(png.bytes.length).toBeGreaterThan(10_000);
  });

  test('is offered anew when a newer recording has come', async () => {
    const whole = drive(rows);
    expect((await upload(whole.replace('341.7', '352.5'))).status).toBeLessThan(300);
    await page.getByRole('button', { name: 'Show newer data' }).click();
    await page.goto(await dashboardAddress());
    await page.getByRole('button', { name: /^max 352\.5 km\/h/ }).waitFor();
  });

  test('is drawn in dark and on a small screen', async () => {
    const { browser: small, page: tab } = await openBrowser(api.url, { colorScheme: 'dark', width: 390 });
    try {
      await signInAs(tab, await dashboardAddress(), administrator);
      await tab.getByRole('heading', { level: 1, name: 'Car 44 – stint 2' }).waitFor();
      await tab.getByRole('button', { name: /^Choose channels/ }).click();
      await picture(tab, 'dashboard-highest-small-dark');
      await expect.poll(() => tab.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
      expect(await accessibilityFaults(tab, 'every')).toEqual([]);
      expect(small.offences).toEqual([]);
    } finally {
      await small.close();
    }
  });

  test('leaves the page of its session as it is without it', async () => {
    const fresh = `${api.url}/sessions/${sessionId}`;
    const look = async () => {
      for (const part of ['.thumbnail svg', '.figures > div']) await page.locator(part).first().waitFor();
      await page.getByRole('list', { name: 'Activity' }).waitFor();
      return page.evaluate<
        unknown[]
      >(`[...document.querySelectorAll('.overview-main, .figures, .figures > div, .thumbnail')].map(
        (element) => [element.className, getComputedStyle(element).color, ...['x', 'width', 'height'].map(
          (side) => Math.round(element.getBoundingClientRect()[side]))])`);
    };
    await page.goto(fresh);
    const before = await look();
    expect(before.length).toBeGreaterThan(4);
    await page.getByRole('link', { name: 'Open dashboard' }).click();
    await page.getByRole('button', { name: /^max .* speed: put the cursor there$/ }).waitFor();
    await page.getByRole('navigation', { name: 'Path' }).getByRole('link').last().click();
    await expect.poll(() => look()).toEqual(before);
  });
});
