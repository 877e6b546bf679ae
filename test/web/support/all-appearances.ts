/** A page in all appearances: pictures for people, and what is wrong in each. */
import type { Page } from 'playwright-core';
import { accessibilityFaults, appearances, wear } from './axe.ts';
import { picture, tooWide } from './browser.ts';

/** Draws `look-NAME-APPEARANCE` of each, and leaves the page in the first. @returns a line for each fault */
export async function faultsInAllAppearances(page: Page, name: string): Promise<string[]> {
  const faults: string[] = [];
  for (const look of appearances) {
    await wear(page, look);
    await picture(page, `look-${name}-${look.name}`);
    const wide = await tooWide(page);
    const found = await accessibilityFaults(page, look.name === 'light' ? 'every' : 'contrast');
    faults.push(...[...wide, ...found].map((fault) => `${look.name}: ${fault}`));
  }
  await wear(page, appearances[0]!);
  return faults;
}
