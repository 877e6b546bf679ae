/**
 * Every page of the console as people see it: in both colour schemes and on a phone, without faults that axe finds and
 * without sideways scrolling. With `PICTURES=true` the pictures stay in test-results/web, for review.
 */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { runnerStage } from '../support/runner.ts';
import { testWorkflows } from '../support/workflows.ts';
import { faultsInAllAppearances } from './support/all-appearances.ts';
import { appearances, wear } from './support/axe.ts';
import { describeInBrowser, goWithin, openBrowser, picture, type TestBrowser } from './support/browser.ts';
import { pages } from './support/pages-shown.ts';
import { signInAs } from './support/sign-in.ts';
import { workTests } from './support/work.ts';
import { makeWorld, type World } from './support/world.ts';

const stage = await runnerStage({ TEMPORAL_UI_URL: 'http://127.0.0.1:8233' });
const workflows = await testWorkflows(stage.platform.environment);
const { api, people } = stage;

describeInBrowser('every page of the console', () => {
  let browser: TestBrowser;
  let page: Page;
  let world: World;

  beforeAll(async () => {
    world = await makeWorld(stage, workflows);
    ({ browser, page } = await openBrowser(api.url));
    await wear(page, appearances[0]!);
    await signInAs(page, `${api.url}/sessions`, people.Administrator);
  });

  test('sign-in', async () => {
    const stranger = await browser.newPage();
    await stranger.goto(api.url);
    await stranger.getByLabel('Username').waitFor();
    const faults = await faultsInAllAppearances(stranger, 'sign-in');
    await stranger.close();
    expect(faults).toEqual([]);
  });

  test.each(pages)(
    '$name',
    async ({ name, path, ready, open }) => {
      await wear(page, appearances[0]!);
      await goWithin(page, path(world));
      await page.locator(ready).first().waitFor();
      await open?.(page);
      expect(await faultsInAllAppearances(page, name)).toEqual([]);
    },
    90_000,
  );

  test('in the colours of the system what is chosen stands out, and the bars of runs keep their colours', async () => {
    await goWithin(page, `/sessions/${world.failedId}?tab=pipeline`);
    await page.locator('.waterfall-track .waterfall-failed').first().waitFor();
    await page.emulateMedia({ forcedColors: 'active' });
    await picture(page, 'look-forced-colours');
    const ground = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).backgroundColor`);
    const differ = async (one: string, other: string) =>
      expect(await ground(one), one).not.toBe(await ground(other));
    await differ('.sidebar a[aria-current]', '.sidebar a:not([aria-current])');
    await differ('.tab[aria-selected="true"]', '.tab[aria-selected="false"]');
    await differ('.button[aria-pressed="true"]', '.button[aria-pressed="false"]');
    await differ('.waterfall-track .waterfall-failed', '.waterfall-track');
    await goWithin(page, '/');
    const count = '.tab[aria-current] .tab-count';
    await page.locator(count).waitFor();
    const ink = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).color`);
    expect(await ink(count)).toBe(await ink('.tab[aria-current]'));
    await page.emulateMedia({ forcedColors: 'none' });
  });

  workTests(() => ({ stage, world, page, browser }));

  test('the first load stays small', () => {
    const dist = new URL('../../web/dist/', import.meta.url);
    const scripts = [
      ...readFileSync(new URL('index.html', dist), 'utf8').matchAll(/"\/(assets\/[^"]+\.js)"/g),
    ];
    const sizes = scripts.map(([, file]) => gzipSync(readFileSync(new URL(file!, dist))).length);
    expect(sizes.length).toBeGreaterThan(0);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(120 * 1024);
  });

  test('loads nothing from other hosts and violates no rule of the content security policy', () => {
    expect(browser.offences).toEqual([]);
  });
});
