/** Lists that stay open show what others do meanwhile; the pages of a session of thousands of files read what they show. */
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { publishRows } from '../../api/node-instances/support.ts';
import { ask } from '../../support/api.ts';
import { runnerStage, type StageGraph } from '../../support/runner.ts';
import { describeInBrowser, openBrowser, picture, type TestBrowser } from '../support/browser.ts';
import { signInAs } from '../support/sign-in.ts';

const stage = await runnerStage();
const { api, people } = stage;

async function call(method: string, path: string, json?: object, token = people.Administrator.token) {
  const answer = await ask(api.url, method, path, { token, ...(json === undefined ? {} : { json }) });
  expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
  return answer.body;
}

describeInBrowser('a list that stays open', () => {
  let page: Page;
  beforeAll(async () => {
    ({ page } = await openBrowser(api.url));
  });

  test('shows who joins a shared session, and that it is closed', async () => {
    const graph = await stage.chainOf(1);
    const [session] = await stage.database.query<{ projectId: number; sessionTemplateId: number }>(
      'select project_id, session_template_id from session where id = $1',
      [graph.sessionId],
    );
    const { projectId, sessionTemplateId } = session!;
    const name = `Exercise ${randomUUID()}`;
    const join = ({ token, email }: { token: string; email: string }) =>
      call(
        'POST',
        `/api/v2/session/shared_session?projectId=${projectId}`,
        {
          name,
          simulationName: name,
          email,
          sessionTemplateId,
          startTimeUtc: '2026-03-14T09:30:00.000Z',
          machineGroup: 7,
          timeWindowSeconds: 300,
        },
        token,
      );
    const { id } = await join(people.Trainee);
    await signInAs(page, `${api.url}/shared-sessions`, people.Instructor);
    await page.getByText('open · 1 participant').waitFor();
    await join(people.Developer);
    await page.getByText('open · 2 participants').waitFor();
    await call('POST', `/api/v2/session/${id}/close`, { reason: 'The exercise is over.' });
    await page.getByText('closed · 2 participants').waitFor();
  });

  test('shows when a scheduled report is due next', async () => {
    const path = '/api/v2/dashboard/report-schedules';
    const { id } = await call('POST', path, { reportKey: 'session-list', every: 'day' });
    await page.goto(`${api.url}/reports`);
    await page.getByText(/^Every day at .* · next /).waitFor();
    await call('PATCH', `${path}/${id}`, { enabled: false });
    await page.getByText(/^Every day at .* · disabled/).waitFor();
  });
});

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
    page.on('response', (response) => {
      // The header, not the body: the page may close before the body is read.
      if (response.url().includes('/outputs?')) readBytes.push(Number(response.headers()['content-length']));
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
