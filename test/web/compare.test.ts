/** A person's job in a real browser: drives of several sessions over each other. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ask } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { faultsInAllAppearances } from './support/all-appearances.ts';
import { accessibilityFaults, appearances, wear } from './support/axe.ts';
import { describeInBrowser, openBrowser, picture, type TestBrowser, tooWide } from './support/browser.ts';
import { wholePlatform } from './support/platform.ts';
import { rerunPair } from './support/reruns.ts';
import { signInAs } from './support/sign-in.ts';

const { api, administrator, token } = await wholePlatform();
const start = Date.UTC(2026, 2, 14, 9, 30);
const cars = ['Car 44', 'Car 16', ...Array.from({ length: 8 }, (_, index) => `Stint ${index + 1}`), 'Car 55'];

/** A hundred seconds at 10 Hz, an hour after the car before: each is 5 km/h faster than that one. */
function drive(car: number): string {
  const lines = Array.from({ length: 1001 }, (_, row) => {
    const time = new Date(start + car * 3_600_000 + row * 100).toISOString();
    return `${time},${(100 + 5 * car + 20 * Math.sin(row / 50)).toFixed(3)},${(row + (car % 2) * 100) % 400 < 200 ? 'soft' : 'hard'}`;
  });
  return `time,speed [km/h],tyre\n${lines.join('\n')}\n`;
}

/** Recordings without a time. */
const pulls = [200, 300].map(
  (rows) =>
    [
      `Pull of ${rows}`,
      `force [N]\n${Array.from({ length: rows }, (_, row) => 40 + (row % 30)).join('\n')}\n`,
    ] as const,
);

