/** Downloads of outputs in the console. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { runnerStage } from '../../support/runner.ts';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { signInAs } from '../support/sign-in.ts';

// Nothing listens there: the browser depends on the platform alone.
const { api, chainOf, database, people, upload } = await runnerStage({
  S3_DOWNLOAD_ENDPOINT: 'http://127.0.0.1:9',
});

describeInBrowser('a large output', () => {
  let page: Page;
  const bytes = randomBytes(2 * 1024 * 1024);
  const dialogs: string[] = [];

  beforeAll(async () => {
    ({ page } = await openBrowser(api.url));
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.type());
      void dialog.dismiss();
    });
    const graph = await chainOf(1);
    await upload(graph, 'input', bytes, { 'x-platform-output-identifier': 'lap.bin' });
    await signInAs(page, `${api.url}/sessions/${graph.sessionId}?tab=files`, people.Developer);
  });

  const press = () => page.getByRole('button', { name: 'Download lap.bin' }).click();

  test('is downloaded without a question while the page has something to lose', async () => {
    await page.evaluate(`addEventListener('beforeunload', (event) => event.preventDefault())`);
    const downloading = page.waitForEvent('download');
    await press();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('lap.bin');
    expect(readFileSync(await download.path()).equals(bytes)).toBe(true);
    expect(dialogs).toEqual([]);
  });

  test('shows that it could not be downloaded when its bytes are lost, and the page stays', async () => {
    const before = page.url();
    await database.query(
      `update node_output set object_key = 'outputs/none' where output_identifier = 'lap.bin'`,
    );
    await press();
    await page.getByText('lap.bin could not be downloaded').waitFor();
    expect(page.url()).toBe(before);
  });
});
