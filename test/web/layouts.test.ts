/** A person's job in a real browser: arranging a dashboard in panels, and finding it so again. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, startTestApi, type TestApi, tokenOf } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { testEnvironment } from '../support/stack.ts';
import { testWorkflows } from '../support/workflows.ts';
import { accessibilityFaults, appearances, wear } from './support/axe.ts';
import {
  buildConsole,
  findChromium,
  picture,
  startBrowser,
  type TestBrowser,
  tooWide,
} from './support/browser.ts';
import { signInAs } from './support/sign-in.ts';

const program = findChromium();
const platform = await testEnvironment();
const workflows = await testWorkflows(platform.environment);
const start = Date.UTC(2026, 2, 14, 9, 30);

/** Three laps of 60 s around an ellipse, at 20 Hz. */
function drive(): string {
  const lines = Array.from({ length: 3600 }, (_, row) => {
    const lap = 1 + Math.floor(row / 1200);
    const turn = ((row % 1200) / 1200) * 2 * Math.PI;
    const speed = 180 + 70 * Math.cos(2 * turn) + 3 * lap;
    const place = [(47.22 + 0.004 * Math.sin(turn)).toFixed(6), (14.76 + 0.01 * Math.cos(turn)).toFixed(6)];
    return `${new Date(start + row * 50).toISOString()},${speed.toFixed(2)},${(row % 1200) * 3.2},${lap},${place.join(',')}`;
  });
  return `time,speed [km/h],lapDistance [m],lap,latitude,longitude\n${lines.join('\n')}\n`;
}

describe.skipIf(program === null)('a dashboard that is arranged in panels', () => {
  let api: TestApi;
  let browser: TestBrowser;
  let page: Page;
  let address: string;

  beforeAll(async () => {
    await buildConsole();
    api = await startTestApi(platform.environment);
    await Promise.all([workflows.startWorker('workflows'), workflows.startWorker('builtin')]);
    const { username, password } = platform.administrator;
    const token = await tokenOf(api.url, username, password);
    const project = await ask(api.url, 'POST', '/projects', { token, json: { Title: 'Red ring' } });
    const { body: templates } = await ask(api.url, 'GET', '/api/v2/session/session_templates', { token });
    const template = templates.find(
      ({ name }: { name: string }) => name === 'system-tabular-dashboard-autodetect-next',
    );
    const json = { ProjectId: project.body.id, SessionTemplateId: template.id, Name: 'Car 44' };
    const session = await ask(api.url, 'POST', '/session', { token, json });
    const upload = await fetch(
      `${api.url}/api/v2/node-instance/${session.body.nodeInstances[0].id}/outputs/data`,
      {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'text/csv',
          'x-platform-output-identifier': 'a.csv',
        },
        body: drive(),
      },
    );
    expect(upload.status).toBe(201);
    const dimension = await eventually('the session has a dashboard', async () => {
      const { body } = await ask(api.url, 'GET', `/api/v2/sessions/${session.body.id}`, { token });
      return body.dimensions[0];
    });
    address = `${api.url}/dashboards/${dimension.id}`;
    browser = await startBrowser(program!, api.url);
    page = await browser.newPage();
    await signInAs(page, address, platform.administrator);
    await page.getByRole('toolbar', { name: 'Layout' }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await api?.stop();
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const add = async (kind: string, channels: readonly string[]) => {
    await button('Add panel').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Kind').selectOption({ label: kind });
    for (const name of channels) await dialog.getByRole('checkbox', { name, exact: true }).check();
    await dialog.getByRole('button', { name: 'Add panel' }).click();
    await dialog.waitFor({ state: 'detached' });
  };

  test('gets a track, an XY, a histogram and a table that follow one cursor', async () => {
    await add('Track', ['latitude', 'longitude']);
    await add('XY', ['speed', 'lapDistance']);
    await add('Histogram', ['speed']);
    await add('Table at the cursor', ['speed', 'lap']);
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
    expect(await page.locator('.plot-cursor').first().getAttribute('visibility')).toBe('visible');
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

  test('refuses an expression at the place of its fault, and draws a right one', async () => {
    await button('Derived channels').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('metres');
    await dialog.getByLabel('Unit').fill('m');
    await dialog.getByLabel('Expression').fill('integrate(speed / )');
    await dialog.getByRole('button', { name: 'Add channel' }).click();
    await dialog.getByText('position 18').waitFor();
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    await dialog.getByLabel('Expression').fill('integrate(speed / 3.6)');
    await dialog.getByRole('button', { name: 'Add channel' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 2, name: 'metres' }).waitFor();
  });

  test('is drawn over distance, one trace for each lap', async () => {
    await page.getByLabel('X axis').selectOption('lapDistance');
    await page.getByLabel('Split by').selectOption('lap');
    await page.locator('.plot-key', { hasText: 'speed 3' }).first().waitFor();
    await picture(page, 'layout-laps');
  });

  test('is saved, and opens so again by itself', async () => {
    await button('Save layout').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Race engineer');
    await dialog.getByRole('button', { name: 'Save layout' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.goto(address);
    await page.locator('.plot-key', { hasText: 'speed 3' }).first().waitFor();
    expect(await page.getByRole('combobox', { name: 'Layout' }).locator('option:checked').textContent()).toBe(
      'Race engineer (mine)',
    );
    for (const appearance of appearances) {
      await wear(page, appearance);
      await page.locator('.plot-key', { hasText: 'speed 3' }).first().waitFor();
      expect(await tooWide(page)).toEqual([]);
      expect(await accessibilityFaults(page, 'contrast')).toEqual([]);
      await picture(page, `layout-${appearance.name}`);
    }
  });

  test('is deleted, and the dashboard shows its channels again', async () => {
    await button('More for this layout').click();
    await page.getByRole('menuitem', { name: 'Delete Race engineer' }).click();
    await page.locator('.panel-grid').waitFor({ state: 'detached' });
    await page.locator('.chart-plot').first().waitFor();
  });
});
