/** Long files in the console: paused, broken off and gone on with after a reload of the page. */
import { createHash, randomBytes } from 'node:crypto';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { openGate } from '../support/network/gate.ts';
import { runnerStage, type StageGraph } from '../support/runner.ts';
import { accessibilityFaults, appearances, wear } from './support/axe.ts';
import { describeInBrowser, openBrowser, picture, tooWide } from './support/browser.ts';
import { signInAs } from './support/sign-in.ts';

const stage = await runnerStage();
const { api, people } = stage;
const gate = await openGate(api.url);
const folder = mkdtempSync(join(tmpdir(), 'sdp-uploads-'));
afterAll(async () => {
  await gate.close();
  rmSync(folder, { recursive: true });
});
const slowly = { kind: 'slow', latencyMs: [0, 1], bytesPerSecond: 6 * 1024 * 1024 } as const;

describeInBrowser('a file that is uploaded in the console', () => {
  let page: Page;
  let graph: StageGraph;
  const file = join(folder, 'long recording.bin');
  const bytes = randomBytes(48 * 1024 * 1024);
  const begun: string[] = [];

  beforeAll(async () => {
    ({ page } = await openBrowser(gate.url));
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/uploads')) begun.push(request.url());
    });
    graph = await stage.chainOf(1);
    writeFileSync(file, bytes);
    await signInAs(page, `${gate.url}/sessions/${graph.sessionId}`, people.Developer);
  });

  const list = () => page.getByRole('list', { name: 'Uploads' });
  const choose = () => page.locator('input[type=file]').first().setInputFiles(file);

  const sentBytes = async () =>
    Number(await page.locator('.upload-item progress').first().getAttribute('value'));

  test('shows its progress, pauses and goes on', async () => {
    gate.set(slowly);
    await choose();
    await expect.poll(sentBytes).toBeGreaterThan(1_000_000);
    await page.getByRole('button', { name: 'Pause: long recording.bin' }).click();
    await list()
      .getByText(/, paused/)
      .waitFor();
    for (const look of [...appearances, { name: 'phone', colorScheme: 'light', width: 390 } as const]) {
      await wear(page, look);
      await picture(page, `upload-paused-${look.name}`);
      const faults = [...(await tooWide(page)), ...(await accessibilityFaults(page, 'contrast'))];
      expect(faults).toEqual([]);
    }
    await wear(page, appearances[0]!);
    const sent = await sentBytes();
    await page.getByRole('button', { name: 'Resume: long recording.bin' }).click();
    await expect.poll(sentBytes).toBeGreaterThan(sent);
  });

  test('goes on by itself when the connection is back', async () => {
    gate.set({ kind: 'shut' });
    await list()
      .getByText(/The connection broke/)
      .waitFor();
    gate.set(slowly);
    await list()
      .getByText(/The connection broke/)
      .waitFor({ state: 'detached' });
  });

  test('after a reload the page names it, and the same file goes on where it was', async () => {
    await page.reload();
    await list()
      .getByText(/not finished: choose the file again/)
      .waitFor();
    await picture(page, 'upload-unfinished');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    gate.set({ kind: 'pass' });
    await choose();
    await list()
      .getByText(/, stored/)
      .waitFor();
    await expect.poll(() => page.locator('.upload-item').count()).toBe(1);
    expect(begun).toHaveLength(1);
    const outputs = await ask(api.url, 'GET', `/api/v2/node-instance/${graph.nodes.input}/outputs`, {
      token: people.adminToken,
    });
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(outputs.body).toMatchObject([
      { sizeBytes: bytes.length, sha256, metadata: { fileName: 'long recording.bin' } },
    ]);
    await page.reload();
    await page.getByRole('tab', { name: 'Overview' }).waitFor();
    await expect.poll(() => list().count()).toBe(0);
  });

  test('waits where its code cannot be fetched, holds up no other file, and goes on when it is resumed', async () => {
    const short = join(folder, 'short recording.bin');
    writeFileSync(short, 'short');
    const other = join(folder, 'other recording.bin');
    writeFileSync(other, randomBytes(17 * 1024 * 1024));
    await page.route('**/assets/send-pieces-*', (route) => route.abort());
    await page.locator('input[type=file]').first().setInputFiles([other, short]);
    await list()
      .getByText(/paused: The connection broke/)
      .waitFor();
    await list().getByText('5 B, stored').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Resume: other recording.bin' }).click();
    await list().getByText('17 MB, stored').waitFor();
    await page.reload();
    await page.getByRole('tab', { name: 'Overview' }).waitFor();
  });

  test('is stored although the person has gone to another page of the console, and so is the next', async () => {
    const names = ['first.csv', 'second.csv'];
    const files = names.map((name) => join(folder, name));
    for (const name of files) writeFileSync(name, 'time,speed\n0,1\n');
    const held = Promise.withResolvers<void>();
    await page.route('**/outputs/data', async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.locator('input[type=file]').first().setInputFiles(files);
    await list().getByText('second.csv').waitFor();
    await page.getByRole('link', { name: 'Dashboards', exact: true }).click();
    await page.getByRole('heading', { name: 'Dashboards' }).waitFor();
    held.resolve();
    const path = `/api/v2/node-instance/${graph.nodes.input}/outputs`;
    await eventually('both are stored', async () => {
      const { body } = await ask(api.url, 'GET', path, { token: people.adminToken });
      const stored = body.map(({ metadata }: { metadata: { fileName: string } }) => metadata.fileName);
      return names.every((name) => stored.includes(name));
    });
    await page.goBack();
    await expect
      .poll(() =>
        list()
          .getByText(/, stored$/)
          .count(),
      )
      .toBe(2);
    await page.goForward();
    await page.goBack();
    await page.getByRole('tab', { name: 'Overview' }).waitFor();
    await expect.poll(() => list().count()).toBe(0);
    await page.unrouteAll();
  });

  test('that was changed since it was chosen is given up, and the person learns why', async () => {
    const changed = join(folder, 'changed.bin');
    writeFileSync(changed, bytes.subarray(0, 20 * 1024 * 1024));
    gate.set({ kind: 'shut' });
    await page.locator('input[type=file]').first().setInputFiles(changed);
    await list()
      .getByText(/The connection broke/)
      .waitFor();
    appendFileSync(changed, 'more');
    gate.set({ kind: 'pass' });
    await list()
      .getByText(/can no longer be read/)
      .waitFor();
  });
});
