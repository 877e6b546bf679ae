/** The session page by live events, with runners that speak to the platform as outside programs do. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ask } from '../support/api.ts';
import { tcpGate } from '../support/network/tcp-gate.ts';
import { runnerStage, type StageGraph, type TestRunner } from '../support/runner.ts';
import { describeInBrowser, dropFile, openBrowser, picture, type TestBrowser } from './support/browser.ts';
import { chooseAction } from './support/open-page.ts';
import { signInAs } from './support/sign-in.ts';

const stage = await runnerStage();
const { api, people } = stage;
const site = await tcpGate(api.url);

describeInBrowser('the session page', () => {
  let browser: TestBrowser;
  let page: Page;
  let graph: StageGraph;
  let runner: TestRunner;
  const asked: string[] = [];

  beforeAll(async () => {
    ({ browser, page } = await openBrowser(site.url));
    page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
    graph = await stage.chainOf(2, { maxAttempts: 2 });
    runner = stage.runner({ instanceId: 'laboratory-3' });
  });

  const node = (name: string) => page.locator(`[data-node="${graph.nodes[name]}"]`);
  const stands = (name: string, state: string) =>
    page.locator(`[data-node="${graph.nodes[name]}"][data-state="${state}"]`).waitFor();

  test('follows a node from upload to its end without asking for it', async () => {
    await signInAs(page, `${site.url}/sessions/${graph.sessionId}?tab=pipeline`, people.Developer);
    await stands('n1', 'NeverBegan');
    await node('n1').click();
    await page.getByText(/Waits for output of its parent/).waitFor();
    await stage.upload(graph, 'input', '1');
    await stands('n1', 'Pending');
    await page.getByText(/Queued since/).waitFor();
    const task = await runner.acquire(graph.template);
    await stands('n1', 'Processing');
    await page.getByText(/Running on laboratory-3 since .*, attempt 1 of 2/).waitFor();
    await page.getByText('1 of 2 running on laboratory-3').waitFor();
    await runner.write(task.taskId, 'lap,time\n1,92.4\n', { 'content-type': 'text/csv' });
    await runner.end(task.taskId, 'complete', { outcome: 'completed' });
    await stands('n1', 'Succeeded');
    await page.getByRole('button', { name: /^Download/ }).waitFor();
    await picture(page, 'session-live');
    expect(asked.filter((line) => line.includes('/node-instances'))).toEqual([]);
    expect(asked.filter((line) => line.endsWith('/events')).length).toBe(1);
  });

  test('shows the lineage of an output, and links to the parent node', async () => {
    await page.getByRole('button', { name: /^Lineage of / }).click();
    await page.getByText('a run for new input, attempt 1 of 2').waitFor();
    const panel = page.getByRole('region', { name: 'Node n1' });
    await picture(page, 'session-lineage');
    await panel.getByRole('button', { name: 'input', exact: true }).click();
    await page.getByRole('region', { name: 'Node input' }).waitFor();
  });

  test('shows the attempts of a failed node with their reasons and retries it', async () => {
    const task = await runner.acquire(graph.template);
    await runner.end(task.taskId, 'fail', { category: 'validation', reason: 'Row 7 is no lap.' });
    await stands('n2', 'Failed');
    await node('n2').click();
    await page.locator('.details-failed').getByText('Row 7 is no lap').waitFor();
    await picture(page, 'session-attempts');
    await page.getByRole('button', { name: 'Retry', exact: true }).click();
    await stands('n2', 'Pending');
    const again = await runner.acquire(graph.template);
    await runner.end(again.taskId, 'fail', { category: 'validation', reason: 'Row 8 is no lap.' });
    await stands('n2', 'Failed');
    // The error that counts stands once, those of earlier attempts at their attempts.
    const attempts = page.getByRole('list', { name: 'Attempts of the last run' });
    await attempts.getByText('validation: Row 7 is no lap.').waitFor();
    await expect.poll(() => page.getByText('Row 8 is no lap').count()).toBe(1);
    await page.getByRole('button', { name: 'Retry all failed' }).click();
    await page.getByText('1 run retried.').waitFor();
    await stands('n2', 'Pending');
  });

  test('the overview says what a session waits for, and leads to the node', async () => {
    await page.getByRole('tab', { name: 'Overview' }).click();
    await page.getByText('2 of 3 done, 1 waiting').waitFor();
    const open = page.getByRole('region', { name: 'Under way' });
    await open.getByText(/Queued since/).waitFor();
    await picture(page, 'session-under-way');
    await open.getByRole('link', { name: 'n2', exact: true }).click();
    await page.getByRole('region', { name: 'Node n2' }).waitFor();
  });

  test('cancels an open run after asking, and reprocesses', async () => {
    await page.getByRole('button', { name: 'Cancel run' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Keep running' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Cancel run' }).click();
    await picture(page, 'session-cancel');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click();
    await stands('n2', 'Failed');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // As for a node that takes all inputs, after retention.
    const without = 'It goes without the inputs that retention has removed: 2.';
    await page.route('**/reprocess', async (route) => {
      const answer = await route.fetch();
      const body = await answer.json();
      await route.fulfill({ response: answer, json: { ...body, message: `${body.message} ${without}` } });
    });
    await page.getByRole('button', { name: 'Reprocess' }).click();
    await stands('n2', 'Pending');
    await page.getByText(without, { exact: true }).waitFor();
    await page.unroute('**/reprocess');
    const task = await runner.acquire(graph.template);
    await runner.write(task.taskId, '92.4');
    await runner.end(task.taskId, 'complete', { outcome: 'completed' });
    await stands('n2', 'Succeeded');
  });

  test('freezes and unfreezes, and offers nothing that a frozen session refuses', async () => {
    await chooseAction(page, 'Priority');
    await page.getByRole('dialog').getByRole('spinbutton', { name: 'Priority' }).fill('3');
    await picture(page, 'session-priority');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Priority 3.').waitFor();
    await chooseAction(page, 'Freeze');
    await page.getByRole('button', { name: 'Freeze the session' }).click();
    await page.getByText('Frozen', { exact: true }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Reprocess' }).count()).toBe(0);
    await node('input').click();
    await page.getByText('The session is frozen and accepts no uploads.').waitFor();
    await dropFile(page, '.graph', { name: 'late.csv', type: 'text/csv', text: 'a,b' });
    await page.locator('.notice', { hasText: 'The session is frozen and accepts no uploads.' }).waitFor();
    await chooseAction(page, 'Unfreeze');
    await page.getByText('Frozen', { exact: true }).waitFor({ state: 'detached' });
  });

  test('changes the priority that it has by now', async () => {
    const path = `/api/v2/sessions/${graph.sessionId}`;
    const sent = await ask(api.url, 'PATCH', path, { token: people.adminToken, json: { priority: -2 } });
    expect(sent.status).toBeLessThan(300);
    await chooseAction(page, 'Priority');
    await expect
      .poll(() => page.getByRole('dialog').getByRole('spinbutton', { name: 'Priority' }).inputValue())
      .toBe('-2');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  test('shows the name and the priority that somebody else gave the session', async () => {
    const path = `/api/v2/sessions/${graph.sessionId}`;
    const json = { priority: 4, name: 'Renamed' };
    const sent = await ask(api.url, 'PATCH', path, { token: people.adminToken, json });
    expect(sent.status).toBeLessThan(300);
    await page.getByRole('heading', { name: 'Renamed' }).waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByTitle('Now 4').waitFor();
    await page.keyboard.press('Escape');
  });

  test('leaves a session frozen that somebody else froze while the question stood there', async () => {
    await chooseAction(page, 'Freeze');
    const freeze = `/api/v2/sessions/${graph.sessionId}/freeze`;
    const sent = await ask(api.url, 'POST', freeze, { token: people.adminToken });
    expect(sent.status).toBeLessThan(300);
    await page.getByText('Frozen', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Freeze the session' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const path = `/api/v2/sessions/${graph.sessionId}`;
    const { body } = await ask(api.url, 'GET', path, { token: people.adminToken });
    expect(body.frozen).toBe(true);
    await chooseAction(page, 'Unfreeze');
    await page.getByText('Frozen', { exact: true }).waitFor({ state: 'detached' });
  });

  test('catches up with events missed while the connection was broken', async () => {
    site.shut();
    await page.getByText('connection lost, reconnecting').waitFor();
    await stage.upload(graph, 'input', '2');
    site.open();
    await page.getByText('live', { exact: true }).waitFor();
    await stands('n1', 'Pending');
  });

  test('says at once that the machine has no network, and goes on when it has', async () => {
    await page.context().setOffline(true);
    await page.getByText('connection lost, reconnecting').waitFor({ timeout: 2000 });
    await page.waitForTimeout(4000);
    await page.context().setOffline(false);
    await page.getByText('live', { exact: true }).waitFor({ timeout: 2000 });
  });

  test('shows a Trainee the events, without controls that they may not use', async () => {
    const tab = await browser.newPage();
    await signInAs(tab, `${site.url}/sessions/${graph.sessionId}?node=${graph.nodes.n1}`, people.Trainee);
    await tab.getByText(/Queued since/).waitFor();
    for (const name of ['More actions', 'Reprocess', 'Cancel run', 'Retry']) {
      await expect
        .poll(() => tab.getByRole('button', { name, exact: true }).count(), { message: name })
        .toBe(0);
    }
    await tab.close();
  });

  test('reports the deletion of the open session', async () => {
    await ask(api.url, 'DELETE', `/api/v2/sessions/${graph.sessionId}`, { token: people.adminToken });
    await page.getByText('This session has been deleted').waitFor();
    expect(browser.offences).toEqual([]);
  });
});
