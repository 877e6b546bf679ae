/** What people come to the list of sessions for, in a real browser. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import type { StageGraph } from '../../support/runner.ts';
import { accessibilityFaults, appearances, wear } from '../support/axe.ts';
import {
  describeInBrowser,
  goWithin,
  openBrowser,
  picture,
  type TestBrowser,
  tooWide,
  untilTrue,
} from '../support/browser.ts';
import { sessionsStage } from '../support/sessions-stage.ts';
import { signInAs } from '../support/sign-in.ts';

const stage = await sessionsStage();
const { api, people, database, makeSession, end } = stage;

describeInBrowser('the list of sessions', () => {
  let browser: TestBrowser;
  let page: Page;
  let projectId: number;
  let failed: StageGraph;
  let running: StageGraph;

  beforeAll(async () => {
    ({ browser, page } = await openBrowser(api.url));
    ({ projectId, running, failed } = await stage.fillProject());
    await signInAs(page, `${api.url}/sessions`, people.Administrator);
  });

  const tab = (name: string) =>
    page.getByRole('navigation', { name: 'Which sessions' }).getByRole('link', { name });
  const row = (name: string) => page.locator('tbody tr').filter({ hasText: name });

  test('fits 25 rows on a screen, each with what it is known by', async () => {
    await row('Car 44, stint 2').waitFor();
    await picture(page, 'sessions-list');
    await expect.poll(() => page.locator('tbody tr').count()).toBe(25);
    const last = await page.locator('tbody tr').last().boundingBox();
    expect(last!.y + last!.height).toBeLessThanOrEqual(900);
    const text = await row('Car 44, stint 2').innerText();
    for (const part of ['Failed', '1/3', 'Red Bull Ring, November', 'LH', 'soft', '8 B', 'just now'])
      expect(text).toContain(part);
    await expect.poll(() => row('Car 16, stint 1').getByRole('progressbar').getAttribute('value')).toBe('2');
  });

  test('of one project has more room for names, and says what is frozen beside a name that is cut', async () => {
    const name = `A name ${'that goes on '.repeat(15)}`;
    const { sessionId } = await makeSession(name, projectId, 40, {
      driver: 'A driver',
      tyre: { kind: 'medium' },
    });
    const { adminToken: token } = people;
    await ask(api.url, 'POST', `/api/v2/sessions/${sessionId}/freeze`, { token });
    const headings = page.getByRole('columnheader', { name: 'Project' });
    const cell = row('that goes on').locator('.row-name');
    await goWithin(page, '/sessions?search=that+goes+on');
    await row('that goes on').waitFor();
    expect(await headings.count()).toBe(1);
    const before = (await cell.boundingBox())!.width;
    await goWithin(page, `/sessions?search=that+goes+on&project=${projectId}`);
    await expect.poll(async () => (await cell.boundingBox())?.width ?? 0).toBeGreaterThan(before + 50);
    expect(await headings.count()).toBe(0);
    const [whole, tag] = [(await cell.boundingBox())!, (await cell.getByText('frozen').boundingBox())!];
    expect(tag.x + tag.width).toBeLessThanOrEqual(whole.x + whole.width);
    expect(await tooWide(page)).toEqual([]);
    await database.query('delete from session where id = $1', [sessionId]);
    await goWithin(page, '/sessions');
  });

  test('which sessions failed: one click, and one more to retry them', async () => {
    await expect.poll(async () => (await tab('Failed').innerText()).replace(/\s+/g, ' ')).toBe('Failed 1');
    await tab('Failed').click();
    await untilTrue(page, 'location.search === "?tab=failed"');
    await page.getByText('1 session', { exact: true }).waitFor();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    await page.getByLabel('Choose all on this page').check();
    await picture(page, 'sessions-chosen');
    await page.getByRole('button', { name: 'Retry failed' }).click();
    await page.getByText('1 session retried.').waitFor();
    await tab('Running').getByText('2').waitFor();
    // The row stays where it is, and says that it is no longer in this list.
    await row('Car 44, stint 2').and(page.locator('.row-gone')).waitFor();
    await end(failed, 'fail');
    await tab('All').click();
    await row('Car 44, stint 2').getByText('Failed').waitFor();
  });

  test('a session of last week by its metadata: keys and values are suggested', async () => {
    await page.getByLabel('Created').selectOption({ label: 'Last 7 days' });
    await untilTrue(page, 'location.search.startsWith("?from=")');
    await page.getByRole('link', { name: 'Metadata' }).click();
    const suggested = (label: string) =>
      page.getByLabel(label).evaluate((input) => {
        const { list } = input as unknown as { list: { options: ArrayLike<{ value: string }> } };
        return Array.from(list.options, ({ value }) => value);
      });
    await untilTrue(page, 'document.querySelector("datalist option") !== null');
    await expect
      .poll(() => suggested('Metadata path of condition 2'))
      .toEqual(['driver', 'tyre.kind', 'tyre.laps']);
    await page.getByLabel('Metadata path of condition 2').fill('driver');
    await expect.poll(() => suggested('Value of condition 2')).toEqual(['LH', 'CL', 'LN', 'MV']);
    await page.getByLabel('Comparison of condition 2').selectOption({ label: 'is' });
    await page.getByLabel('Value of condition 2').fill('MV');
    await picture(page, 'sessions-by-metadata');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByText('2 sessions', { exact: true }).waitFor();
    await expect.poll(() => page.locator('.row-link').allInnerTexts()).toEqual(['Stint 3', 'Stint 6']);
  });

  test('is live: rows change in their places, newer sessions wait until they are asked for', async () => {
    await page.goto(`${api.url}/sessions`);
    await row('Car 16, stint 1').getByText('Running').waitFor();
    const names = () => page.locator('.row-link').allInnerTexts();
    const before = await names();
    await end(running, 'complete');
    await makeSession('Brand new', projectId, 0, {});
    await row('Car 16, stint 1').getByText('Done').waitFor();
    await page.getByRole('button', { name: 'Show 1 newer session' }).waitFor();
    await picture(page, 'sessions-newer');
    await expect.poll(() => names()).toEqual(before);
    await page.getByRole('button', { name: 'Show 1 newer session' }).click();
    await row('Brand new').waitFor();
  });

  test('is worked by keys: j, k, x, /, Enter; Back returns to the same list', async () => {
    await page.goto(`${api.url}/sessions?search=Stint&sortBy=name&sortOrder=asc`);
    await row('Stint 10').waitFor();
    for (const key of ['j', 'j', 'j', 'k', 'x']) await page.keyboard.press(key);
    await page.getByRole('toolbar', { name: 'Chosen sessions' }).getByText('1 session chosen').waitFor();
    await expect.poll(() => page.getByLabel('Choose Car 44, stint 2').isChecked()).toBe(true);
    await page.keyboard.press('/');
    await page.keyboard.type('Stint 1x');
    await page.getByText('No session matches “Stint 1x”').waitFor();
    await page.keyboard.press('Backspace');
    await row('Stint 10').waitFor();
    await page.getByLabel('Choose all on this page').focus();
    for (const key of ['j', 'j', 'Enter']) await page.keyboard.press(key);
    await page.getByRole('heading', { name: 'Stint 1', exact: true }).waitFor();
    await page.goBack();
    await row('Stint 10').waitFor();
    expect(new URL(page.url()).searchParams.get('search')).toBe('Stint 1');
  });

  test('sessions that are chosen to compare are still chosen after Back and a reload, and only in that list', async () => {
    await page.goto(`${api.url}/sessions?search=Stint&sortBy=name&sortOrder=asc`);
    await row('Stint 10').waitFor();
    const chosen = page.getByRole('toolbar', { name: 'Chosen sessions' });
    for (const name of ['Stint 10', 'Stint 11']) await page.getByLabel(`Choose ${name}`).check();
    await page.getByRole('link', { name: 'Stint 12', exact: true }).click();
    await page.getByRole('heading', { name: 'Stint 12', exact: true }).waitFor();
    await page.goBack();
    await chosen.getByText('2 sessions chosen').waitFor();
    await page.reload();
    await chosen.getByText('2 sessions chosen').waitFor();
    const menu = page.getByRole('navigation', { name: 'Main' });
    await menu.getByRole('link', { name: 'Sessions', exact: true }).click();
    await page.getByLabel('Choose all on this page').waitFor();
    await expect.poll(() => chosen.count()).toBe(0);
  });

  test('chosen sessions are exported, frozen and deleted, with what is lost', async () => {
    await page.goto(`${api.url}/sessions?search=Stint+2&sortBy=name&sortOrder=asc`);
    await page.getByLabel('Choose Stint 2', { exact: true }).check();
    await page.getByLabel('Choose Stint 20').check();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    const lines = readFileSync(await (await downloading).path(), 'utf8').split('\r\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^id,name,state,.*,driver,tyre\.kind$/);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Freeze' }).click();
    await dialog.getByText('“Stint 2”, “Stint 20” accept no uploads').waitFor();
    await dialog.getByRole('button', { name: 'Freeze' }).click();
    await page.getByText('2 sessions frozen.').waitFor();
    await row('Stint 20').getByText('frozen').waitFor();
    await page.getByLabel('Choose Stint 20').check();
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByText('“Stint 20” is deleted with all outputs, dashboards and logs.').waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    const done = page.getByText('1 session deleted.');
    await done.waitFor();
    await page.getByLabel('Choose Stint 2', { exact: true }).check();
    await page.getByRole('button', { name: 'Choose none' }).click();
    await expect.poll(() => done.count()).toBe(0);
    expect(await database.query("select from session where name = 'Stint 20'")).toEqual([]);
  });

  test('a session without a name is called like its template and the time, as people say it', async () => {
    await page.goto(`${api.url}/sessions`);
    await page.getByRole('button', { name: 'New session' }).click();
    const dialog = page.getByRole('dialog');
    const template = dialog.getByRole('combobox', { name: /^Template/ });
    const title = (await template.locator('option:checked').textContent()) ?? '';
    await dialog.getByText(`Default: ${title}, `).waitFor();
    // What was typed is lost only by a second Escape.
    const name = dialog.getByRole('textbox', { name: /^Name/ });
    await untilTrue(page, 'document.activeElement.matches("dialog input")');
    await page.keyboard.type('Stint');
    await page.keyboard.press('Escape');
    await dialog.getByRole('alert').getByText('Press Escape again').waitFor();
    await expect.poll(() => name.inputValue()).toBe('Stint');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'New session' }).click();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'New session' }).click();
    await dialog.getByRole('button', { name: 'Create session' }).click();
    const heading = page.getByRole('heading', { level: 1, name: `${title}, ` });
    await expect.poll(() => heading.textContent()).toMatch(/, \d{1,2} \w+ \d{4}, \d\d:\d\d$/);
  });

  test('metadata are entered with a session, shown on it, and edited there', async () => {
    await page.goto(`${api.url}/sessions`);
    const name = `Made ${randomUUID()}`;
    await page.getByRole('button', { name: 'New session' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: false }).first().fill(name);
    await dialog.getByLabel('Project').selectOption(String(projectId));
    for (const [at, path, value] of [
      [1, 'driver', 'MV'],
      [2, 'tyre.laps', '12'],
    ] as const) {
      await dialog.getByRole('button', { name: 'Add metadata' }).click();
      await dialog.getByLabel(`Name of entry ${at}`).fill(path);
      await dialog.getByLabel(`Value of ${path}`).fill(value);
    }
    await picture(page, 'new-session-metadata');
    await dialog.getByRole('button', { name: 'Create session' }).click();
    const metadata = page.getByRole('region', { name: 'Metadata' });
    await metadata.getByText('tyre.laps').waitFor();
    await metadata.getByRole('button', { name: 'Edit metadata' }).click();
    await metadata.getByLabel('Value of driver').fill('CL');
    await picture(page, 'session-metadata');
    await metadata.getByRole('button', { name: 'Save metadata' }).click();
    await metadata.getByRole('definition').getByText('CL').waitFor();
    const [stored] = await database.query('select metadata from session where name = $1', [name]);
    expect(stored).toEqual({ metadata: { driver: 'CL', tyre: { laps: 12 } } });
  });

  test('the focus goes into the form of the metadata, and back to its button', async () => {
    const edit = page.getByRole('button', { name: 'Edit metadata' });
    await edit.press('Enter');
    await page.locator('[aria-label="Value of driver"]:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('button:focus', { hasText: 'Edit metadata' }).waitFor();
  });

  test.each(appearances)('is accessible and fits in $name', async (appearance) => {
    await wear(page, appearance);
    await page.goto(`${api.url}/sessions`);
    await row('Car 44, stint 2').waitFor();
    await page.getByLabel('Choose Car 44, stint 2').check();
    await picture(page, `sessions-${appearance.name}`);
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
    await goWithin(page, '/sessions?query=&orderBy=name');
    await page.getByLabel('Choose Car 44, stint 2').check();
    await picture(page, `sessions-found-${appearance.name}`);
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
    await wear(page, appearances[0]!);
  });

  test('a view is saved, stands beside the title for others, and is changed and deleted by its owner', async () => {
    await goWithin(page, '/sessions?tab=failed&search=Car&page=1');
    await page.getByRole('button', { name: 'Save view' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Failed cars');
    await dialog.getByLabel('Who sees it').selectOption('everyone');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    await dialog.getByRole('button', { name: 'Save view' }).click();
    const chip = page.getByRole('list', { name: 'Saved views' }).getByRole('link', { name: 'Failed cars' });
    await chip.and(page.locator('[aria-current="page"]')).waitFor();
    await goWithin(page, '/sessions');
    await chip.click();
    await page.waitForURL(/tab=failed/);
    await page.getByText('1 session', { exact: true }).waitFor();
    await picture(page, 'sessions-views');
    const other = await ask(api.url, 'GET', '/api/v2/session/views', { token: people.Instructor.token });
    expect(other.body.views).toMatchObject([{ name: 'Failed cars', isOwn: false }]);
    await page.getByRole('button', { name: 'Edit view' }).click();
    const remove = dialog.getByRole('button', { name: 'Delete view' });
    await remove.click();
    await dialog.getByText('Others use it too.').waitFor();
    await remove.click();
    await chip.waitFor({ state: 'detached' });
  });

  test('asked nothing of other places, and broke nothing', () => expect(browser.offences).toEqual([]));
});
