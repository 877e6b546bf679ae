/** Inputs that a runner rejected, in a real browser: the count at the node, the list, and another run with chosen ones. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ensurePlatformDataSource } from '../../store/objects/data-sources.ts';
import { runnerStage, type StageGraph, type TestRunner } from '../support/runner.ts';
import { ship } from '../support/templates.ts';
import { accessibilityFaults, appearances, wear } from './support/axe.ts';
import { describeInBrowser, openBrowser, picture, type TestBrowser, tooWide } from './support/browser.ts';
import { signInAs } from './support/sign-in.ts';

const stage = await runnerStage();
const { api, people } = stage;
const files = Array.from({ length: 27 }, (_, at) => `lap-${at + 1}.csv`);

describeInBrowser('rejected inputs', () => {
  let browser: TestBrowser;
  let page: Page;
  let runner: TestRunner;
  let graph: StageGraph;

  beforeAll(async () => {
    await ship(stage.database);
    const { objects, database } = api.composed.services;
    await ensurePlatformDataSource(database, objects.platformAccess);
    graph = await stage.chainOf(1, { incremental: true });
    for (const file of files)
      await stage.upload(graph, 'input', 'time\n', {
        'x-platform-output-identifier': file,
        // As the console sends it, whose identifiers are random.
        'x-platform-output-metadata': JSON.stringify(
          file === 'lap-20.csv' ? { fileName: 'stint 20.csv' } : {},
        ),
      });
    runner = stage.runner();
    const task = await runner.acquire(graph.template);
    const { body } = await runner.call('GET', `/tasks/${task.taskId}/inputs?mode=since-watermark`);
    for (const { outputId, outputIdentifier } of body.inputs) {
      const reason = `${outputIdentifier}: there is no column speed`;
      await runner.call('PUT', `/tasks/${task.taskId}/rejections/${outputId}`, {
        category: 'validation',
        reason,
      });
    }
    expect((await runner.end(task.taskId, 'complete', { outcome: 'no-output' })).status).toBe(200);
    ({ browser, page } = await openBrowser(api.url));
  });

  const part = () => page.getByRole('region', { name: 'Rejected inputs' });

  test('are counted at the node and listed with reason, run and time', async () => {
    await signInAs(page, `${api.url}/sessions/${graph.sessionId}?node=${graph.nodes.n1}`, people.Developer);
    await part().getByText('lap-27.csv: there is no column speed').waitFor();
    await expect
      .poll(() => page.locator(`[data-node="${graph.nodes.n1}"]`).innerText())
      .toContain('27 rejected');
    await part().getByLabel('Choose stint 20.csv').waitFor();
    await expect.poll(() => part().getByRole('listitem').count()).toBe(25);
    await expect
      .poll(() => part().getByRole('link', { name: 'Run' }).first().getAttribute('href'))
      .toMatch(/^\/runs\//);
    const faults: string[] = [];
    for (const look of appearances) {
      await wear(page, look);
      await part().getByRole('checkbox').nth(3).scrollIntoViewIfNeeded();
      await picture(page, `look-rejected-inputs-${look.name}`);
      const rules = look.name === 'light' ? 'every' : 'contrast';
      faults.push(...(await tooWide(page)), ...(await accessibilityFaults(page, rules)));
    }
    await wear(page, appearances[0]!);
    expect(faults).toEqual([]);
  });

  test('are said on the first page of the session, which is done and may have made nothing', async () => {
    await page.getByRole('tab', { name: 'Overview' }).click();
    await page.getByText('n1 rejected 27 inputs.').waitFor();
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    await page.getByRole('link', { name: 'Show the reasons' }).click();
    await part().getByText('lap-27.csv: there is no column speed').waitFor();
  });

  test('are run again as chosen, across pages, and the node gets just these', async () => {
    await part().getByLabel('Choose lap-27.csv').check();
    await part().getByRole('button', { name: 'Older' }).click();
    await part().getByLabel('Choose lap-1.csv').check();
    await part().getByRole('button', { name: 'Run again with these 2' }).click();
    await part().getByText('The node runs again with 2 inputs.').waitFor();
    const task = await runner.acquire(graph.template, 10);
    const { body } = await runner.call('GET', `/tasks/${task.taskId}/inputs?mode=since-watermark`);
    expect(body.inputs.map((one: { outputIdentifier: string }) => one.outputIdentifier)).toEqual([
      'lap-1.csv',
      'lap-27.csv',
    ]);
    const last = body.inputs.at(-1).outputId;
    await runner.write(task.taskId, '{}');
    await runner.call('PUT', `/tasks/${task.taskId}/watermark`, { inputId: last });
    await runner.end(task.taskId, 'complete', { outcome: 'completed' });
    await page.locator(`[data-node="${graph.nodes.n1}"]`).getByText('25 rejected').waitFor();
    await part().getByText('lap-26.csv: there is no column speed').waitFor();
    await expect.poll(() => part().getByText('lap-27.csv').count()).toBe(0);
  });

  test('show the reason for which a later run rejects them, and do not say that the node runs when it has run', async () => {
    await part().getByLabel('Choose lap-26.csv').check();
    await part().getByRole('button', { name: 'Run again with these 1' }).click();
    await part().getByText('The node runs again with 1 input.').waitFor();
    const task = await runner.acquire(graph.template, 10);
    await page.locator(`[data-node="${graph.nodes.n1}"][data-state="Processing"]`).waitFor();
    const { body } = await runner.call('GET', `/tasks/${task.taskId}/inputs?mode=since-watermark`);
    const rejection = `/tasks/${task.taskId}/rejections/${body.inputs[0].outputId}`;
    await runner.call('PUT', rejection, { category: 'validation', reason: 'lap-26.csv: there is no time' });
    await part().getByText('lap-26.csv: there is no time').waitFor();
    await runner.end(task.taskId, 'complete', { outcome: 'no-output' });
    await part().getByText('The node runs again').waitFor({ state: 'detached' });
  });

  test('are shown to an Instructor without the way to run them again', async () => {
    const other = await browser.newPage();
    await signInAs(other, `${api.url}/sessions/${graph.sessionId}?node=${graph.nodes.n1}`, people.Instructor);
    const list = other.getByRole('region', { name: 'Rejected inputs' });
    await list.getByText('lap-26.csv: there is no time').waitFor();
    await expect.poll(() => list.getByRole('checkbox').count()).toBe(0);
    await expect.poll(() => list.getByRole('button', { name: /Run again/ }).count()).toBe(0);
  });
});
