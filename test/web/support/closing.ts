/** Whether the browser asks before the page is left. */
import type { Dialog, Page } from 'playwright-core';
import { expect } from 'vitest';

/** The page stays. */
export async function asksBeforeReload(page: Page): Promise<void> {
  const asks = page.waitForEvent('dialog');
  // The page waits for the answer.
  const asked = page.evaluate('window.location.reload()');
  const dialog = await asks;
  expect(dialog.type()).toBe('beforeunload');
  await dialog.dismiss();
  await asked;
}

export async function reloadsUnasked(page: Page): Promise<void> {
  const asked: string[] = [];
  const accept = (dialog: Dialog) => {
    asked.push(dialog.type());
    return dialog.accept();
  };
  page.on('dialog', accept);
  await page.reload();
  page.off('dialog', accept);
  expect(asked).toEqual([]);
}
