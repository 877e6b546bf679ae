/** A session of thousands of files in the console: its pages read what they show. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { publishRows } from '../../api/node-instances/support.ts';
import { runnerStage, type StageGraph } from '../../support/runner.ts';
import { describeInBrowser, openBrowser, picture, type TestBrowser } from '../support/browser.ts';
import { signInAs } from '../support/sign-in.ts';

const stage = await runnerStage();
const { api, people } = stage;
const count = 1_900;

describeInBrowser('a session of many files', () => {
  let browser: TestBrowser;
  let page: Page;
  let graph: StageGraph;
  const readBytes: number[] = [];

  beforeAll(async () => {
    graph = await stage.chainOf(1);
    await stage.upload(graph, 'input', 'time,speed\n0,1\n', {
      'x-platform-output-metadata': '{"fileName":"First lap.csv"}',
    });
    const { sessionId, nodes } = graph;
    await publishRows(stage.database, { nodeId: nodes.n1!, sessionId, count });
    ({ browser, page } = await openBrowser(api.url));
    page.on('response', async (response) => {
      if (response.url().includes('/outputs?')) readBytes.push((await response.body()).length);
    });
    await signInAs(page, `${api.url}/sessions/${graph.sessionId}`, people.Developer);
  });

  test('says how many there are, and shows the newest', async () => {
    const newest = page.getByRole('region', { name: 'Newest files' });
    await newest.getByText(`All ${(count + 1).toLocaleString('en')} files`).waitFor();
    await newest.getByText('many-1900').waitFor();
    await picture(page, 'many-outputs-overview');
  });

  test('lists a hundred, more on demand, and finds any by its name', async () => {
    const rows = page.locator('tbody tr');
    await page.getByRole('tab', { name: 'Files' }).click();
    await expect.poll(() => rows.count()).toBe(100);
    await page.getByRole('button', { name: 'Show 1,000 more files' }).click();
    await expect.poll(() => rows.count()).toBe(1_100);
    await page.getByRole('searchbox', { name: 'Search files' }).fill('FIRST lap');
    await page.getByRole('row', { name: /First lap.csv/ }).waitFor();
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole('searchbox', { name: 'Search files' }).fill('no such file');
    await page.getByText('No file has this name').waitFor();
    await page.getByRole('searchbox', { name: 'Search files' }).fill('');
    await page.getByRole('button', { name: 'Show all 1,901 files' }).click();
    await expect.poll(() => rows.count()).toBe(1_901);
  });

  test('shows the newest outputs of a node', async () => {
    await page.goto(`${api.url}/sessions/${graph.sessionId}?tab=pipeline&node=${graph.nodes.n1}`);
    const outputs = page.locator('.output-list > li');
    await expect.poll(() => outputs.count()).toBe(20);
    await outputs.first().getByText('many-1900').waitFor();
    await page.getByRole('button', { name: 'Show 1,000 more outputs' }).click();
    await expect.poll(() => outputs.count()).toBe(1_020);
    // A page of at most 500.
    expect(Math.max(...readBytes)).toBeLessThan(500_000);
    expect(browser.offences).toEqual([]);
  });
});
