/** The jobs of the session page: what came of it, what failed, which files, which logs; the palette and its keys. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ask } from '../support/api.ts';
import { runnerStage, type StageGraph } from '../support/runner.ts';
import { accessibilityFaults, appearances, wear } from './support/axe.ts';
import {
  describeInBrowser,
  openBrowser,
  picture,
  type TestBrowser,
  tooWide,
  untilTrue,
} from './support/browser.ts';
import { chooseAction } from './support/open-page.ts';
import { maxScriptBytes, scriptBytes } from './support/script-bytes.ts';
import { signInAs } from './support/sign-in.ts';

const stage = await runnerStage();
const { api, people } = stage;
const manyNodes = 41;

describeInBrowser('the session page', () => {
  let browser: TestBrowser;
  let page: Page;
  let graph: StageGraph;
  let many: StageGraph;

  beforeAll(async () => {
    ({ browser, page } = await openBrowser(api.url));
    graph = await stage.chainOf(2, { maxAttempts: 1 });
    many = await stage.chainOf(manyNodes - 1);
    const named = await ask(api.url, 'PATCH', `/api/v2/sessions/${graph.sessionId}`, {
      token: people.adminToken,
      json: { name: 'Car 44, stint 2', metadata: { driver: 'Maria', tyre: { compound: 'soft' } } },
    });
    expect(named.status).toBe(200);
    await stage.upload(graph, 'input', 'time,speed\n0,1\n', {
      'x-platform-output-metadata': '{"fileName":"stint-2.csv"}',
    });
    const runner = stage.runner({ instanceId: 'top-speed:pit-wall-3:12:0123abcd' });
    const first = await runner.acquire(graph.template);
    const json = { 'content-type': 'application/json' };
    await runner.write(first.taskId, '{"topSpeed [km/h]":341.7,"laps":24,"driver":"Maria"}', json);
    await runner.end(first.taskId, 'complete', { outcome: 'completed' });
    const second = await runner.acquire(graph.template);
    await runner.end(second.taskId, 'fail', {
      category: 'validation',
      reason: 'There is no column velocity.',
    });
  });

  const address = (query = '', { sessionId } = graph) => `${api.url}/sessions/${sessionId}${query}`;
  const looks = async (name: string) => {
    const faults: string[] = [];
    for (const look of [...appearances, { name: 'phone-light', colorScheme: 'light', width: 390 } as const]) {
      await wear(page, look);
      await picture(page, `look-${name}-${look.name}`);
      const rules = look.name === 'light' ? 'every' : 'contrast';
      const found = [...(await tooWide(page)), ...(await accessibilityFaults(page, rules))];
      faults.push(...found.map((fault) => `${look.name}: ${fault}`));
    }
    await wear(page, appearances[0]!);
    expect(faults).toEqual([]);
  };

  test('the overview has key figures, metadata, files and who did what', async () => {
    await signInAs(page, address(), people.Developer);
    const figures = page.locator('.figures');
    await figures.getByText('Top speed').waitFor();
    await figures.getByText('341.7 km/h').waitFor();
    await figures.getByText('24').waitFor();
    await page.getByText('tyre.compound').waitFor();
    await page.getByRole('region', { name: 'Newest files' }).getByText('stint-2.csv').waitFor();
    await page
      .getByRole('list', { name: 'Activity' })
      .getByText(/You uploaded a file/)
      .waitFor();
    await looks('overview');
    expect(await scriptBytes(page)).toBeGreaterThan(20_000);
    expect(await scriptBytes(page)).toBeLessThan(maxScriptBytes.session);
  });

  test('the head says what failed in one sentence and leads to the node', async () => {
    const failure = page.locator('.session-failure');
    await failure.getByText('There is no column velocity.').waitFor();
    await page.getByText('2 of 3 done, 1 failed').waitFor();
    await failure.getByRole('link', { name: 'Fix and run again' }).click();
    await page.getByRole('region', { name: 'Node n2' }).waitFor();
    await untilTrue(page, `document.activeElement.matches('.panel h2')`);
    await page.locator('.details-failed').getByText('There is no column velocity').waitFor();
    await expect.poll(() => page.getByText('There is no column velocity').count()).toBe(1);
    await page.getByRole('button', { name: 'Copy the error' }).waitFor();
    await looks('pipeline');
  });

  test('all files are listed with size, time and who uploaded them, and can be previewed', async () => {
    await page.getByRole('tab', { name: 'Files' }).click();
    const row = page.getByRole('row', { name: /stint-2.csv/ });
    await row.getByText(/^by Developer/).waitFor();
    await page.getByRole('searchbox', { name: 'Search files' }).fill('stint');
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    await row
      .getByRole('button', { name: /^Download stint-2\.csv, input, .+ 20\d\d, \d\d:\d\d:\d\d \w+/ })
      .waitFor();
    await looks('files');
    await row.getByRole('button', { name: 'stint-2.csv', exact: true }).click();
    await page.getByRole('dialog').getByRole('columnheader', { name: 'speed' }).waitFor();
    await page.keyboard.press('Escape');
  });

  test('the preview of a file on a phone keeps its columns with their headings', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('button', { name: 'stint-2.csv', exact: true }).click();
    const dialog = page.getByRole('dialog');
    const heading = await dialog.getByRole('columnheader', { name: 'speed' }).boundingBox();
    const cell = await dialog.getByRole('cell', { name: '1', exact: true }).boundingBox();
    expect(heading!.width).toBeGreaterThan(20);
    expect(Math.round(cell!.x)).toBe(Math.round(heading!.x));
    expect(cell!.y).toBeGreaterThan(heading!.y);
    await page.keyboard.press('Escape');
    await wear(page, appearances[0]!);
  });

  test('the logs are those of the runs, by node', async () => {
    await page.getByRole('tab', { name: 'Logs' }).click();
    const nodes = page.getByRole('navigation', { name: 'Nodes with logs' });
    await nodes.getByRole('link', { name: /n2/ }).waitFor();
    await page.locator('.log-line').first().waitFor();
    await nodes.getByRole('link', { name: /n1/ }).click();
    await untilTrue(page, 'location.search.includes("tab=logs&node=")');
    await page.locator('.log-line').first().waitFor();
    await looks('logs');
  });

  test('a dragged file covers the page until it is dropped or leaves', async () => {
    const transfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['a'], 'a.csv', { type: 'text/csv' }));
      return transfer;
    })()`);
    await page.dispatchEvent('h1', 'dragenter', { dataTransfer: transfer });
    await page.getByText('Drop to upload').waitFor();
    await picture(page, 'session-drag');
    await page.dispatchEvent('h1', 'dragleave', { dataTransfer: transfer });
    await page.getByText('Drop to upload').waitFor({ state: 'detached' });
    await page.dispatchEvent('h1', 'dragenter', { dataTransfer: transfer });
    await page.dispatchEvent('h1', 'drop', { dataTransfer: transfer });
    await page.getByText('Drop to upload').waitFor({ state: 'detached' });
    await page
      .getByRole('list', { name: 'Uploads' })
      .getByText(/, stored/)
      .waitFor();
  });

  test('the pipeline that is opened by its address is small too', async () => {
    const tab = await browser.newPage();
    await signInAs(tab, address('?tab=pipeline'), people.Developer);
    await tab.reload();
    await tab.getByRole('region', { name: 'Node n2' }).waitFor();
    await tab.locator('.waterfall').first().waitFor();
    expect(await scriptBytes(tab)).toBeGreaterThan(20_000);
    expect(await scriptBytes(tab)).toBeLessThan(maxScriptBytes.session);
    await tab.close();
  });

  test('a session of 41 nodes is a list, which finds a node, and a graph that fits', async () => {
    await page.goto(address('?tab=pipeline', many));
    await page
      .locator('.node-list [data-node]')
      .nth(manyNodes - 1)
      .waitFor();
    await picture(page, 'pipeline-41-list');
    await page.locator('.node-list [data-node]').last().click();
    const chosen = page.getByRole('heading', { name: 'n40', exact: true });
    await expect.poll(async () => (await chosen.boundingBox())!.y).toBeGreaterThan(0);
    await page.getByRole('searchbox', { name: 'Search nodes' }).fill('n17');
    await page.getByText(`1 of ${manyNodes} nodes`).waitFor();
    await page.locator('.node-list [data-node]').first().click();
    await page.getByRole('region', { name: 'Node n17' }).waitFor();
    await page.getByRole('button', { name: 'Graph', exact: true }).click();
    await page
      .locator('.node')
      .nth(manyNodes - 1)
      .waitFor();
    await expect.poll(() => page.locator('.node:not(.node-dimmed)').count()).toBe(1);
    const width = async () => (await page.locator('.node').first().boundingBox())!.width;
    const fitting = await width();
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await expect.poll(width).toBeGreaterThan(fitting);
    const widerThanFrame = () =>
      page.locator('.graph').evaluate((graph) => graph.scrollWidth > graph.clientWidth);
    const zoomOut = page.getByRole('button', { name: 'Zoom out' });
    while (await widerThanFrame()) await zoomOut.click();
    await expect.poll(width).toBeLessThan(fitting + 1);
    const before = await width();
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await expect.poll(width).toBeGreaterThan(before);
    await page.getByRole('button', { name: 'Fit' }).click();
    await expect.poll(width).toBeCloseTo(fitting, 0);
    await expect.poll(widerThanFrame).toBe(false);
    // It is set in bands, whose nodes have room for letters of 11 px.
    await expect.poll(() => width()).toBeGreaterThan(80);
    await expect
      .poll(async () => (await page.locator('.node-name').first().boundingBox())!.height)
      .toBeGreaterThan(12);
    await page.getByRole('button', { name: /^n3 ?Not started/ }).waitFor();
    const buttons = (await page.locator('.graph-tools').boundingBox())!;
    await expect
      .poll(async () => (await page.locator('.node').first().boundingBox())!.y)
      .toBeGreaterThan(buttons.y + buttons.height);
    await picture(page, 'pipeline-41-whole');
    await looks('pipeline-41-bands');
    for (let times = 0; times < 8; times += 1) await page.getByRole('button', { name: 'Zoom in' }).click();
    await looks('pipeline-41');
  });

  test('the palette goes to a session, a page and a part of the page, by keys alone', async () => {
    await page.goto(address());
    await page.locator('.figures').waitFor();
    await page.keyboard.press('Control+k');
    const field = page.getByRole('dialog').getByRole('combobox');
    await field.waitFor();
    await untilTrue(page, `document.activeElement?.role === 'combobox'`);
    await looks('palette');
    await field.fill('show the logs');
    await page.getByRole('option', { name: /Show the logs/ }).waitFor();
    await page.keyboard.press('Enter');
    await untilTrue(page, 'location.search === "?tab=logs"');
    await page.keyboard.press('Control+k');
    await field.fill('dashboards');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Dashboards' }).waitFor();
    await page.keyboard.press('Control+k');
    await field.fill('stint 2');
    await page
      .getByRole('option', { name: /Car 44, stint 2/ })
      .first()
      .waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Car 44, stint 2' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await looks('shortcuts');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('tab', { name: 'Files' }).click();
    await page.getByRole('searchbox', { name: 'Search files' }).waitFor();
    await page.getByRole('tab', { name: 'Files' }).focus();
    await page.keyboard.press('/');
    await page.keyboard.type('stint');
    await expect.poll(() => page.getByRole('searchbox', { name: 'Search files' }).inputValue()).toBe('stint');
  });

  test('colours and time zone are chosen in the account and kept in the browser', async () => {
    await page.getByRole('button', { name: /^Account:/ }).click();
    await page.getByLabel('Colours').selectOption({ label: 'Dark' });
    const theme = () => page.evaluate('document.documentElement.dataset.theme');
    await expect.poll(() => theme()).toBe('dark');
    await page.getByLabel('Time zone').selectOption({ label: 'UTC' });
    await page.keyboard.press('Escape');
    await page.reload();
    await page.getByRole('tab', { name: 'Files' }).waitFor();
    await expect.poll(() => theme()).toBe('dark');
    await page.locator('time[title$="UTC"]').first().waitFor();
    await page.getByRole('button', { name: /^Account:/ }).click();
    await looks('account');
    await page.getByLabel('Colours').selectOption({ label: 'Like the system' });
    await expect.poll(() => theme()).toBe('light');
    await page.keyboard.press('Escape');
  });

  test('freezing and deleting say beforehand what they mean', async () => {
    await chooseAction(page, 'Freeze');
    await page.getByRole('dialog').getByText('Nothing is lost').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    const tab = await browser.newPage();
    await signInAs(tab, address(), people.Administrator);
    await tab.getByRole('tab', { name: 'Overview' }).waitFor();
    await chooseAction(tab, 'Delete');
    await tab
      .getByRole('dialog')
      .getByText(/All files \(\d+ B\) and the logs of all runs/)
      .waitFor();
    await tab.keyboard.press('Escape');
    await tab.close();
    expect(browser.offences).toEqual([]);
  });
});
