/** Downloads of outputs in the console, whose bytes the object store sends. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, expect, inject, test } from 'vitest';
import { openGate } from '../../support/network/gate.ts';
import { runnerStage } from '../../support/runner.ts';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { signInAs } from '../support/sign-in.ts';

const store = await openGate(inject('stackEnvironment').S3_ENDPOINT ?? '');
const { api, chainOf, people, upload } = await runnerStage({ S3_DOWNLOAD_ENDPOINT: store.url });

describeInBrowser('a large output that the store sends', () => {
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

  test('shows that it could not be downloaded when the store cannot be reached, and stays on the page', async () => {
    const before = page.url();
    store.set({ kind: 'shut' });
    await press();
    await page.getByText('lap.bin could not be downloaded').waitFor();
    expect(page.url()).toBe(before);
  });
});
