/** Pages whose answers take longer than the time after which they are read again. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage, type StageGraph } from '../../support/runner.ts';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { signInAs } from '../support/sign-in.ts';

const stage = await runnerStage();
const { api, people } = stage;

describeInBrowser('a page with slow answers', () => {
  let page: Page;
  let graph: StageGraph;

  beforeAll(async () => {
    ({ page } = await openBrowser(api.url));
    graph = await stage.chainOf(2);
    await signInAs(page, `${api.url}/users`, people.Developer);
  });

  const rename = async (name: string) => {
    const path = `/api/v2/sessions/${graph.sessionId}`;
    await ask(api.url, 'PATCH', path, { token: people.adminToken, json: { name } });
  };

  test('shows the list of sessions, and its changes, although each answer takes longer than a refresh', async () => {
    await rename('Slowly read');
    await page.route(/\/api\/v2\/session\?/, async (route) => {
      await sleep(5_500);
      await route.continue().catch(() => undefined);
    });
    await page.goto(`${api.url}/sessions`);
    await page.getByRole('link', { name: 'Slowly read', exact: true }).waitFor();
    await rename('Read again');
    await page.getByRole('link', { name: 'Read again', exact: true }).waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('shows the runs of a session while a runner reports its progress without a pause', async () => {
    await page.goto(`${api.url}/sessions/${graph.sessionId}?tab=pipeline`);
    await page.getByText('No node has run yet.').waitFor();
    await stage.upload(graph, 'input', '1');
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    let isOver = false;
    const reports = (async () => {
      for (let row = 0; !isOver; row += 1) {
        await runner.call('PUT', `/tasks/${taskId}/heartbeat`, { message: `row ${row}` });
        await sleep(100);
      }
    })();
    const runs = page.getByRole('region', { name: 'Runs of the session' });
    await runs.getByText(/^Running/).waitFor();
    expect(isOver).toBe(false);
    isOver = true;
    await reports;
    await runner.end(taskId, 'complete', { outcome: 'no-output' });
    await runs.getByText(/^Without output/).waitFor();
  });
});
