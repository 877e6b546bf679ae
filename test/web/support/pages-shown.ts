/** Every page of the console with the text that shows when it is ready, and what is opened on it first. */
import type { Page } from 'playwright-core';
import { chooseAction } from './open-page.ts';
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
    ready: '.session-failure',
  },
  {
    name: 'session-pipeline',
    path: (world) => `/sessions/${world.sharedId}?tab=pipeline`,
    ready: '.waterfall >> nth=0',
  },
  {
    name: 'session-pipeline-list',
    path: (world) => `/sessions/${world.sharedId}?tab=pipeline&view=list`,
    ready: '.node-list tr >> nth=3',
  },
  {
    name: 'session-pipeline-failed',
    path: (world) => `/sessions/${world.failedId}?tab=pipeline`,
    ready: '.details-failed >> nth=0',
  },
  {
    name: 'session-files',
    path: (world) => `/sessions/${world.sharedId}?tab=files`,
    ready: 'text=simulator-3.csv, recording',
  },
  {
    name: 'session-logs',
    path: (world) => `/sessions/${world.sharedId}?tab=logs`,
    ready: '.log-line >> nth=0',
  },
  {
    name: 'session-menu',
    path: (world) => `/sessions/${world.sharedId}`,
    ready: '.thumbnail >> nth=0',
    open: click('More actions'),
  },
  {
    name: 'session-freeze',
    path: (world) => `/sessions/${world.sharedId}`,
    ready: '.thumbnail >> nth=0',
    open: (page) => chooseAction(page, 'Freeze'),
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
    ready: '.thumbnail >> nth=0',
    open: (page) => chooseAction(page, 'Close'),
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
  {
    name: 'webhooks',
    path: () => '/webhooks',
    ready: 'text=https://hooks.example.org/platform',
    open: async (page) => {
      await page.getByText('Deliveries', { exact: true }).click();
      await page.getByText('No deliveries yet').waitFor();
    },
  },
  {
    name: 'webhook-form',
    path: () => '/webhooks',
    ready: 'text=hooks.example.org',
    open: click('New webhook'),
  },
  { name: 'projects', path: () => '/project-list', ready: 'text=Formation training' },
  {
    name: 'project-form',
    path: () => '/project-list',
    ready: 'text=Formation training',
    open: click('Edit Formation training'),
  },
  {
    name: 'project',
    path: (world) => `/project-list/${world.projectId}`,
    ready: '.project-trend circle >> nth=20',
    open: async (page) => {
      await page.getByText('Newest files of its sessions').click();
      await page.getByText('simulator-3.csv, recording').waitFor();
    },
  },
  { name: 'storage', path: () => '/storage', ready: '.storage-share >> nth=1' },
  { name: 'audit', path: () => '/audit', ready: 'text=Create session >> nth=3' },
  { name: 'retention', path: () => '/retention', ready: 'text=Last runs' },
  { name: 'compare-none', path: () => '/compare', ready: 'text=Nothing to compare yet' },
  {
    name: 'compare',
    path: (world) => `/compare?dashboards=${world.dashboardId}&difference=true&statistics=true`,
    ready: '.chart[aria-busy="false"] .chart-plot:not([data-points="0"]) >> nth=3',
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
      await click(/^Edit /)(page);
      await page.locator('.report-preview tbody tr').first().waitFor();
      await page.getByText('Advanced: expressions, order, filters').click();
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
      await page.getByText('The manifest is valid').waitFor();
    },
  },
  { name: 'templates', path: () => '/templates', ready: '.node >> nth=2' },
  {
    name: 'template',
    path: (world) => `/templates/${world.templateId}`,
    ready: 'text=This is the first version',
  },
  {
    name: 'template-new-version',
    path: (world) => `/templates/${world.templateId}`,
    ready: 'text=This is the first version',
    open: async (page) => {
      await click('New version')(page);
      await page.getByLabel('Definition', { exact: true }).waitFor();
    },
  },
  { name: 'ingests', path: () => '/ingests', ready: 'text=track-1/laps' },
  { name: 'configuration', path: () => '/configuration', ready: 'text=Features:compare' },
  { name: 'users', path: () => '/users', ready: 'text=instructor-' },
  { name: 'tokens', path: () => '/tokens', ready: 'text=Created by' },
];
