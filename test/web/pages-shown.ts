/** Every page of the console with the text that stands on it when it is ready, and what is opened on it first. */
import type { Page } from 'playwright-core';
import type { World } from './world.ts';

export interface Shown {
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

export const pages: readonly Shown[] = [
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
      await click('Preview of simulator-3.csv')(page);
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
  { name: 'runners', path: () => '/runners', ready: 'text=Ended with code 1' },
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
