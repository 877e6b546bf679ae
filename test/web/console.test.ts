/**
 * The console in a real browser on the real platform: API, both workers, database, object store, Temporal. The tests
 * of this file are steps of one scenario and run in order.
 */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ask, tokenOf } from '../support/api.ts';
import {
  describeInBrowser,
  dropFile,
  openBrowser,
  picture,
  type TestBrowser,
  untilTrue,
} from './support/browser.ts';
import { wholePlatform } from './support/platform.ts';

const recordingFile = 'seattle-weather-hourly-normals.csv';
const recording = readFileSync(
  new URL(`../../node_modules/vega-datasets/data/${recordingFile}`, import.meta.url),
  'utf8',
);

const { api, administrator, token } = await wholePlatform();

describeInBrowser('the console', () => {
  const { username, password } = administrator;
  let browser: TestBrowser;
  let page: Page;
  let sessionId: string;
  let sessionPath: string;
  let dashboardPath: string;

  beforeAll(async () => {
    sessionId = await makeSessions(api.url, token);
    sessionPath = `/sessions/${sessionId}`;
    ({ browser, page } = await openBrowser(api.url));
  });

  const signIn = async (tab: Page, rememberMe = false) => {
    await tab.getByLabel('Username').fill(username);
    await tab.getByLabel('Password').fill(password);
    if (rememberMe) await tab.getByLabel('Keep me signed in').check();
    await tab.keyboard.press('Enter');
  };
  const pathOf = (tab: Page) => {
    const url = new URL(tab.url());
    return url.pathname + url.search;
  };

  test('reports a wrong password and opens the requested page after a right one', async () => {
    await page.goto(api.url + sessionPath);
    await page.getByLabel('Username').fill(username);
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Wrong username or password.').waitFor();
    await picture(page, 'sign-in');
    await signIn(page);
    await page.getByRole('heading', { name: 'Weather of a year' }).waitFor();
    expect(pathOf(page)).toBe(sessionPath);
  });

  test('lists sessions page by page and finds one by a part of its name', async () => {
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: 'Sessions', exact: true })
      .click();
    await page.getByText('Page 1 of 2').waitFor();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(25);
    await picture(page, 'sessions');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Page 2 of 2').waitFor();
    await untilTrue(page, 'document.querySelectorAll("tbody tr").length === 2');
    await page.getByRole('searchbox').fill('of a YEAR');
    await page.getByText('1 session', { exact: true }).waitFor();
    expect(pathOf(page)).toBe('/sessions?search=of+a+YEAR');
    await page.getByRole('link', { name: 'Weather of a year' }).click();
    await page.getByRole('heading', { name: 'Weather of a year' }).waitFor();
  });

  test('uploads a recording dropped on the input node and follows it to a dashboard', async () => {
    await page.getByText('No files yet').waitFor();
    await page.getByRole('tab', { name: 'Pipeline' }).click();
    await page.locator('[data-state="NeverBegan"]').nth(2).waitFor();
    await picture(page, 'session-before');
    await dropFile(page, '.node >> nth=0', { name: recordingFile, type: 'text/csv', text: recording });
    await page.getByText(/, stored/).waitFor();
    await page.locator('.node[data-state="Succeeded"]').nth(2).waitFor();
    await page.getByRole('link', { name: 'Open dashboard' }).waitFor();
    await picture(page, 'session-after');
    await page.getByText('live', { exact: true }).waitFor();
  });

  test('downloads exactly the uploaded bytes', async () => {
    const downloading = page.waitForEvent('download');
    await page
      .getByRole('button', { name: /^Download/ })
      .first()
      .click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(recordingFile);
    expect(readFileSync(await download.path(), 'utf8')).toBe(recording);
  });

  test("draws the recording's own values and reads them out at the cursor", async () => {
    await page.getByRole('link', { name: 'Open dashboard' }).click();
    await page.locator('.chart canvas').first().waitFor();
    dashboardPath = pathOf(page);
    expect(dashboardPath).toMatch(/^\/dashboards\/\d+$/);
    await page.locator('.chart[aria-busy="false"]').nth(2).waitFor();
    await picture(page, 'dashboard');
    await page.getByRole('searchbox', { name: 'Search channels' }).fill('temperature');
    await choose(page, ['temperature']);
    await page.locator('.chart-plot:not([data-points="0"])').first().waitFor();
    await page.locator('.chart-plot').first().focus();
    await page.keyboard.press('Home');
    await expect.poll(() => shownValue(page)).toBeCloseTo(rowValue(1), 5);
    await page.keyboard.press('End');
    await expect.poll(() => shownValue(page)).toBeCloseTo(rowValue(-1), 5);
  });

  test('zooms by drag to full resolution, keeps the view in the address, and comes back by double-click', async () => {
    const whole = pathOf(page);
    const seriesAnswer = page.waitForResponse((response) => response.url().includes('/series?'));
    await drag(page, 0.4, 0.42);
    const query = new URL((await seriesAnswer).url()).searchParams;
    await untilTrue(page, 'location.search.includes("from=")');
    const zoomed = pathOf(page);
    const shown = new URL(page.url()).searchParams;
    expect(query.get('from')).toBe(shown.get('from'));
    // 2 % of a year of hours: fewer than the points of a picture, so that every row is there.
    await page.locator('.chart[aria-busy="false"]').first().waitFor();
    const points = Number(await page.locator('.chart-plot').first().getAttribute('data-points'));
    const hours = (Date.parse(shown.get('to')!) - Date.parse(shown.get('from')!)) / 3_600_000;
    expect(Math.abs(points - hours)).toBeLessThanOrEqual(2);
    await picture(page, 'dashboard-zoomed');

    await page.reload();
    await page.locator('.chart canvas').first().waitFor();
    expect(pathOf(page)).toBe(zoomed);
    await expect.poll(() => page.locator('.chart').count()).toBe(1);
    await page.locator('.chart .u-over').first().dblclick();
    await untilTrue(page, '!location.search.includes("from=")');
    expect(pathOf(page)).toBe(whole);
    await page.goBack();
    expect(pathOf(page)).toBe(zoomed);
  });

  test('can be used by keyboard only', async () => {
    await page.goto(api.url + dashboardPath);
    await page.locator('.chart-plot').first().focus();
    await page.keyboard.press('+');
    await untilTrue(page, 'location.search.includes("from=")');
    const before = pathOf(page);
    await page.keyboard.press('Shift+ArrowRight');
    await untilTrue(page, `location.pathname + location.search !== ${JSON.stringify(before)}`);
    await page.locator('.chart-plot:not([data-points="0"])').nth(2).waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.getByText(/2010 .*: pressure \d/).waitFor({ state: 'attached' });
    await page.keyboard.press('Escape');
    await untilTrue(page, '!location.search.includes("from=")');

    await page.goto(`${api.url}${sessionPath}?tab=pipeline`);
    await page.locator('.node').first().focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('region', { name: 'Node Read table' }).waitFor();
    expect(pathOf(page)).toMatch(/\?node=\d+$/);
  });

  test('shows at the failed node why a recording could not be read', async () => {
    await page.goto(`${api.url}${sessionPath}?tab=pipeline`);
    // Beside all places for files: the session has one input node.
    await page.locator('.node').nth(2).waitFor();
    const broken = 'time,speed\n2026-01-01T00:00:00Z,1\n2026-01-01T00:00:01Z,2,3,4\n';
    await dropFile(page, 'h1', { name: 'broken.csv', type: 'text/csv', text: broken });
    await page.locator('.node[data-state="Failed"]').waitFor();
    await page.locator('.node[data-state="Failed"]').click();
    await page
      .locator('.details-failed')
      .getByText(/line 3/i)
      .waitFor();
    await picture(page, 'session-failed');
  });

  test('reports what does not exist', async () => {
    await page.goto(`${api.url}/sessions/0197f3aa-0000-7000-8000-000000000001`);
    await page.getByRole('heading', { level: 1, name: 'Session not found' }).waitFor();
    await page.goto(`${api.url}/dashboards/999999`);
    await page.getByRole('heading', { level: 1, name: 'Dashboard not found' }).waitFor();
    await page.goto(`${api.url}/nothing/here`);
    await page.getByText('Page not found').waitFor();
  });

  test('asks for the password again when the sign-in has expired, and returns to the same page', async () => {
    await page.goto(api.url + dashboardPath);
    await page.locator('.chart-plot:not([data-points="0"])').nth(2).waitFor();
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await untilTrue(page, 'location.search.includes("from=")');
    const token = await tokenOf(api.url, username, password);
    await ask(api.url, 'POST', '/api/authorization/revoke', { token, json: { username } });
    // The dashboard also makes requests of its own: after one of them the button is gone, and there is nothing to click.
    await page.evaluate(`document.querySelector('button[title="Zoom in"]')?.click()`);
    await page.getByText('Your sign-in has expired.').waitFor();
    const wanted = pathOf(page);
    expect(wanted).toContain('from=');
    // A page that stays open looks for newer data again and again.
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'));`.repeat(50));
    const asked: string[] = [];
    page.on('request', (request) => asked.push(...(request.url().match(/dimensions\/\d+$/) ?? [])));
    await signIn(page, true);
    await page.getByText('Your sign-in has expired.').waitFor({ state: 'detached' });
    await page.locator('.chart canvas').first().waitFor();
    expect(pathOf(page)).toBe(wanted);
    expect(asked.length).toBeLessThan(10);
  });

  test('keeps a person signed in across tabs when asked to, until they sign out', async () => {
    const tab = await browser.newPage();
    await tab.goto(`${api.url}/sessions`);
    await tab.getByRole('heading', { name: 'Sessions' }).waitFor();
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await tab.getByText('You are signed out.').waitFor();
    await tab.reload();
    await tab.getByLabel('Username').waitFor();
    await tab.close();
  });

  test('loads nothing from other hosts and violates no rule of a strict content security policy', async () => {
    expect(browser.offences).toEqual([]);
  });

  test('is drawn in dark and on a small screen as well', async () => {
    const { browser: small, page: tab } = await openBrowser(api.url, { colorScheme: 'dark', width: 390 });
    try {
      await tab.goto(api.url + dashboardPath);
      await signIn(tab);
      await tab.locator('.chart canvas').first().waitFor();
      const tooWide = await tab.evaluate('document.documentElement.scrollWidth > innerWidth');
      expect(tooWide).toBe(false);
      await picture(tab, 'dashboard-small-dark');
      await tab.goto(`${api.url}${sessionPath}?tab=pipeline`);
      await tab.locator('.node').first().waitFor();
      await expect.poll(() => tab.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
      await picture(tab, 'session-small-dark');
      expect(small.offences).toEqual([]);
    } finally {
      await small.close();
    }
  });
});

