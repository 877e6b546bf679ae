/** Panels of a dashboard, as a person adds them. */
import type { Page } from 'playwright-core';

/** @param kind as the page names it, e.g. `Lines` */
export async function addPanel(page: Page, kind: string, channels: readonly string[]): Promise<void> {
  await page.getByRole('button', { name: 'Add panel', exact: true }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Kind').selectOption({ label: kind });
  for (const name of channels) await dialog.getByRole('checkbox', { name, exact: true }).check();
  await dialog.getByRole('button', { name: 'Add panel' }).click();
  await dialog.waitFor({ state: 'detached' });
}
