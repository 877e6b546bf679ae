/** The first minute on an empty platform: from a click, or a file, to a dashboard. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ask } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { accessibilityFaults, appearances, wear } from './support/axe.ts';
import {
  describeInBrowser,
  dragOver,
  dropFile,
  openBrowser,
  picture,
  type TestBrowser,
  tooWide,
} from './support/browser.ts';
import { wholePlatform } from './support/platform.ts';
import { signInAs } from './support/sign-in.ts';

const { api, administrator, token } = await wholePlatform();

describeInBrowser('the first minute', () => {
  let browser: TestBrowser;
  let page: Page;

  beforeAll(async () => {
    ({ browser, page } = await openBrowser(api.url));
    await signInAs(page, `${api.url}/sessions`, administrator);
  });
  test('the example is loaded with one click, and has a dashboard', async () => {
    await page.getByRole('button', { name: 'Load the example' }).waitFor();
    const faults: string[] = [];
    for (const look of appearances) {
      await wear(page, look);
      await picture(page, `look-first-minute-${look.name}`);
      faults.push(...(await tooWide(page)));
      faults.push(...(await accessibilityFaults(page, look.name === 'light' ? 'every' : 'contrast')));
    }
    expect(faults).toEqual([]);
    await wear(page, appearances[0]!);
    await page.getByRole('button', { name: 'Load the example' }).click();
    await page.getByRole('heading', { name: 'Six laps of a car' }).waitFor();
    await page.getByRole('link', { name: 'Open dashboard' }).waitFor();
    await page.locator('.thumbnail').nth(1).waitFor();
    await picture(page, 'first-minute-session');
  });

  test('a dropped file begins a session in the same project', async () => {
    const { body } = await ask(api.url, 'GET', '/api/v2/session', { token });
    await ask(api.url, 'DELETE', `/api/v2/sessions/${body.sessions[0].id}`, { token });
    await page.goto(`${api.url}/sessions`);
    await page.getByRole('button', { name: 'Load the example' }).waitFor();
    await dropFile(page, 'h1', { name: 'stint 2.csv', type: 'text/csv', text: 'time,speed\n0,1\n1,2\n' });
    await page.getByRole('heading', { name: 'stint 2' }).waitFor();
    const projects = await ask(api.url, 'GET', '/projects', { token });
    expect(projects.body.map(({ title }: { title: string }) => title)).toEqual(['Inbox']);
    expect(browser.offences).toEqual([]);
  });

  test('a file that is dropped on the list of a project begins a session there', async () => {
    const project = await ask(api.url, 'POST', '/projects', { token, json: { Title: 'Test track' } });
    const ProjectId = project.body.id;
    const { body: templates } = await ask(api.url, 'GET', '/api/v2/session/session_templates', { token });
    await ask(api.url, 'POST', '/session', {
      token,
      json: { ProjectId, SessionTemplateId: templates[0].id, Name: 'Shakedown' },
    });
    await page.goto(`${api.url}/sessions?project=${ProjectId}`);
    await page.getByRole('link', { name: 'Shakedown', exact: true }).waitFor();
    await eventually('the page takes a file', async () => {
      await dragOver(page, 'h1');
      return page.getByText('Drop to upload').isVisible();
    });
    await dropFile(page, 'h1', { name: 'stint 3.csv', type: 'text/csv', text: 'time,speed\n0,1\n1,2\n' });
    await page.getByRole('heading', { name: 'stint 3' }).waitFor();
    await page.locator('.session-head').getByRole('link', { name: 'Test track' }).waitFor();
  });
});
