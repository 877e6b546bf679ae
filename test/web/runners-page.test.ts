/** The page of runners, in a real browser: what is made there works on the platform itself. */
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { tokenStage } from '../api/runner-tokens/support.ts';
import { ask } from '../support/api.ts';
import { runnerStage, type StageGraph } from '../support/runner.ts';
import { adminPage } from './support/admin-page.ts';
import { accessibilityFaults } from './support/axe.ts';
import { describeInBrowser, picture, untilTrue } from './support/browser.ts';

const stage = await runnerStage();
const { api, people } = stage;

describeInBrowser('the page of runners', () => {
  const { start, open, dialog, click, closed, copied } = adminPage(stage);
  let page: Page;
  let graph: StageGraph;

  beforeAll(async () => {
    ({ page } = await start('/runners'));
    graph = await stage.chainOf(1);
  });

  test('a runner token is created, shown once, works, and is refused when it is revoked', async () => {
    await page.getByText('No runners yet').waitFor();
    await click('New runner token');
    await dialog().getByLabel('Runner types').fill('nobody-knows-it');
    await dialog().getByRole('button', { name: 'Create token' }).click();
    await dialog().getByRole('alert').waitFor();
    await picture(page, 'runner-token-refused');
    await dialog().getByLabel('Label').fill('Laboratory 3');
    await dialog().getByLabel('Runner types').fill('outside-runner');
    await dialog().getByRole('button', { name: 'Create token' }).click();
    await dialog().getByText('It is shown only once').waitFor();
    await picture(page, 'runner-token-made');
    // Keys that close other windows leave this one, whose text is shown nowhere else.
    for (let times = 0; times < 3; times += 1) await page.keyboard.press('Escape');
    const token = await copied();
    expect(token).toMatch(/^hrt_/);
    await untilTrue(page, 'document.activeElement.textContent === "New runner token"');
    expect(await page.content()).not.toContain(token);
    const runner = stage.runner({ token, instanceId: 'laboratory-3' });
    expect((await runner.claim(graph.template)).status).toBe(204);
    await click('Revoke Laboratory 3');
    await dialog().getByRole('button', { name: 'Revoke' }).click();
    await closed();
    await page.getByRole('cell', { name: 'revoked' }).waitFor();
    expect((await runner.claim(graph.template)).status).toBe(401);
  });

  test('a runner is shown with its task, drained and resumed', async () => {
    const runner = stage.runner({ instanceId: 'workbench-7' });
    const { graph: unserved } = await tokenStage(stage);
    await stage.upload(unserved, 'input', '1');
    await stage.upload(graph, 'input', '1');
    await runner.acquire(graph.template);
    const queue = (template: string) => page.getByRole('row').filter({ hasText: template });
    await queue(graph.template).getByText('1 busy').waitFor();
    await queue(unserved.template).getByText('None').waitFor();
    await page.getByText('1 task waits, 1 queue has no runner').waitFor();
    const row = page.getByRole('row').filter({ hasText: 'workbench-7' });
    await row.getByRole('link', { name: 'n1' }).waitFor();
    await row.getByRole('button', { name: 'Drain workbench-7' }).click();
    await row.getByText('drained').waitFor();
    await picture(page, 'runners');
    await row.getByRole('button', { name: 'Resume workbench-7' }).click();
    await row.getByText('drained').waitFor({ state: 'detached' });
  });

  test('two runners of one machine are distinguished by their instances', async () => {
    const instances = ['fit:wall:101:aaaa0001', 'fit:wall:102:aaaa0002'];
    for (const instanceId of instances) await stage.runner({ instanceId }).claim(graph.template);
    for (const instanceId of instances)
      await page.getByRole('button', { name: `Drain fit on wall, ${instanceId}`, exact: true }).waitFor();
    await page.getByText(instances[0]!).waitFor();
    // The queue has the word of the runners.
    await page.getByRole('row').filter({ hasText: 'fit on wall' }).getByText('waiting').first().waitFor();
    await page
      .getByRole('row')
      .filter({ hasText: graph.template })
      .getByText(/\d waiting/)
      .first()
      .waitFor();
  });

  test('a queue gets a limit, says it, and goes back to the manifest', async () => {
    const row = page.getByRole('row').filter({ hasText: graph.template });
    await click(`Limit ${graph.template}`);
    await dialog().getByLabel('Tasks at once').fill('5');
    await dialog().getByLabel('Of one session').fill('2');
    await picture(page, 'queue-limit');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    await dialog().getByRole('button', { name: 'Save' }).click();
    await closed();
    await row.getByText('of at most 5, 2 a session').waitFor();
    const path = '/api/v2/admin/concurrency';
    const limits = async () =>
      (await ask(api.url, 'GET', path, { token: people.Developer.token })).body.limits;
    expect(await limits()).toMatchObject([{ name: graph.template, max: 5, perProject: null, perSession: 2 }]);
    await click(`Limit ${graph.template}`);
    expect(await dialog().getByLabel('Tasks at once').inputValue()).toBe('5');
    // What somebody else changes meanwhile stays.
    await ask(api.url, 'PUT', `${path}/${graph.template}`, {
      token: people.Developer.token,
      json: { kind: 'nodeTemplate', max: 5, perProject: 3, perSession: 1 },
    });
    await dialog().getByLabel('Tasks at once').fill('6');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await closed();
    expect(await limits()).toMatchObject([{ max: 6, perProject: 3, perSession: 1 }]);
    await click(`Limit ${graph.template}`);
    await dialog().getByRole('button', { name: 'Back to what the manifest says' }).click();
    await closed();
    await row.getByText('of at most 6').waitFor({ state: 'detached' });
    expect(await limits()).toEqual([]);
  });

  test('a runner is connected: manifest, token and commands, until it was seen', async () => {
    await open('Runners');
    await click('Connect a runner');
    await dialog().getByLabel('Name').fill('Top Speed');
    await dialog().getByRole('button', { name: 'Next' }).click();
    await dialog().getByRole('alert').waitFor();
    const name = `top-speed-${randomUUID().slice(0, 8)}`;
    await dialog().getByLabel('Name').fill(name);
    await dialog().getByLabel('Language').selectOption('python');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    await dialog().getByRole('button', { name: 'Next' }).click();
    await dialog().getByText('Waiting for the runner').waitFor();
    await untilTrue(page, `document.activeElement.ariaLabel === 'Token'`);
    await picture(page, 'runner-connect');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    const shown = await dialog().getByLabel('Commands', { exact: true }).inputValue();
    expect(shown).toContain(`sdp runner init ${name} --python`);
    const token = /SDP_RUNNER_TOKEN=(hrt_\S+)/.exec(shown)![1]!;
    const runner = stage.runner({ token, instanceId: 'pit-wall-3' });
    expect((await runner.claim(name)).status).toBe(204);
    await dialog().getByText('is connected').waitFor();
    await dialog().getByRole('button', { name: 'Done' }).click();
    await closed();
    await page.getByRole('row').filter({ hasText: name }).first().waitFor();
  });

  test('tasks for which no runner is there are pointed out until one comes', async () => {
    const { graph, runnerType, runner: newRunner } = await tokenStage(stage);
    await stage.upload(graph, 'input', '1');
    await open('Runners');
    const notice = page.getByRole('alert').filter({ hasText: runnerType });
    await notice.getByText(`No runner takes the tasks of ${graph.template}.`).waitFor();
    await picture(page, 'runners-missing');
    const runner = newRunner();
    const task = await runner.acquire(graph.template);
    await notice.waitFor({ state: 'detached' });
    await runner.end(task.taskId, 'fail', { category: 'validation', reason: 'No.' });
  });
});
