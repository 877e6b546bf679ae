/**
 * Every page of the console as people see it: in both colour schemes and on a phone, without faults that axe finds and
 * without sideways scrolling. The pictures stay in test-results/web, to be looked at.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runnerStage } from '../support/runner.ts';
import { testWorkflows } from '../support/workflows.ts';
import { accessibilityFaults, looks, wear } from './axe.ts';
import { buildConsole, findChromium, picture, startBrowser, type TestBrowser, tooWide } from './browser.ts';
import { signInAs } from './sign-in.ts';
import { makeWorld, type World } from './world.ts';

const program = findChromium();
if (program === null)
  console.warn('skipped: the browser tests need Chromium, and there is none on this machine');

const stage = await runnerStage({ TEMPORAL_UI_URL: 'http://127.0.0.1:8233' });
const workflows = await testWorkflows(stage.platform.environment);
const { api, people } = stage;

interface Shown {
  readonly name: string;
  readonly path: (world: World) => string;
  /** Stands on the page once everything on it is read. */
  readonly ready: string;
  /** What is opened on it first. */
  readonly open?: (page: Page) => Promise<unknown>;
}

const click = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first().click();
const filter = JSON.stringify({
  and: [
    { path: 'name', op: 'contains', value: 'Circuit' },
    {
      or: [
        { path: 'vehicle.speed', op: 'gte', value: 80 },
        { path: 'tags', op: 'contains', value: 'night' },
      ],
    },
  ],
});

const pages: readonly Shown[] = [
  { name: 'sessions', path: () => '/sessions', ready: 'text=29 sessions' },
  { name: 'sessions-none', path: () => '/sessions?search=nothing', ready: 'text=No session matches' },
  {
    name: 'query',
    path: () => `/sessions?query=${encodeURIComponent(filter)}&orderBy=-vehicle.speed`,
    ready: 'text=/\\d+ sessions/',
  },
  { name: 'new-session', path: () => '/sessions', ready: 'text=29 sessions', open: click('New session') },
  {
    name: 'session',
    path: (world) => `/sessions/${world.sharedId}`,
    ready: '.timeline-person >> nth=2',
  },
  {
    name: 'session-failed',
    path: (world) => `/sessions/${world.failedId}`,
    ready: '.details-failed >> nth=0',
  },
  {
    name: 'session-preview',
    path: (world) => `/sessions/${world.sharedId}?node=${world.inputNode}`,
    ready: 'text=simulator-3.csv',
    open: async (page) => {
      await click('Look into simulator-3.csv')(page);
      await page.getByRole('tab', { name: 'Chart' }).click();
      await page.locator('.preview-plot canvas').waitFor();
    },
  },
  {
    name: 'session-close',
    path: (world) => `/sessions/${world.sharedId}`,
    ready: '.node >> nth=2',
    open: (page) => page.getByRole('button', { name: 'Close', exact: true }).click(),
  },
  {
    name: 'shared-sessions',
    path: () => '/shared-sessions',
    ready: 'text=2 shared sessions',
    open: click(/Show participants of Formation approach/),
  },
  { name: 'dashboards', path: () => '/dashboards', ready: 'text=1 dashboard' },
  {
    name: 'dashboard',
    path: (world) => `/dashboards/${world.dashboardId}`,
    ready: '.chart[aria-busy="false"] .chart-plot:not([data-points="0"]) >> nth=2',
  },
  {
    name: 'dashboard-machines',
    path: (world) => `/dashboards/${world.dashboardId}?arrange=machines`,
    ready: '.chart[aria-busy="false"] .chart-plot:not([data-points="0"]) >> nth=8',
  },
  { name: 'projects', path: () => '/project-list', ready: 'text=Formation training' },
  {
    name: 'project-form',
    path: () => '/project-list',
    ready: 'text=Formation training',
    open: click('Change Formation training'),
  },
  {
    name: 'reports',
    path: () => '/reports',
    ready: 'h2:has-text("default")',
    open: async (page) => {
      await click(/^Preview of/)(page);
      await page.locator('.report-preview tbody tr').first().waitFor();
    },
  },
  {
    name: 'report-form',
    path: () => '/reports',
    ready: 'h2:has-text("default")',
    open: async (page) => {
      await click(/^Change /)(page);
      await page.locator('.report-row').nth(3).waitFor();
    },
  },
  { name: 'runners', path: () => '/runners', ready: 'text=Run by the platform' },
  { name: 'manifests', path: () => '/manifests', ready: 'text=lap-splitter' },
  {
    name: 'manifest-form',
    path: () => '/manifests',
    ready: 'text=lap-splitter',
    open: async (page) => {
      await click('Manifest of lap-tools')(page);
      await page.getByRole('button', { name: 'Check' }).click();
      await page.getByText('Nothing is wrong with the manifest').waitFor();
    },
  },
  { name: 'templates', path: () => '/templates', ready: '.node >> nth=2' },
  { name: 'ingests', path: () => '/ingests', ready: 'text=track-1/laps' },
  { name: 'configuration', path: () => '/configuration', ready: 'text=Features:compare' },
  { name: 'users', path: () => '/users', ready: 'text=instructor-' },
  { name: 'tokens', path: () => '/tokens', ready: 'text=Made by' },
];

describe.skipIf(program === null)('every page of the console', () => {
  let browser: TestBrowser;
  let page: Page;
  let world: World;

  beforeAll(async () => {
    await buildConsole();
    world = await makeWorld(stage, workflows);
    browser = await startBrowser(program!, api.url);
    page = await browser.newPage();
    page.setDefaultTimeout(30_000);
    await wear(page, looks[0]!);
  }, 240_000);
  afterAll(async () => await browser?.close());

  test('sign-in', async () => {
    await page.goto(api.url);
    await page.getByLabel('Username').waitFor();
    const faults: string[] = [];
    for (const look of looks) faults.push(...(await lookedAt('sign-in', look)));
    await wear(page, looks[0]!);
    await signInAs(page, `${api.url}/sessions`, people.Administrator);
    expect(faults).toEqual([]);
  }, 60_000);

  test.each(pages)(
    '$name',
    async ({ name, path, ready, open }) => {
      await wear(page, looks[0]!);
      await page.goto(api.url + path(world));
      await page.locator(ready).first().waitFor();
      await open?.(page);
      const faults: string[] = [];
      for (const look of looks) faults.push(...(await lookedAt(name, look)));
      expect(faults).toEqual([]);
    },
    90_000,
  );

  test('asks nothing from outside and breaks no rule of the content security policy', () => {
    expect(browser.offences).toEqual([]);
  });

  async function lookedAt(name: string, look: (typeof looks)[number]): Promise<string[]> {
    await wear(page, look);
    await picture(page, `look-${name}-${look.name}`);
    const wide = await tooWide(page);
    // The width changes nothing that axe judges but for what is hidden; each scheme has colours of its own.
    const faults = await accessibilityFaults(page);
    return [...wide, ...faults].map((fault) => `${look.name}: ${fault}`);
  }
});
