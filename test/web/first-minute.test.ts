/** The first minute on an empty platform, from a click, or a file, to a dashboard; and the list of dashboards, each with its first curve, read a few at a time when it is seen. */
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ask, makePerson } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { faultsInAllAppearances } from './support/all-appearances.ts';
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
import { driveSession } from './support/drive.ts';
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
    expect(await faultsInAllAppearances(page, 'first-minute')).toEqual([]);
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

  test('a file that is dropped is taken by the page of a session, and opened by no other page', async () => {
    await loaded(page);
    const drag = await dragAt(page, 700, 400);
    await drag('dragEnter', 'dragOver', 'drop');
    await page.getByRole('list', { name: 'Uploads' }).getByText('first-minute.test.ts').waitFor();
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    await page.evaluate(
      'addEventListener("dragover", (event) => { window.refused = event.defaultPrevented; })',
    );
    await drag('dragEnter', 'dragOver', 'drop');
    expect(await page.evaluate('window.refused')).toBe(true);
    await page.goBack();
  });

  test('a session says why it takes no file while it loads, and forgets a drag that left', async () => {
    const nodes = Promise.withResolvers<void>();
    await page.route('**/events', (route) => nodes.promise.then(() => route.continue()));
    await page.reload();
    await page.locator('.placeholder-row').first().waitFor();
    const drag = await dragAt(page, 700, 400);
    await drag('dragEnter');
    const shows = (text: string) =>
      eventually(text, async () => {
        await drag('dragOver');
        return page.getByText(text).isVisible();
      });
    await shows('The session is not loaded yet');
    nodes.resolve();
    await loaded(page);
    // What was under the pointer is gone.
    await shows('Drop to upload');
    await drag('dragCancel');
    await page.getByText('Drop to upload').waitFor({ state: 'detached' });
    await page.unroute('**/events');
  });
});

async function loaded(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Overview' }).waitFor();
  await page.locator('.placeholder-row').first().waitFor({ state: 'detached' });
}

type Drag = 'dragEnter' | 'dragOver' | 'drop' | 'dragCancel';

/** Drags this file as the browser itself does. A drop needs that the same element was dragged over before. */
async function dragAt(page: Page, x: number, y: number): Promise<(...types: Drag[]) => Promise<void>> {
  const browser = await page.context().newCDPSession(page);
  const data = { items: [], files: [fileURLToPath(import.meta.url)], dragOperationsMask: 1 };
  return async (...types) => {
    for (const type of types) await browser.send('Input.dispatchDragEvent', { type, x, y, data });
  };
}

const many = 30;
const stranger = '17b95b05-e6a1-470a-a5a8-71427340cf06';

describeInBrowser('the list of dashboards', () => {
  let browser: TestBrowser;
  let page: Page;
  let sessionId: string;
  const asked = new Set<string>();

  beforeAll(async () => {
    let dashboardId: number;
    ({ sessionId, dashboardId } = await driveSession(api.url, token, {
      project: 'Red ring',
      name: 'Car 44',
    }));
    ({ browser, page } = await openBrowser(api.url));
    // The one recording stands for a page of them.
    await page.route('**/api/v2/dashboard/dimensions?*', async (route) => {
      const answer = await route.fetch();
      const list = (await answer.json()) as { dimensions: { id: number }[] };
      const dimensions = Array.from({ length: many }, (_, index) => ({
        ...list.dimensions[0],
        id: dashboardId + index * 1000,
        sessionName: `Car ${index + 1}`,
        // A person whom the reader may not see.
        ...(index === 1 ? { name: stranger, users: [{ id: stranger, name: stranger, email: '' }] } : {}),
      }));
      await route.fulfill({ response: answer, json: { ...list, dimensions, totalCount: many } });
    });
    await page.route(/\/dashboard\/dimensions\/\d+(\/series\?.*)?$/, async (route) => {
      const { pathname } = new URL(route.request().url());
      const id = /dimensions\/(\d+)/.exec(pathname)![1]!;
      asked.add(id);
      await route.continue({
        url: route.request().url().replace(`dimensions/${id}`, `dimensions/${dashboardId}`),
      });
    });
    await page.setViewportSize({ width: 1440, height: 500 });
    await signInAs(page, `${api.url}/dashboards`, administrator);
  });

  test('shows the first curve of each, with its channel and range', async () => {
    const first = page.getByRole('row', { name: /^Car 1 / });
    await first.getByText('speed').waitFor();
    await first.getByText('113 to 259 km/h').waitFor();
    await expect
      .poll(async () => (await first.locator('.spark path').getAttribute('d'))!.length)
      .toBeGreaterThan(500);
  });

  test('names no owner by an id that people cannot read', async () => {
    await page.getByRole('row', { name: /^Car 2 / }).waitFor();
    await expect.poll(() => page.getByText(stranger).count()).toBe(0);
  });

  test('reads those that are seen, a few at a time', async () => {
    expect(asked.size).toBeLessThan(many);
    await page.getByText(`Car ${many}`, { exact: true }).scrollIntoViewIfNeeded();
    await page
      .getByRole('row', { name: new RegExp(`^Car ${many} `) })
      .locator('.spark path')
      .waitFor();
    // By the page's own times: what the test hears of an answer comes later than the page does.
    const maxAtOnce = await page.evaluate<number>(`(() => {
      const reads = performance.getEntriesByType('resource').filter(({ name }) => /dimensions[/][0-9]+/.test(name));
      const begunBefore = (at) => reads.filter(({ startTime, responseEnd }) => startTime <= at && responseEnd > at);
      return Math.max(...reads.map(({ startTime }) => begunBefore(startTime).length));
    })()`);
    expect(maxAtOnce).toBeGreaterThan(0);
    expect(maxAtOnce).toBeLessThanOrEqual(4);
  });

  test.each(appearances)('is accessible and fits in $name', async (appearance) => {
    await wear(page, appearance);
    await page.locator('.spark path').first().waitFor();
    await picture(page, `dashboards-list-${appearance.name}`);
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
  });

  test('a Trainee is not led to the dashboard of a session in which they take no part', async () => {
    const trainee = await makePerson(api.url, token, 'Trainee');
    const { browser: other, page: tab } = await openBrowser(api.url);
    await signInAs(tab, `${api.url}/sessions/${sessionId}`, trainee);
    await tab.getByText('Only people who take part in the session see its dashboard.').waitFor();
    await tab.locator('.figures').waitFor();
    await expect.poll(() => tab.getByRole('link', { name: 'Open dashboard' }).count()).toBe(0);
    await expect.poll(() => tab.getByRole('alert').count()).toBe(0);
    const { body } = await ask(api.url, 'GET', `/api/v2/sessions/${sessionId}`, { token });
    expect(body.dimensions).toHaveLength(1);
    // A colleague's link leads there all the same.
    await tab.goto(`${api.url}/dashboards/${body.dimensions[0].id}`);
    await tab.getByText('or you do not take part in it').waitFor();
    expect([...browser.offences, ...other.offences]).toEqual([]);
    await other.close();
  });
});
