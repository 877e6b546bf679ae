/** The pages of the console on which the tests work. */
import type { Page } from 'playwright-core';
import type { RunnerStage } from '../../support/runner.ts';
import { goWithin, type TestBrowser } from './browser.ts';
import type { World } from './world.ts';

export interface Work {
  readonly stage: RunnerStage;
  readonly world: World;
  readonly page: Page;
  readonly browser: TestBrowser;
}

/** Chooses an entry of the menu with the further actions of a page. */
export async function chooseAction(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name, exact: true }).click();
}

/** Opens an address of the console in light, on a desk. */
export const opener = (work: () => Work) => async (path: string) => {
  const { page } = work();
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await goWithin(page, path);
  return page;
};
