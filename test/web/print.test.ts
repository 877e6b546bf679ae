/** What people put on paper, or send as PDF, in a real browser. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { describeInBrowser, openBrowser, type TestBrowser, tooWide } from './support/browser.ts';
import { type DriveSession, driveSession } from './support/drive.ts';
import { wholePlatform } from './support/platform.ts';
import { signInAs } from './support/sign-in.ts';

const { api, administrator, token } = await wholePlatform();
const charts = '.chart[aria-busy="false"] .chart-plot:not([data-points="0"])';

describeInBrowser('a page on paper', () => {
  let browser: TestBrowser;
  let page: Page;
  let drive: DriveSession;

  beforeAll(async () => {
    drive = await driveSession(api.url, token, { project: 'Red ring', name: 'Car 44' });
    ({ browser, page } = await openBrowser(api.url, { colorScheme: 'dark' }));
    await signInAs(page, `${api.url}/dashboards/${drive.dashboardId}`, administrator);
    await page.locator(charts).first().waitFor();
  });
  /** Colours of the first chart with more than a hundred pixels. */
  const coloursOf = `(() => {
    const canvas = document.querySelector('.chart canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const counts = new Map();
    for (let at = 0; at < data.length; at += 4) {
      const colour = [data[at], data[at + 1], data[at + 2]].join();
      if (data[at + 3] === 255) counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
    return [...counts].filter(([, count]) => count > 100).map(([colour]) => colour);
  })()`;
  const light = '11,122,148';
  const dark = '76,195,222';

  /** Sheets of A4. */
  async function printed(): Promise<number> {
    const session = await page.context().newCDPSession(page);
    const { data } = await session.send('Page.printToPDF', { paperWidth: 8.27, paperHeight: 11.69 });
    return (
      Buffer.from(data, 'base64')
        .toString('latin1')
        .match(/\/Type\s*\/Page\b/g)?.length ?? 0
    );
  }

  const visible = (selector: string) =>
    page.locator(selector).evaluateAll((found) => found.filter((one) => one.checkVisibility()).length);

  test('has its charts in light colours, whole, and the screen keeps the dark ones', async () => {
    await expect.poll(() => page.evaluate<string[]>(coloursOf)).toContain(dark);
    // Firefox prints before any microtask of the event, and has the light scheme of paper until after the last one.
    const [paper, screen] = await page.evaluate<string[][]>(`(() => {
      const matches = Object.getOwnPropertyDescriptor(MediaQueryList.prototype, 'matches');
      Object.defineProperty(MediaQueryList.prototype, 'matches', { ...matches, get: () => false });
      try {
        return ['beforeprint', 'afterprint'].map((moment) => {
          dispatchEvent(new Event(moment));
          return ${coloursOf};
        });
      } finally {
        Object.defineProperty(MediaQueryList.prototype, 'matches', matches);
      }
    })()`);
    expect(paper).toContain(light);
    expect(paper).not.toContain(dark);
    expect(screen).toContain(dark);
    expect(await printed()).toBe(2);
    const after = await page.evaluate<string[]>(coloursOf);
    expect(after).toContain(dark);
    expect(after).not.toContain(light);
  });

  test('of a session has the highest values of its recording', async () => {
    await page.goto(`${api.url}/sessions/${drive.sessionId}`);
    const figures = page.locator('.figures');
    for (const text of ['Highest speed', '259 km/h', '3,600 rows', '3:00'])
      await figures.getByText(text).waitFor();
    await expect.poll(() => figures.getByText('latitude').count()).toBe(0);
  });

  test('has nothing to press, and fits the sheet', async () => {
    for (const path of [
      `/dashboards/${drive.dashboardId}`,
      `/dashboards/${drive.dashboardId}?layout=none`,
      `/compare?dashboards=${drive.dashboardId}&statistics=true`,
      `/sessions/${drive.sessionId}`,
    ]) {
      await page.emulateMedia({ media: 'screen' });
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(api.url + path);
      const content = path.startsWith('/sessions') ? '.thumbnail' : charts;
      await page.locator(content).first().waitFor();
      await page.emulateMedia({ media: 'print' });
      await page.setViewportSize({ width: 700, height: 1000 });
      expect(await visible('.button, .menu, select, .topbar, .sidebar, [role=tablist]'), path).toBe(0);
      expect(await visible(content), path).toBeGreaterThan(0);
      expect(await visible('h1'), path).toBe(1);
      expect(await tooWide(page), path).toEqual([]);
      expect(await printed(), path).toBeLessThanOrEqual(3);
    }
  });

  test('of a report has all of its columns, and that of a pipeline the bars of its runs', async () => {
    const shown = async (path: string, content: string, open?: string) => {
      await page.emulateMedia({ media: 'screen' });
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(api.url + path);
      if (open !== undefined) await page.getByRole('button', { name: open }).click();
      await page.locator(content).first().waitFor();
      await page.emulateMedia({ media: 'print' });
      await page.setViewportSize({ width: 700, height: 1000 });
    };
    await shown('/reports', '.grid-table td', 'Preview of Session list');
    const cut = () =>
      page.evaluate(`(() => {
        const { right } = document.querySelector('.preview-frame').getBoundingClientRect();
        const cells = [...document.querySelectorAll('.grid-table th')];
        return cells.filter((cell) => cell.getBoundingClientRect().right > right + 1).length;
      })()`);
    await expect.poll(cut).toBe(0);
    await shown(`/sessions/${drive.sessionId}?tab=pipeline`, '.waterfall-done');
    const outside = `(() => {
      const { left, right } = document.querySelector('.graph').getBoundingClientRect();
      const nodes = [...document.querySelectorAll('.node')].map((node) => node.getBoundingClientRect());
      return nodes.filter((node) => node.left < left || node.right > Math.min(right, innerWidth)).length;
    })()`;
    await expect.poll(() => page.evaluate(outside)).toBe(0);
    expect(await visible('.node')).toBe(3);
    const adjust = `getComputedStyle(document.querySelector('.waterfall-done')).printColorAdjust`;
    await expect.poll(() => page.evaluate(adjust)).toBe('exact');
    expect(browser.offences).toEqual([]);
  });
});
