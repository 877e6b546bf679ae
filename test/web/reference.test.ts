import { beforeAll, expect, test } from 'vitest';
import { startedApi } from '../support/api.ts';
import { describeInBrowser, openBrowser, picture, type TestBrowser } from './support/browser.ts';

const { api } = await startedApi();

describeInBrowser('the page of the reference', () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    ({ browser } = await openBrowser(api.url));
  });

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
