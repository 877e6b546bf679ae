/** Forms over a line that loses the platform's answer after the platform has done the work, and pages with slow answers. */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { brokenLineTo } from '../../cli/broken-line.ts';
import { ask } from '../../support/api.ts';
import { runnerStage, type StageGraph } from '../../support/runner.ts';
import { inputNode, ship, templateFile } from '../../support/templates.ts';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { signInAs } from '../support/sign-in.ts';

const stage = await runnerStage();
const { api, database, people } = stage;

// First: its form offers what the platform has.
const lost: string[] = [];
const creating = /^POST \/(session|api\/v2\/admin\/webhooks|api\/v2\/node-instance\/\d+\/outputs\/data)$/;
const site = await brokenLineTo(api.url, (asked, count) => {
  if (!creating.test(asked) || count > 1) return undefined;
  lost.push(asked);
  return 'after';
});
const countOf = async (statement: string, values: unknown[]) =>
  (await database.query(statement, values)).length;

describeInBrowser('over a line that loses the first answer', () => {
  let page: Page;
  const name = `Lost ${randomUUID()}`;

  beforeAll(async () => {
    await ship(database);
    const token = people.adminToken;
    const json = templateFile(`t${randomUUID()}`, [inputNode('laps')]);
    expect((await ask(api.url, 'POST', '/api/v2/admin/session-templates', { token, json })).status).toBe(201);
    expect((await ask(api.url, 'POST', '/projects', { token, json: { Title: 'Lines' } })).status).toBe(201);
    ({ page } = await openBrowser(site));
    await signInAs(page, `${site}/sessions?q=none`, people.Developer);
  });

  test('the form for a session makes one and opens it', async () => {
    await page.getByRole('button', { name: 'New session' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByRole('button', { name: 'Create session' }).click();
    await page.waitForURL(/\/sessions\/[0-9a-f-]{36}/);
    expect(lost).toEqual(['POST /session']);
    expect(await countOf('select 1 from session where name = $1', [name])).toBe(1);
  });

  test('a file without a name of its own becomes one output', async () => {
    const file = { name: 'lost.csv', mimeType: 'text/csv', buffer: Buffer.from('time,speed\n0,1\n') };
    await page.locator('input[type=file]').first().setInputFiles(file);
    await page.getByText('15 B, stored').waitFor();
    expect(lost).toHaveLength(2);
    const outputs = `select 1 from node_output o join session s on s.id = o.session_id where s.name = $1`;
    expect(await countOf(outputs, [name])).toBe(1);
  });

  test('the form for a webhook says that its secret is lost, and the next one shows it', async () => {
    const url = `https://hooks.example.org/${randomUUID()}`;
    await page.goto(`${site}/webhooks`);
    await page.getByRole('button', { name: 'New webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Address').fill(url);
    await dialog.getByLabel('An output is published').check();
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    await dialog.getByText('the answer with its secret was lost').waitFor();
    expect(await countOf('select 1 from webhook where url = $1', [url])).toBe(1);
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    await dialog.getByText('It is shown only once').waitFor();
    expect(await countOf('select 1 from webhook where url = $1', [url])).toBe(2);
  });
});

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