describeInBrowser('drives of several sessions', () => {
  let browser: TestBrowser;
  let page: Page;
  const sessions: string[] = [];
  const dashboards: number[] = [];

  const call = async (method: string, path: string, json?: unknown) => {
    const answer = await ask(api.url, method, path, { token, ...(json === undefined ? {} : { json }) });
    expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    return answer.body;
  };

  beforeAll(async () => {
    const project = await call('POST', '/projects', { Title: 'Test track' });
    const templates = await call('GET', '/api/v2/session/session_templates');
    const template = templates.find(
      ({ name }: { name: string }) => name === 'system-tabular-dashboard-autodetect-next',
    );
    const templateId = template.id as number;
    const files = [...cars.map((name, car) => [name, drive(car)] as const), ...pulls];
    for (const [Name, body] of files) {
      const session = await call('POST', '/session', {
        ProjectId: project.id,
        SessionTemplateId: templateId,
        Name,
      });
      sessions.push(session.id);
      const response = await fetch(
        `${api.url}/api/v2/node-instance/${session.nodeInstances[0].id}/outputs/data`,
        {
          method: 'POST',
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'text/csv',
            'x-platform-output-identifier': 'stint.csv',
          },
          body,
        },
      );
      expect(response.status).toBe(201);
    }
    for (const id of sessions) {
      const found = await eventually(
        'every session has its dashboard',
        async () => (await call('GET', `/api/v2/sessions/${id}`)).dimensions[0],
      );
      dashboards.push(found.id);
    }
    for (const [car, second] of [
      [0, 30],
      [1, 40],
    ] as const) {
      const from = new Date(start + car * 3_600_000 + second * 1000).toISOString();
      await call('POST', `/api/v2/session/${sessions[car]}/annotations`, { from, label: 'Apex' });
    }
    ({ browser, page } = await openBrowser(api.url));
    await signInAs(page, `${api.url}/sessions`, administrator);
  });
  const charts = '.chart[aria-busy="false"] .chart-plot:not([data-points="0"])';
  const drawn = (count: number) =>
    eventually(`${count} charts are drawn`, async () => (await page.locator(charts).count()) === count);
  const legend = () => page.locator('.chart').first().locator('.legend-name').allTextContents();
  const asked = (name: string) => new URL(page.url()).searchParams.get(name);

  test('are chosen in the list, compared by a key, and lie over each other from their starts, each in its colour', async () => {
    for (const name of ['Car 44', 'Car 16']) await page.getByLabel(`Choose ${name}`).check();
    const link = page.getByRole('link', { name: 'Compare' });
    const address = await link.getAttribute('href');
    await page.keyboard.press('c');
    await page.waitForURL((url) => url.pathname + url.search === address);
    await page.getByRole('heading', { level: 1, name: 'Compare 2 sessions' }).waitFor();
    await drawn(1);
    await expect.poll(async () => (await legend()).sort()).toEqual(['Car 16', 'Car 44']);
    await expect.poll(() => page.locator('.toolbar-span').textContent()).toBe('0:00.000 to 1:40.000');
    await expect.poll(() => page.locator('.channel').count()).toBe(2);
    await page.locator('.channel', { hasText: 'tyre' }).locator('input').check();
    await drawn(2);
    const first = await page.locator('.recording').first().locator('.swatch').getAttribute('class');
    const ofPanel = page.locator('.chart').first().locator('.swatch').first();
    await expect.poll(() => ofPanel.getAttribute('class')).toBe(first);
    await picture(page, 'compare-two');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
  });

  test('show their difference and their statistics side by side, and a click leads to the highest value', async () => {
    await page.goto(`${api.url}/compare?dashboards=${dashboards[0]},${dashboards[1]}`);
    await drawn(1);
    await page.getByRole('button', { name: 'Difference' }).click();
    await page.getByRole('heading', { name: 'speed − Car 44 [km/h]' }).waitFor();
    await drawn(2);
    await page.getByRole('button', { name: 'Statistics' }).click();
    const jump = page.getByRole('button', { name: 'max 125, speed of Car 16: put the cursor there' });
    await jump.click();
    const [car44, car16] = page.url().includes('a=') ? [120, 125] : [Number.NaN, Number.NaN];
    const marks = page.locator('.chart').first().locator('.legend-marks');
    await marks.filter({ hasText: `A ${car16}` }).waitFor();
    await marks.filter({ hasText: `A ${car44}` }).waitFor();
    await page.locator('.chart').nth(1).locator('.legend-marks', { hasText: 'A 5' }).waitFor();
    await picture(page, 'compare-difference');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
  });

  test('are moved by an offset that is typed or dragged, and the address shows it to a colleague', async () => {
    const offset = page.getByLabel('Offset of Car 16 in seconds');
    await offset.fill('2.5');
    await offset.press('Enter');
    await page.waitForURL(/offsets=/);
    expect(asked('offsets')).toBe(`${dashboards[1]}.1:2500`);
    await page
      .locator('.chart')
      .nth(1)
      .locator('.legend-marks', { hasText: 'A 5' })
      .waitFor({ state: 'detached' });
    const handle = (await page.locator('.recording').nth(1).locator('.recording-handle').boundingBox())!;
    await page.mouse.move(handle.x + handle.width / 2, handle.y + handle.height / 2);
    await page.mouse.down();
    await page.mouse.move(handle.x - 60, handle.y + 4, { steps: 8 });
    await page.mouse.up();
    const ms = Number(asked('offsets')?.split(':')[1]);
    expect(ms).toBeLessThan(0);
    const address = page.url();
    await page.goto('about:blank');
    await page.goto(address);
    await drawn(2);
    await expect.poll(() => offset.inputValue()).toBe(String(ms / 1000));
  });

  test('are aligned at an annotation of both, at a value of a step channel, or at the clock', async () => {
    await page.goto(`${api.url}/compare?dashboards=${dashboards[0]},${dashboards[1]}`);
    await drawn(1);
    await page.getByLabel('Align at').selectOption({ label: 'Annotation “Apex”' });
    await page.locator('.toolbar-span', { hasText: '−0:40.000 to 1:10.000' }).waitFor();
    await page.getByLabel('Align at').selectOption({ label: 'Value of tyre' });
    await page.getByRole('combobox', { name: 'Value', exact: true }).selectOption('hard');
    // Its first row is at 20 s of one, and at 10 s of the other.
    await page.locator('.toolbar-span', { hasText: '−0:20.000 to 1:30.000' }).waitFor();
    await drawn(1);
    expect(asked('align')).toBe('step:hard=tyre as text');
    await picture(page, 'compare-step');
    await page.reload();
    await page.locator('.toolbar-span', { hasText: '−0:20.000 to 1:30.000' }).waitFor();
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    await page.getByLabel('Align at').selectOption('clock');
    await page.locator('.toolbar-span', { hasText: '14 Mar 2026 09:30:00' }).waitFor();
    await drawn(1);
    expect(asked('align')).toBe('clock');
  });

  test('keep the value that is chosen as soon as it is offered', async () => {
    await page.goto(`${api.url}/compare?dashboards=${dashboards[0]},${dashboards[1]}`);
    await drawn(1);
    await page.evaluate(`
      const observer = new MutationObserver(() => {
        const hard = [...document.querySelectorAll('option')].find(({ value }) => value === 'hard');
        if (hard === undefined) return;
        observer.disconnect();
        hard.selected = true;
        hard.parentElement.dispatchEvent(new Event('change', { bubbles: true }));
      });
      observer.observe(document.body, { childList: true, subtree: true });
    `);
    await page.getByLabel('Align at').selectOption({ label: 'Value of tyre' });
    await page.locator('.toolbar-span', { hasText: '−0:20.000 to 1:30.000' }).waitFor();
    expect(asked('align')).toBe('step:hard=tyre as text');
  });

  test('without a time lie over each other by their rows, and are moved by rows', async () => {
    await page.goto(`${api.url}/compare?dashboards=${dashboards.slice(cars.length).join(',')}&a=50&b=120`);
    await drawn(1);
    await page.locator('.toolbar-span', { hasText: /^row 0 to row 299$/ }).waitFor();
    await expect
      .poll(() => page.locator('.cursor-time').allTextContents())
      .toEqual(['row 50', 'row 120', '70 rows']);
    const offset = page.getByLabel('Offset of Pull of 200 in rows');
    await offset.fill('150');
    await offset.press('Enter');
    await page.locator('.toolbar-span', { hasText: /^row 0 to row 349$/ }).waitFor();
    await expect.poll(() => offset.inputValue()).toBe('150');
  });

  test('lie at their starts where one has no date to align at the wall clock, and one by row numbers is named', async () => {
    await page.goto(`${api.url}/compare?dashboards=${dashboards[0]},${dashboards[1]}&align=clock`);
    await page.locator('.toolbar-span', { hasText: 'UTC' }).waitFor();
    await page.goto(`${api.url}/compare?dashboards=${dashboards[0]},${dashboards[cars.length]}&align=clock`);
    await page.locator('.toolbar-span', { hasText: /^0:00.000 to 1:40.000$/ }).waitFor();
    expect(asked('align')).toBeNull();
    await page.getByText('Without a time, so each row takes a millisecond: Pull of 200').waitFor();
  });

  test('are added on a dashboard and taken away, and the others keep their colours', async () => {
    await page.goto(`${api.url}/dashboards/${dashboards[0]}`);
    await page.getByRole('button', { name: 'Add session' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('searchbox').fill('Car 55');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    await dialog.getByRole('button', { name: /^Car 55/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Compare 2 sessions' }).waitFor();
    await drawn(1);
    const swatch = () =>
      page.locator('.recording', { hasText: 'Car 55' }).locator('.swatch').getAttribute('class');
    const before = await swatch();
    await page.getByRole('button', { name: 'Remove Car 44' }).click();
    await page.getByRole('heading', { level: 1, name: 'Compare 1 session' }).waitFor();
    await expect.poll(() => swatch()).toBe(before);
  });

  test('are compared without one that is gone, which is said and removed from the address', async () => {
    await page.goto(`${api.url}/compare?dashboards=${dashboards[0]},999999,${dashboards[1]}`);
    await page.getByRole('heading', { level: 1, name: 'Compare 2 sessions' }).waitFor();
    await drawn(1);
    await page.getByText('1 session is left out').waitFor();
    await page.getByRole('button', { name: 'Remove it' }).click();
    await page.getByText('1 session is left out').waitFor({ state: 'detached' });
    expect(asked('dashboards')).not.toContain('999999');
  });

  test('say what differs: metadata, a setting of a node, and the runner version of a rerun', async () => {
    const pair = await rerunPair(api.url, token, call);
    await page.goto(`${api.url}/compare?dashboards=${pair.dashboards.join(',')}`);
    await drawn(1);
    await page.getByText('What differs').focus();
    await page.locator('.what-differs > summary').press('Enter');
    const table = page.getByRole('table', { name: 'What differs between the sessions' });
    const row = (of: string, name: string) =>
      table
        .locator('tbody', { has: page.getByRole('rowheader', { name: of, exact: true }) })
        .getByRole('row', { name });
    const values = (of: string, name: string) => row(of, name).getByRole('cell').allTextContents();
    await expect.poll(() => values('Metadata', 'tyre')).toEqual(['soft', 'hard']);
    expect(await values('Recording', 'Channels')).toEqual(['gear', 'wing']);
    expect(await row('Node work', 'Configuration').count()).toBe(0);
    expect(await row('Metadata', 'car').count()).toBe(0);
    expect(await row('Node table', 'Newest output').count()).toBe(0);
    const path = `/api/v2/node-instance/${pair.works[1]}/configuration`;
    const changed = { configuration: { gate: { width: 4, side: 'left' } }, rerun: true };
    const headers = { 'if-match': '"1"' };
    expect((await ask(api.url, 'PUT', path, { token, json: changed, headers })).status).toBe(200);
    await pair.end('1.1.0');
    expect(asked('differs')).toBe('true');
    await page.reload();
    await expect.poll(() => values('Node work', 'Configuration gate.width')).toEqual(['3', '4']);
    expect(await values('Node work', 'Runner version')).toEqual(['lap-tools/1.0.0', 'lap-tools/1.1.0']);
    await page.getByText(/^\d+ other things are the same\.$/).waitFor();
    expect(await faultsInAllAppearances(page, 'compare-differs')).toEqual([]);
  });

  test('are ten at once, and more on request, in both schemes and on a phone', async () => {
    await page.goto(`${api.url}/compare?dashboards=${dashboards.slice(0, cars.length).join(',')}`);
    await page.getByRole('heading', { level: 1, name: 'Compare 11 sessions' }).waitFor();
    await drawn(1);
    await expect.poll(() => legend()).toHaveLength(10);
    await page.getByLabel('Car 55', { exact: true }).check();
    await page.locator('.chart .legend-name').nth(10).waitFor();
    await drawn(1);
    for (const look of appearances) {
      await wear(page, look);
      await picture(page, `compare-ten-${look.name}`);
      expect(await tooWide(page), look.name).toEqual([]);
      expect(await accessibilityFaults(page, look.name === 'light' ? 'every' : 'contrast')).toEqual([]);
    }
    expect(browser.offences).toEqual([]);
  });
});
