/** A Trainee finds their own sessions again wherever they sign in, in real browsers. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';
import { inputNode, ship, tabularNode, templateFile } from '../../support/templates.ts';
import { accessibilityFaults, appearances, wear } from '../support/axe.ts';
import {
  describeInBrowser,
  openBrowser,
  picture,
  type TestBrowser,
  tooWide,
  untilTrue,
} from '../support/browser.ts';
import { signInAs } from '../support/sign-in.ts';

const stage = await runnerStage();
const { api, people } = stage;
const call = async (path: string, token: string, json: object) => {
  const { status, body } = await ask(api.url, 'POST', path, { token, json });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
};
let base: object;
const make = (Name: string, token: string, more: object = {}) =>
  call('/session', token, { ...base, Name, ...more });

describeInBrowser("a Trainee's own sessions", () => {
  let browser: TestBrowser;
  let page: Page;
  const refused: string[] = [];
  const names = (of: Page) => of.locator('tbody .row-link').allTextContents();

  beforeAll(async () => {
    await ship(stage.database);
    const file = templateFile('exercise', [inputNode('in'), tabularNode('out', 'in')]);
    const { adminToken, Instructor, Trainee } = people;
    const template = await call('/api/v2/admin/session-templates', adminToken, file);
    const project = await call('/projects', adminToken, { Title: 'Formation training' });
    base = { ProjectId: project.id, SessionTemplateId: template.id };
    for (let number = 1; number <= 26; number += 1) await make(`Flight ${number}`, Trainee.token);
    await make('Prepared for me', Instructor.token, { Email: Trainee.email });
    await make('Of the instructor', Instructor.token);
    ({ browser, page } = await openBrowser(api.url));
    page.on('response', (response) => {
      if ([401, 403].includes(response.status())) refused.push(response.url());
    });
    await signInAs(page, `${api.url}/sessions`, people.Trainee);
  });

  const newest = ['Prepared for me', ...Array.from({ length: 24 }, (_, index) => `Flight ${26 - index}`)];

  test('are those that they made or take part in, newest first, in pages', async () => {
    await page.getByRole('link', { name: 'Prepared for me' }).waitFor();
    await picture(page, 'sessions-own');
    await expect.poll(() => names(page)).toEqual(newest);
    await page.getByText('27 sessions', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('link', { name: 'Flight 1', exact: true }).waitFor();
    expect([new URL(page.url()).search, await names(page)]).toEqual(['?page=2', ['Flight 2', 'Flight 1']]);
    await page.goBack();
    await page.getByRole('link', { name: 'Prepared for me' }).waitFor();
  });

  test('are the same in a second browser, which has opened none of them', async () => {
    const second = await openBrowser(api.url);
    await signInAs(second.page, api.url, people.Trainee);
    await second.page.getByRole('link', { name: 'Prepared for me' }).waitFor();
    await expect.poll(() => names(second.page)).toEqual(newest);
    await make('Made elsewhere', people.Trainee.token);
    await second.page.getByRole('button', { name: 'Show 1 newer session' }).click();
    await second.page.getByRole('link', { name: 'Made elsewhere' }).click();
    await second.page.getByRole('heading', { name: 'Made elsewhere' }).waitFor();
    expect(second.browser.offences).toEqual([]);
  });

  test('are not those of others, even of one whose link they have opened', async () => {
    const other = await make('Shown by its link', people.Instructor.token);
    await page.goto(`${api.url}/sessions/${other.id}`);
    await page.getByRole('heading', { name: 'Shown by its link' }).waitFor();
    await page.goto(`${api.url}/sessions`);
    await page.getByRole('link', { name: 'Made elsewhere' }).waitFor();
    await expect.poll(() => names(page)).not.toContain('Shown by its link');
    await page.keyboard.press('j');
    await untilTrue(page, 'document.activeElement.textContent === "Made elsewhere"');
  });

  test('one that is not to be seen may be that of others', async () => {
    await page.goto(`${api.url}/sessions/${crypto.randomUUID()}`);
    await page.getByText('It may have been deleted, or you do not take part in it.').waitFor();
    await page.goto(`${api.url}/sessions`);
    await page.getByRole('link', { name: 'Made elsewhere' }).waitFor();
  });

  test.each(appearances)('are accessible and fit in $name', async (appearance) => {
    await wear(page, appearance);
    await picture(page, `sessions-own-${appearance.name}`);
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
  });

  test('asked for nothing that is refused, and broke nothing', () =>
    expect([refused, browser.offences]).toEqual([[], []]));
});
