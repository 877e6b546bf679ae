/** Panels of a dashboard, as a person adds them. */
import type { Page } from 'playwright-core';

/** @param kind as the page names it, e.g. `Lines` */
export async function addPanel(page: Page, kind: string, channels: readonly string[]): Promise<void> {
  await page.getByRole('button', { name: 'Add panel', exact: true }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/^Type/).selectOption({ label: kind });
  // A track chooses its channels itself; a chosen channel has its place before its name.
  for (const name of channels)
    await dialog
      .getByRole('checkbox', { name: new RegExp(`^(\\d+\\. )?${name.replaceAll(/\W/g, '\\$&')}$`) })
      .check();
  await dialog.getByRole('button', { name: 'Add panel' }).click();
  await dialog.waitFor({ state: 'detached' });
}

/** One panel of each kind that draws a driven session. */
export async function addPanelsOfDrive(page: Page): Promise<void> {
  await addPanel(page, 'Track', ['latitude', 'longitude']);
  await addPanel(page, 'XY', ['speed', 'lapDistance']);
  await addPanel(page, 'Histogram', ['speed']);
  await addPanel(page, 'Table at the cursor', ['speed', 'lap']);
}

export async function addText(page: Page, text: string): Promise<void> {
  await page.getByRole('button', { name: 'Add panel', exact: true }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/^Type/).selectOption({ label: 'Text' });
  await dialog.locator('textarea').fill(text);
  await dialog.getByRole('button', { name: 'Add panel' }).click();
  await page.getByRole('note').last().waitFor();
}
