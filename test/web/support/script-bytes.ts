/** How much script a page of the console loads. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';

/** The scripts of a page, gzipped; what a person opens on it comes later. */
export const maxScriptBytes = { session: 60 * 1024, dashboard: 120 * 1024 } as const;

/** The bytes of every script that the page has loaded, gzipped. Each is fetched, and then imported from the cache. */
export async function scriptBytes(page: Page): Promise<number> {
  const names = (await page.evaluate(
    `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname).filter((name) => name.endsWith('.js'))`,
  )) as string[];
  const dist = new URL('../../../web/dist/', import.meta.url);
  return [...new Set(names)].reduce(
    (sum, name) => sum + gzipSync(readFileSync(new URL(`.${name}`, dist))).length,
    0,
  );
}