/** 27 sessions, two pages; returns the id of the one that the story is about. */
async function makeSessions(url: string, token: string): Promise<string> {
  const templates = await ask(url, 'GET', '/api/v2/session/session_templates', { token });
  const template = templates.body.find(
    ({ name }: { name: string }) => name === 'system-tabular-dashboard-autodetect-next',
  );
  const project = await ask(url, 'POST', '/projects', { token, json: { Title: 'Weather stations' } });
  const make = async (Name: string) => {
    const json = { Name, ProjectId: project.body.id, SessionTemplateId: template.id };
    const answer = await ask(url, 'POST', '/session', { token, json });
    expect(answer.status).toBe(201);
    return answer.body.id as string;
  };
  for (let number = 1; number <= 26; number += 1) await make(`Exercise ${number}`);
  return await make('Weather of a year');
}

/** The temperature in a row of the file; row 1 is the first below the header, -1 the last. */
function rowValue(row: number): number {
  const lines = recording.trim().split(/\r?\n/);
  const column = lines[0]!.split(',').indexOf('temperature');
  return Number(lines.at(row)!.split(',')[column]);
}

/** Leaves just these channels ticked. */
async function choose(page: Page, names: string[]): Promise<void> {
  await page.getByRole('searchbox', { name: 'Search channels' }).fill('');
  const boxes = page.locator('.channel');
  for (let index = 0; index < (await boxes.count()); index += 1) {
    const box = boxes.nth(index);
    const name = (await box.locator('.channel-name').textContent()) ?? '';
    await box.locator('input').setChecked(names.includes(name));
  }
}

async function shownValue(page: Page): Promise<number> {
  return Number((await page.locator('.legend-value').first().textContent())?.replaceAll(',', ''));
}

/** Drags across the first chart, from one part of its width to another. */
async function drag(page: Page, from: number, to: number): Promise<void> {
  const box = (await page.locator('.chart .u-over').first().boundingBox())!;
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, y, { steps: 6 });
  await page.mouse.up();
}
