/** Forms of the console over a line that loses the platform's answer after the platform has done the work. */
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { brokenLineTo } from '../../cli/broken-line.ts';
import { ask } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';
import { inputNode, ship, templateFile } from '../../support/templates.ts';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { signInAs } from '../support/sign-in.ts';

const { api, people, database } = await runnerStage();
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
