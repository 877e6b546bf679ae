/** Lists that stay open show what others do meanwhile. */
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
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
