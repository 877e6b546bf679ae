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
    const silent = await page.evaluate<string[]>(silentTimes);
    faults.push(...[...wide, ...found, ...silent].map((fault) => `${look.name}: ${fault}`));
  }
  await wear(page, appearances[0]!);
  return faults;
}

/** The times of tables that do not say on hover which they are exactly: a link may cover a row with its own title. */
const silentTimes = `[...document.querySelectorAll('td time[title]')].flatMap((time) => {
  const [line] = time.getClientRects();
  if (line === undefined || document.querySelector('dialog[open], [role=menu]') !== null) return [];
  const over = document.elementFromPoint((line.left + line.right) / 2, (line.top + line.bottom) / 2);
  const titled = over?.closest('[title]');
  return over === null || titled?.title.includes(time.title) ? [] : [time.textContent + ' under ' + titled?.title];
})`;
