/** The pages of runs and of their logs in a real browser, with runners that speak to the platform as outside programs do. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ask } from '../support/api.ts';
import { runnerStage, type StageGraph, type TestRunner } from '../support/runner.ts';
import { faultsInAllAppearances } from './support/all-appearances.ts';
import { describeInBrowser, openBrowser, picture, type TestBrowser, untilTrue } from './support/browser.ts';
import { signInAs } from './support/sign-in.ts';

const stage = await runnerStage();
const { api, people } = stage;

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields?: object;
}

const line = (message: string, level = 'info', fields?: object): Line => ({
  level,
  message,
  ...(fields === undefined ? {} : { fields }),
});

/** As a kit sends them: to 500 lines a call. */
async function log(runner: TestRunner, taskId: string, first: number, lines: readonly Line[]) {
  for (let from = 0; from < lines.length; from += 500) {
    const entries = lines
      .slice(from, from + 500)
      .map((entry) => ({ at: new Date().toISOString(), ...entry }));
    const answer = await runner.call('POST', `/tasks/${taskId}/logs`, {
      sequence: first + from / 500,
      entries,
    });
    expect(answer.status).toBe(200);
  }
}

describeInBrowser('runs in the console', () => {
  let browser: TestBrowser;
  let page: Page;
  let graph: StageGraph;
  let runner: TestRunner;
  // biome-ignore lint/suspicious/noExplicitAny: a claim's answer.
  let task: any;

  beforeAll(async () => {
    ({ browser, page } = await openBrowser(api.url));
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    graph = await stage.chainOf(1, { maxAttempts: 2, leaseSeconds: 900 });
    runner = stage.runner({ instanceId: 'pit-wall-3' });
    await stage.upload(graph, 'input', '1', { 'x-platform-output-identifier': 'lap-7.csv' });
    task = await runner.acquire(graph.template);
    await log(runner, task.taskId, 1, [line('begins', 'debug'), line('lap read', 'info', { lap: 7 })]);
  });

  const logs = () => page.getByRole('region', { name: 'Logs' });
  const lines = () => page.getByRole('region', { name: 'Lines of the log' });
  const looks = async (name: string) => expect(await faultsInAllAppearances(page, name)).toEqual([]);

  test('a run shows who holds it, how far it is, and its log as it comes', async () => {
    await runner.call('PUT', `/tasks/${task.taskId}/heartbeat`, {
      phase: 'fitting',
      message: 'iteration 16',
      progress: { done: 16, total: 40, unit: 'iterations' },
    });
    await signInAs(page, `${api.url}/runs/${task.runId}`, people.Developer);
    await page.getByRole('heading', { name: /n1\s*attempt 1 of 2/ }).waitFor();
    await page.getByText(/^on \S/).waitFor();
    await page.getByText(/^running for \d.* 16 of 40 iterations, 40 %.*fitting: iteration 16/).waitFor();
    await lines().getByText('lap read').waitFor();
    await lines().getByText('{"lap":7}').waitFor();
    await page.getByRole('region', { name: 'Inputs' }).getByText('lap-7.csv').waitFor();
    await page.getByRole('region', { name: 'Configuration' }).getByText('revision 1').waitFor();
    // What a screen reader reads aloud by itself has no seconds, and no number of lines.
    expect((await page.locator('main').getByRole('status').allInnerTexts()).join(' ')).toMatch(
      /^Running\D*$/,
    );
    await log(runner, task.taskId, 2, [line('comes later', 'warning')]);
    await lines().getByText('comes later').waitFor();
    await looks('run-held');
  });

  test('a log is searched and filtered, by an address that others open, and copied', async () => {
    await logs().getByLabel('Search in the log').fill('LAP');
    await lines().locator('mark', { hasText: 'lap' }).first().waitFor();
    await lines().getByText('begins').waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('?search=LAP');
    await logs().getByLabel('Search in the log').fill('');
    await logs().getByLabel('Level').selectOption('warning');
    await lines().getByText('lap read').waitFor({ state: 'detached' });
    await lines().getByText('comes later').waitFor();
    await untilTrue(page, 'location.search === "?level=warning"');
    await page.reload();
    await lines().getByText('comes later').waitFor();
    await expect.poll(() => lines().locator('.log-line').count()).toBe(1);
    await logs().getByRole('button', { name: 'Copy' }).click();
    await logs().getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/ warning attempt 1: comes later$/);
    await logs().getByRole('button', { name: 'Copy', exact: true }).waitFor();
    await logs().getByLabel('Level').selectOption('debug');
  });

  test('a log has the times of the chosen zone', async () => {
    const chosen = (zone: string) =>
      page.evaluate(`localStorage.setItem('sdp.preferences', '{"zone":"${zone}"}')`);
    await chosen('utc');
    await page.reload();
    const at = lines().locator('.log-at').first();
    const utc = (await at.getAttribute('datetime'))!.slice(11, 23);
    await expect.poll(() => at.textContent()).toBe(utc);
    await chosen('machine');
    await page.reload();
    await at.waitFor();
    await expect.poll(() => at.textContent()).not.toBe(utc);
  });

  test('a failed attempt opens at its first error, and one that retries cannot mend offers another way first', async () => {
    await log(
      runner,
      task.taskId,
      3,
      Array.from({ length: 3000 }, (_, index) =>
        index === 1500 ? line('here it breaks', 'error') : line(`row ${index} of the file`),
      ),
    );
    await runner.end(task.taskId, 'fail', { category: 'validation', reason: 'Row 1500 is no lap.' });
    await page.getByText('Failed', { exact: true }).first().waitFor();
    await page.goto(`${api.url}/runs/${task.runId}`);
    await lines().getByText('here it breaks').waitFor();
    const box = (await lines().getByText('here it breaks').boundingBox())!;
    const frame = (await lines().boundingBox())!;
    expect([box.y > frame.y, box.y < frame.y + frame.height]).toEqual([true, true]);
    await expect.poll(() => lines().locator('.log-line').count()).toBeLessThan(700);
    const actions = page.locator('.run-actions .button');
    await expect
      .poll(async () => (await actions.allTextContents()).map((text) => text.trim()))
      .toEqual(['Fix and run again', 'Retry']);
    await expect
      .poll(() => page.locator('.run-actions .button-primary').allTextContents())
      .toEqual(['Fix and run again']);
    await looks('run-failed');
    await page.getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByRole('region', { name: 'Actions on the run' }).getByText('Retried at attempt').waitFor();
    await page.getByRole('list', { name: 'Attempts' }).getByText('Attempt 2').waitFor();
    await logs().getByLabel('Attempt').selectOption('all');
    await lines()
      .getByText(/^Retried by Developer No \d+\.$/)
      .waitFor();
  });

  test('a log of 16 MB is read to its end with few lines in the document, and the page answers meanwhile', async () => {
    const held = await runner.acquire(graph.template);
    const text = 'x'.repeat(900);
    for (let call = 0; call < 75; call += 1) {
      const some = Array.from({ length: 240 }, (_, index) => line(`${call}-${index} ${text}`));
      await log(runner, held.taskId, call + 1, some);
    }
    await runner.end(held.taskId, 'complete', { outcome: 'no-output' });
    await page.goto(`${api.url}/runs/${held.runId}`);
    await page.evaluate(`(() => {
      window.maxMs = 0;
      let last = performance.now();
      const tick = () => { const now = performance.now(); window.maxMs = Math.max(window.maxMs, now - last); last = now; setTimeout(tick, 0); };
      tick();
    })()`);
    await page.getByRole('button', { name: 'Wrap lines' }).click();
    await page.locator('.log:not(.log-wrapped)').waitFor();
    await page.getByText(/^1[78],\d+ lines/).waitFor();
    await page.getByRole('button', { name: 'To the end' }).click();
    await lines().getByText('Attempt 2 ended').waitFor();
    await expect.poll(() => lines().locator('.log-line').count()).toBeLessThan(700);
    const longest = (await page.evaluate('window.maxMs')) as number;
    console.info(`longest pause of the page: ${Math.round(longest)} ms`);
    await picture(page, 'run-log-long');
  });

  test('runs are found by filters in the address, keep their places while they change, and are retried together', async () => {
    const other = await stage.chainOf(1, { maxAttempts: 1, leaseSeconds: 900 });
    const failing = async () => {
      await stage.upload(other, 'input', '1');
      const next = await runner.acquire(other.template);
      const reason = `The solver diverged. ${'Its step became too small. '.repeat(20)}`;
      await runner.end(next.taskId, 'fail', { category: 'error', reason });
    };
    await failing();
    await page.goto(`${api.url}/runs?session=${other.sessionId}`);
    const rows = page.locator('.run-table tbody tr');
    await rows.getByText('The solver diverged.').waitFor();
    // The reason is cut, and not the name of the node by a part of a pixel.
    const cut = `(() => {
      const name = document.querySelector('.run-table .row-link');
      const text = document.createRange();
      text.selectNodeContents(name);
      return text.getBoundingClientRect().width - name.getBoundingClientRect().width;
    })()`;
    expect(await page.evaluate(cut)).toBeLessThanOrEqual(0.001);
    await page.getByText('1 run', { exact: true }).waitFor();
    await failing();
    // The second run replaced the first, whose row says so; the newer one is shown on request.
    await page.getByRole('button', { name: 'Show 1 newer run' }).waitFor();
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole('button', { name: 'Show 1 newer run' }).click();
    await untilTrue(page, 'document.querySelectorAll(".run-table tbody tr").length === 2');
    await page.getByRole('button', { name: 'Failed', exact: true }).click();
    await untilTrue(page, 'location.search.startsWith("?state=failed&session=")');
    await looks('runs');
    await page.getByLabel('Choose all that can be retried').check();
    await page.getByText('1 run chosen').waitFor();
    await page.locator('.runs-chosen').getByRole('button', { name: 'Retry' }).click();
    await page.getByText('1 run retried.').waitFor();
    // It waits by now: it is not retried once more by its row, which says so without a mouse, too.
    const gone = page.locator('.run-gone');
    await gone.getByText('no longer in this list').waitFor();
    expect(await gone.getByRole('checkbox').isDisabled()).toBe(true);
    await looks('runs-gone');
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await rows.getByText('Queued').waitFor();
    const again = await runner.acquire(other.template);
    await rows.getByText('Running').waitFor();
    await rows
      .getByRole('link', { name: /^n1 in .+, \d+ \w+ 20\d\d, \d\d:\d\d$/ })
      .first()
      .click();
    await page.getByRole('heading', { name: /n1\s*attempt 2 of 2/ }).waitFor();
    await page.getByRole('button', { name: 'Cancel run' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click();
    await page.getByText('The run is being cancelled.').waitFor();
    await runner.end(again.taskId, 'release');
    await page.getByText('Cancelled', { exact: true }).waitFor();
    await page.goto(`${api.url}/sessions/${other.sessionId}?tab=pipeline`);
    const node = page.getByRole('list', { name: 'Runs of each node' }).getByRole('listitem');
    await node.getByText(/Cancelled, attempt 2 of 2/).waitFor();
    await node.getByRole('link', { name: '1 earlier run' }).waitFor();
    await looks('session-runs');
    await page.getByRole('region', { name: 'Node n1' }).getByRole('link', { name: 'Logs' }).click();
    await lines().getByText('Claimed by pit-wall-3').first().waitFor();
  });

  test('runs are found by a part of the name of their node template', async () => {
    await page.goto(`${api.url}/runs`);
    const rows = page.locator('.run-table tbody tr');
    await rows.nth(1).waitFor();
    const field = page.getByRole('combobox', { name: 'Node template' });
    await field.fill(graph.template.slice(1).toUpperCase());
    await untilTrue(page, `location.search === ${JSON.stringify(`?template=${graph.template}`)}`);
    await rows.nth(1).waitFor({ state: 'detached' });
    await rows.first().waitFor();
    await page.keyboard.press('Tab');
    await expect.poll(() => field.inputValue()).toBe(graph.template);
    await page.goBack();
    await rows.nth(1).waitFor();
    await expect.poll(() => field.inputValue()).toBe('');
  });

  test('what is over becomes older while its page stays open', async () => {
    const tab = await browser.newPage();
    await tab.clock.install();
    await signInAs(tab, `${api.url}/runs/${task.runId}`, people.Developer);
    const age = tab.locator('.page-run time').first();
    await age.waitFor();
    await tab.clock.fastForward('03:00:00');
    await expect.poll(() => age.textContent()).toBe('3 h ago');
    expect(await age.getAttribute('title')).toMatch(/\d\d:\d\d:\d\d [A-Z]/);
    await tab.close();
  });

  test('a Trainee has no page of runs', async () => {
    const tab = await browser.newPage();
    await signInAs(tab, `${api.url}/runs/${task.runId}`, people.Trainee);
    await tab.getByText('Your role has no access to this page').waitFor();
    await tab.close();
    expect((await ask(api.url, 'GET', `/api/v2/node-runs/${task.runId}`, people.Trainee)).status).toBe(403);
    expect(browser.offences).toEqual([]);
  });
});
