import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { testEnvironment } from '../support/stack.ts';
import { findChromium, picture, startBrowser, type TestBrowser } from './support/browser.ts';

const chromium = findChromium();
if (chromium === null)
  console.warn('skipped: the browser tests need Chromium, and there is none on this machine');
const platform = await testEnvironment();
let api: TestApi;
let browser: TestBrowser;

beforeAll(async () => {
  api = await startTestApi(platform.environment);
  if (chromium !== null) browser = await startBrowser(chromium, api.url);
});
afterAll(async () => {
  await browser?.close();
  await api.stop();
});

describe.skipIf(chromium === null)('the page of the reference', () => {
  test.each([
    ['desktop', 1440],
    ['phone', 390],
  ])(
    'is read without sideways scrolling and opens the route that is gone to, on a %s',
    async (name, width) => {
      const page = await browser.newPage();
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${api.url}/docs`);
      await picture(page, `reference-${name}`);
      await page.goto(`${api.url}/docs#joinSharedSession`);
      const body = page.getByText('"machineGroup": 7').first();
      await body.waitFor({ state: 'visible' });
      await picture(page, `reference-${name}-route`);
      // A schema that is named there opens as well.
      await page.getByRole('link', { name: 'SharedSessionRequest' }).first().click();
      await page.locator('#schema-SharedSessionRequest').waitFor({ state: 'visible' });
      expect(
        await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'),
      ).toBeLessThanOrEqual(0);
      expect(browser.offences).toEqual([]);
      await page.close();
    },
  );
});
