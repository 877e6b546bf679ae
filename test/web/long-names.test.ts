/** Names as people really write them: 200 characters without a space, and letters that turn the order of reading. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ask } from '../support/api.ts';
import { accessibilityFaults } from './support/axe.ts';
import { describeInBrowser, goWithin, openBrowser, picture, tooWide } from './support/browser.ts';
import { type DriveSession, driveSession } from './support/drive.ts';
import { addPanel } from './support/panels.ts';
import { wholePlatform } from './support/platform.ts';
import { signInAs } from './support/sign-in.ts';

const { api, administrator, token } = await wholePlatform();

const long = (word: string) => `${word}_without_any_space_`.repeat(20).slice(0, 200);
const session = long('Session');
const channel = long('Channel');

interface Place {
  readonly path: string;
  readonly ready: string;
  /** A button that opens a window over the page, and what that shows in the end. */
  readonly opens?: readonly [button: string, shows: string];
}

describeInBrowser('long names', () => {
  let page: Page;
  let drive: DriveSession;
  let templateId: number;

  beforeAll(async () => {
    drive = await driveSession(api.url, token, { project: long('Project'), name: session, speed: channel });
    await driveSession(api.url, token, { project: drive.projectId, name: long('Other'), speed: channel });
    const described = await ask(api.url, 'PUT', `/projects/${drive.projectId}`, {
      token,
      json: { Title: long('Project'), Description: long('Description') },
    });
    expect(described.status, JSON.stringify(described.body)).toBeLessThan(300);
    const noted = await ask(api.url, 'POST', `/api/v2/session/${drive.sessionId}/annotations`, {
      token,
      json: {
        from: '2026-03-14T09:30:10.000Z',
        label: long('Label'),
        text: long('Text'),
        tags: [long('Tag').slice(0, 60)],
      },
    });
    expect(noted.status, JSON.stringify(noted.body)).toBe(201);
    const made = await ask(api.url, 'POST', '/api/v2/admin/session-templates', {
      token,
      json: {
        TemplateVersion: '1',
        Name: long('Template'),
        Description: long('Description'),
        Configuration: {},
        Nodes: [
          {
            Name: long('Node').slice(0, 100),
            NodeTemplateName: 'input-node',
            DefaultConfiguration: { dataSourceName: 'platform' },
            Parents: [],
          },
        ],
      },
    });
    expect(made.status, JSON.stringify(made.body)).toBeLessThan(300);
    const { body } = await ask(api.url, 'GET', '/api/v2/session/session_templates', { token });
    templateId = body.find(({ name }: { name: string }) => name === long('Template')).id;
    ({ page } = await openBrowser(api.url));
    await signInAs(page, `${api.url}/sessions`, administrator);
  });

  const places = (): Place[] => [
    { path: '/sessions', ready: 'text=2 sessions' },
    { path: '/sessions?query=', ready: 'text=2 sessions' },
    ...['overview', 'pipeline', 'files', 'logs'].map((tab) => ({
      path: `/sessions/${drive.sessionId}?tab=${tab}`,
      ready: tab === 'overview' ? '.thumbnail' : 'text=Open dashboard',
    })),
    { path: '/dashboards', ready: 'text=2 dashboards' },
    { path: `/dashboards/${drive.dashboardId}`, ready: '.annotation' },
    {
      path: `/dashboards/${drive.dashboardId}`,
      ready: '.chart canvas >> nth=0',
      opens: ['Add session', '.add-session-entry'],
    },
    {
      path: `/dashboards/${drive.dashboardId}`,
      ready: '.chart canvas >> nth=0',
      opens: ['Add panel', '.panel-channels label'],
    },
    { path: `/compare?dashboards=${drive.dashboardId}`, ready: '.chart canvas >> nth=0' },
    { path: '/project-list', ready: 'tbody tr >> nth=0' },
    { path: `/project-list/${drive.projectId}`, ready: '.project-trend circle >> nth=1' },
    { path: '/templates', ready: 'text=Template_without >> nth=0' },
    { path: `/templates/${templateId}`, ready: 'text=This is the first version' },
    { path: '/shared-sessions', ready: 'text=No shared sessions yet' },
    { path: '/runs', ready: 'tbody tr >> nth=0' },
    { path: '/storage', ready: '.storage-share >> nth=0' },
    { path: '/audit', ready: 'tbody tr >> nth=0' },
    { path: '/ingests', ready: 'text=New ingest >> nth=0', opens: ['New ingest', 'select'] },
  ];

  test('widen no page, no table and no window over a page', async () => {
    const faults: string[] = [];
    // One page is seen on a desk, in a window beside another and on a tablet; a phone opens it anew.
    for (const [first, ...others] of [[1440, 1100, 720], [390]] as const) {
      for (const place of places()) {
        await page.setViewportSize({ width: first, height: 900 });
        await goWithin(page, place.path);
        await page.locator(place.ready).first().waitFor();
        if (place.opens !== undefined) {
          await page.getByRole('button', { name: place.opens[0], exact: true }).click();
          await page.locator('dialog[open]').locator(place.opens[1]).first().waitFor();
        }
        for (const width of [first, ...others]) {
          await page.setViewportSize({ width, height: 900 });
          const name = `${width} ${place.path} ${place.opens?.[0] ?? ''}`;
          await picture(page, `long-${name.replaceAll(/\W+/g, '-')}`);
          const found = [...(await tooWide(page)), ...(await scrolled(page))];
          faults.push(...found.map((fault) => `${name}: ${fault}`));
        }
        await page.keyboard.press('Escape');
      }
    }
    expect(faults).toEqual([]);
  });

  test('leave links and signs as large as a finger needs on a phone', async () => {
    const small: string[] = [];
    for (const [width, path, ready] of [
      [390, `/sessions/${drive.sessionId}?tab=files`, 'tbody tr'],
      [768, `/dashboards/${drive.dashboardId}`, '.chart-plot:not([data-points="0"])'],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await goWithin(page, path);
      await page.locator(ready).first().waitFor();
      const faults = await accessibilityFaults(page, 'every');
      small.push(...faults.filter((fault) => fault.startsWith('target-size')));
    }
    expect(small).toEqual([]);
  });

  test('leave the choices of a comparison beside each other', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await goWithin(page, `/compare?dashboards=${drive.dashboardId}`);
    await page.locator('.chart canvas').first().waitFor();
    const places = await page
      .locator('.compare-row')
      .evaluate((row) =>
        [...row.querySelectorAll('select, button')].map((one) => one.getBoundingClientRect().top),
      );
    expect(places).toHaveLength(5);
    expect(Math.max(...places) - Math.min(...places)).toBeLessThan(8);
  });

  test('leave the value and what hides the curve beside the switches of a chart, and no chart moves when a value comes', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await goWithin(page, `/dashboards/${drive.dashboardId}`);
    const head = page.locator('.chart-head', { hasText: channel }).first();
    const heights = () =>
      page.evaluate(
        `[...document.querySelectorAll('.chart-head')].map((one) => one.getBoundingClientRect().height)`,
      );
    await page.locator('.chart[aria-busy="false"] .chart-plot:not([data-points="0"])').nth(1).waitFor();
    const before = await heights();
    await page.locator('.chart-plot').first().hover();
    await head.locator('.legend-value', { hasText: /\d/ }).waitFor();
    await expect.poll(() => heights()).toEqual(before);
    const tools = (await head.locator('.chart-tools').boundingBox())!;
    for (const part of ['.legend-value', '.legend-remove']) {
      const box = (await head.locator(part).boundingBox())!;
      expect(box.x + box.width, part).toBeLessThanOrEqual(tools.x);
    }
  });

  test('stay within the panels of a layout, and leave the legend of a chart some width', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await goWithin(page, `/dashboards/${drive.dashboardId}`);
    await page.locator('.chart canvas').first().waitFor();
    await addPanel(page, 'Lines', [channel, 'latitude']);
    await addPanel(page, 'Table at the cursor', [channel]);
    const name = page.locator('.chart-head .legend-name', { hasText: channel });
    await name.waitFor();
    expect((await name.boundingBox())!.width).toBeGreaterThan(120);
    const faults = [...(await tooWide(page)), ...(await scrolled(page))];
    // The traces are named below the chart.
    await page.getByLabel('Split by').selectOption('lap');
    await page.locator('.plot-key', { hasText: channel }).first().waitFor();
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await picture(page, `long-panels-${width}`);
      faults.push(...(await tooWide(page)), ...(await scrolled(page)));
    }
    expect(faults).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('are read in full where they are cut, and do not turn the sentence that asks before a deletion', async () => {
    const turning = 'stint \u202egnp.exe';
    const { status } = await ask(api.url, 'POST', '/session', {
      token,
      json: { ProjectId: drive.projectId, SessionTemplateId: templateId, Name: turning },
    });
    expect(status).toBe(201);
    await goWithin(page, '/sessions');
    const row = page.getByRole('row', { name: session });
    await expect
      .poll(() => row.locator('.row-link').getAttribute('title'))
      .toMatch(new RegExp(`^${session}\nTable to dashboard\nCreated \\d`));
    await expect.poll(() => row.getByText(long('Project')).getAttribute('title')).toBe(long('Project'));
    await goWithin(page, '/dashboards');
    const listed = page.getByRole('row', { name: session });
    await expect
      .poll(() => listed.locator('.row-link').getAttribute('title'))
      .toMatch(new RegExp(`^${session}\n${long('Project')}\nUpdated \\d`));
    expect((await listed.locator('.cut').boundingBox())!.width).toBeLessThan(300);
    await goWithin(page, '/sessions');
    const offered = page.getByLabel('Template').locator('option', { hasText: 'Table to dashboard' });
    await offered.waitFor({ state: 'attached' });
    await page.getByRole('row', { name: 'stint' }).getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Delete' }).click();
    const asked = page.getByRole('dialog');
    await asked.getByText(/is deleted with all outputs/).waitFor();
    expect(await asked.locator('bdi').allTextContents()).toEqual([turning]);
    await picture(page, 'long-delete');
    await page.keyboard.press('Escape');
  });
});

/** What scrolls sideways within the page. */
async function scrolled(page: Page): Promise<string[]> {
  return (await page.evaluate(`[...document.querySelectorAll('.table-frame, dialog[open], dialog[open] fieldset, .chart')]
    .filter((element) => element.scrollWidth > element.clientWidth + 1)
    .map((element) => element.className + ' of ' + element.scrollWidth + ' in ' + element.clientWidth)`)) as string[];
}
