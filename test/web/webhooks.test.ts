/** The page of webhooks, in a real browser, with a real receiver. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answerWith, type Receiver, startReceiver } from '../api/webhooks/receiver.ts';
import { ask } from '../support/api.ts';
import { runnerStage } from '../support/runner.ts';
import { testWorkflows } from '../support/workflows.ts';
import { describeInBrowser, openBrowser, picture, type TestBrowser } from './support/browser.ts';
import { signInAs } from './support/sign-in.ts';

const stage = await runnerStage();
const { api, people, platform } = stage;
const temporal = await testWorkflows({ ...platform.environment, WEBHOOK_ALLOWLIST: '127.0.0.1' });

describeInBrowser('the page of webhooks', () => {
  let browser: TestBrowser;
  let page: Page;
  let receiver: Receiver;

  beforeAll(async () => {
    receiver = await startReceiver();
    await temporal.startWorker('workflows');
    ({ browser, page } = await openBrowser(api.url));
    await signInAs(page, `${api.url}/webhooks`, people.Developer);
  });
  const call = (method: string, path: string) =>
    ask(api.url, method, `/api/v2/admin/webhooks${path}`, { token: people.Developer.token });
  afterAll(async () => {
    await receiver?.stop();
  });

  test('a webhook is created, tested, seen with its attempts, and delivered again', async () => {
    await page.getByText('No webhooks yet').waitFor();
    await page.getByRole('button', { name: 'New webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Address').fill(receiver.url);
    await dialog.getByLabel('An output is published').check();
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    await dialog.getByText('It is shown only once').waitFor();
    receiver.secret = await dialog.getByLabel('The value').inputValue();
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    // The list has the words of the form.
    await page.getByText('A session has finished its work, a node fails, an output is published').waitFor();
    await page.getByText('Deliveries', { exact: true }).click();
    receiver.answer = answerWith(500);
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByText('The receiver answered with status 500.').waitFor();
    await picture(page, 'webhook-failing');
    receiver.answer = answerWith(200);
    await page.getByRole('button', { name: /^Redeliver webhook.test/ }).click();
    await page.getByText('Delivered', { exact: true }).waitFor();
    expect(receiver.received.every(({ isGenuine, type }) => isGenuine && type === 'webhook.test')).toBe(true);
    await page.getByRole('button', { name: /^Show webhook.test/ }).click();
    // The next attempt may have come by itself, too.
    await dialog
      .getByText(/answered with status 200/)
      .first()
      .waitFor();
    await picture(page, 'webhook-delivery');
    await page.keyboard.press('Escape');
    expect(browser.offences).toEqual([]);
  });

  test('a delivery that newer ones push off the page stays open', async () => {
    const show = page.getByRole('button', { name: /^Show webhook.test/ });
    const first = (await show.first().getAttribute('aria-label'))!;
    await show.first().click();
    const [webhook] = (await call('GET', '')).body;
    for (let sent = 0; sent < 25; sent += 1) await call('POST', `/${webhook.id}/test`);
    await page.locator(`[aria-label="${first}"]`).waitFor({ state: 'detached' });
    await page.getByRole('dialog').getByText(first.split(' ').at(-1)!).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  test('a delivery that waits for an earlier one of its session says so', async () => {
    receiver.answer = answerWith(500);
    const graph = await stage.chainOf(1);
    for (const lap of ['1', '2']) await stage.upload(graph, 'input', lap);
    await page.getByRole('cell', { name: 'waits for an earlier one of its session' }).first().waitFor();
  });

  test('a webhook that its receiver refuses for good says that it is disabled, and why', async () => {
    receiver.answer = answerWith(410);
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByText('disabled: The receiver answered with status 410.').waitFor();
  });
});
