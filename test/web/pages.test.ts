/** The pages of the sidebar that staff use, in a real browser. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ask } from '../support/api.ts';
import { makeGraph } from '../support/graph.ts';
import { runnerStage } from '../support/runner.ts';
import {
  describeInBrowser,
  openBrowser,
  picture,
  type TestBrowser,
  tooWide,
  untilTrue,
} from './support/browser.ts';
import { signInAs } from './support/sign-in.ts';

const stage = await runnerStage();
const { api, people, database } = stage;

/** A session with a dashboard and a scenario that began at `from`. */
async function dashboard(title: string, from: string): Promise<number> {
  const graph = await makeGraph(database, [{ name: 'input', parents: [] }]);
  const [row] = await database.query<{ id: number }>(
    `insert into dimension (session_id, node_instance_id, name, dashboard_name, dashboard_version)
     values ($1, $2, $3, 'Recording', 'next') returning id`,
    [graph.sessionId, graph.nodes.input, title],
  );
  await database.query(
    `insert into scenario_instance (id, session_id, scenario_name, from_at, to_at)
     values (gen_random_uuid(), $1, 'Approach', $2, $2::timestamptz + interval '1 hour')`,
    [graph.sessionId, from],
  );
  return row!.id;
}

describeInBrowser('the pages of the sidebar', () => {
  let browser: TestBrowser;
  let page: Page;

  beforeAll(async () => {
    ({ browser, page } = await openBrowser(api.url));
    for (let number = 1; number <= 50; number += 1) {
      await dashboard(`Flight ${number}`, `2026-01-01T${String(number % 24).padStart(2, '0')}:00:00Z`);
    }
    await dashboard('Flight of March', '2026-03-10T09:00:00Z');
  });

  const sidebar = (tab: Page) => tab.getByRole('navigation', { name: 'Main' });
  const open = (name: string) => sidebar(page).getByRole('link', { name, exact: true }).click();

  test('the sidebar shows each role its own parts, as one list to a screen reader', async () => {
    const shown = async (role: 'Trainee' | 'Instructor') => {
      const tab = await browser.newPage();
      await signInAs(tab, api.url, people[role]);
      await sidebar(tab).getByRole('link', { name: 'Dashboards' }).waitFor();
      expect(await sidebar(tab).getByRole('list').count()).toBe(1);
      const names = (await sidebar(tab).getByRole('link').allTextContents()).map((name) => name.trim());
      await tab.close();
      return names;
    };
    await expect.poll(() => shown('Trainee')).toEqual(['Sessions', 'Dashboards']);
    await expect
      .poll(() => shown('Instructor'))
      .toEqual(['Sessions', 'Runs', 'Shared sessions', 'Projects', 'Dashboards', 'Reports', 'Storage']);
  });

  test('are those of the role that a person has by now, when the console is loaded again', async () => {
    const tab = await browser.newPage();
    const { userId, ...person } = people.Trainee;
    const role = (name: string) =>
      ask(api.url, 'PATCH', `/api/authorization/users/${userId}`, {
        token: people.Administrator.token,
        json: { role: name },
      });
    await signInAs(tab, `${api.url}/sessions`, person);
    await tab.getByText('Trainee', { exact: true }).waitFor();
    expect((await role('Instructor')).status).toBe(200);
    await tab.goto(`${api.url}/reports`);
    await tab.getByRole('heading', { level: 1, name: 'Reports' }).waitFor();
    await tab.getByText('Instructor', { exact: true }).waitFor();
    await role('Trainee');
    // The page of the role before asks at once, and is refused before the present role is known.
    const refused = tab.waitForResponse((response) => response.status() === 401);
    await tab.route(`**/api/authorization/users/${userId}`, async (route) => {
      await refused;
      await route.continue();
    });
    await tab.reload();
    await tab.getByText('Your role has no access to this page').waitFor();
    await tab.close();
  });

  test('fit a phone with text of twice the size, with a way to sign out', async () => {
    const tab = await browser.newPage();
    await signInAs(tab, `${api.url}/sessions`, people.Instructor);
    await tab.setViewportSize({ width: 195, height: 422 });
    for (const name of ['Sessions', 'Runs', 'Reports', 'Storage']) {
      await tab.getByRole('button', { name: 'Show the menu' }).click();
      await sidebar(tab).getByRole('link', { name, exact: true }).click();
      await tab.getByRole('heading', { level: 1, name }).waitFor();
      expect(await tooWide(tab), name).toEqual([]);
    }
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await tab.getByLabel('Username').waitFor();
    await tab.close();
  });

  test('lists dashboards page by page, newest first, and those of a period', async () => {
    await signInAs(page, api.url, people.Administrator);
    await open('Dashboards');
    await page.getByText('51 dashboards').waitFor();
    await expect.poll(() => page.locator('tbody tr').first().textContent()).toContain('Flight of March');
    await picture(page, 'dashboards');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Page 2 of 2').waitFor();
    await untilTrue(page, 'document.querySelectorAll("tbody tr").length === 1');
    await page.getByLabel('From').fill('2026-03-01');
    await page.getByText('1 dashboard', { exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe('?from=2026-03-01');
    await page.getByLabel('To').fill('2026-03-09');
    await page.getByText('No dashboards in this period').waitFor();
    await page.getByRole('button', { name: 'All days' }).click();
    await page.getByText('51 dashboards').waitFor();
  });

  test('downloads a report of a period under the name from the platform', async () => {
    const { status } = await ask(api.url, 'POST', '/api/v2/dashboard/reports', {
      token: people.Developer.token,
      json: {
        key: 'flights',
        name: 'Flights',
        fileName: 'FlightList',
        columns: [{ columnKey: 'title', name: 'Flight', expression: 'dimension.title' }],
        filters: [],
      },
    });
    expect(status).toBe(201);
    await open('Reports');
    await page.getByRole('heading', { name: 'Flights' }).waitFor();
    await page.getByLabel('From').fill('2026-03-01');
    await page.getByText('the sessions whose scenarios overlap these days').waitFor();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download Flights as csv' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toMatch(/^FlightList_\d{8}_\d\d\.\d\d\.csv$/);
    const lines = readFileSync(await download.path(), 'utf8')
      .replace(/^\ufeff/, '')
      .trim()
      .split(/\r?\n/);
    expect(lines).toEqual(['Flight', 'Flight of March']);
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Flights' })
      .getByRole('button', { name: 'Columns' })
      .click();
    await page.getByText('dimension.title').waitFor();
    await picture(page, 'reports');
  });

  test('a project leads from its key figure over sessions to one of them, and the audit says who made it', async () => {
    const { adminToken: token } = people;
    const project = await ask(api.url, 'POST', '/projects', {
      token: people.Instructor.token,
      json: { Title: 'Key figures' },
    });
    const { body: templates } = await ask(api.url, 'GET', '/api/v2/session/session_templates', { token });
    for (const [index, speed] of [301.5, 341.7].entries()) {
      const made = await ask(api.url, 'POST', '/session', {
        token,
        json: {
          Name: `Stint ${index + 1}`,
          ProjectId: project.body.id,
          SessionTemplateId: templates[0].id,
          Metadata: { top: { speed } },
        },
      });
      expect(made.status).toBe(201);
    }
    await open('Storage');
    await page.getByRole('link', { name: 'Key figures' }).click();
    await page.getByRole('heading', { level: 1, name: 'Key figures' }).waitFor();
    await expect.poll(() => page.getByLabel('Key figure').inputValue()).toBe('top.speed');
    const trend = page.getByRole('region', { name: 'Over sessions' });
    for (const level of ['301.5', '341.7']) await trend.getByText(level, { exact: true }).waitFor();
    await expect.poll(() => trend.locator('.project-trend-days').textContent()).toMatch(/ 20\d\d/);
    await page.getByRole('button', { name: 'Edit project' }).click();
    await page.getByRole('dialog').getByLabel('Description').fill('Two stints');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText('Two stints').waitFor();
    await page.getByLabel('Key figure').selectOption('size of outputs');
    await page.waitForURL(/figure=size/);
    await page.getByRole('link', { name: /^Stint 2: 0/ }).click();
    await page.getByRole('heading', { name: 'Stint 2' }).waitFor();
    await open('Audit');
    await page.getByRole('searchbox', { name: 'Action' }).pressSequentially('create project');
    const row = page.getByRole('row', { name: new RegExp(`Key figures ${project.body.id} `) });
    await row.getByText('Create project').waitFor();
    await row.getByText(/^Instructor No \d+, Instructor/).waitFor();
    await page.getByRole('button', { name: 'Sign-ins and accounts' }).click();
    await page.getByText('No matching entries').waitFor();
    // A filter that finds nothing here may be meant for the other list.
    await page.getByRole('main').getByRole('link', { name: 'Changes' }).click();
    await row.getByText('Create project').waitFor();
    await open('Retention');
    await page.getByText('Nothing is due to be deleted').waitFor();
  });

  test('fits a small screen, where a button opens the menu', async () => {
    const { browser: small, page: tab } = await openBrowser(api.url, { colorScheme: 'dark', width: 360 });
    try {
      await signInAs(tab, `${api.url}/dashboards`, people.Administrator);
      await tab.getByText('51 dashboards').waitFor();
      for (const [name, ready] of smallPages) {
        await tab.getByRole('button', { name: 'Show the menu' }).click();
        if (name === 'Reports') await picture(tab, 'small-menu');
        await sidebar(tab).getByRole('link', { name, exact: true }).click();
        await tab.getByText(ready).first().waitFor();
        await picture(tab, `small-${name.toLowerCase()}`);
        expect(await tooWide(tab), name).toEqual([]);
      }
      expect(small.offences).toEqual([]);
    } finally {
      await small.close();
    }
  });

  test('loads nothing from other hosts and violates no rule of the content security policy', () => {
    expect(browser.offences).toEqual([]);
  });
});

/** Each with a text that it shows once it is loaded; appearance.test.ts checks how every page looks. */
const smallPages: ReadonlyArray<readonly [string, string]> = [
  ['Reports', 'Flights'],
  ['Tokens', 'Created by'],
];
