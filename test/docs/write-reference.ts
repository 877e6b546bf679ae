/** Regenerates the pages of the reference: `npm run generate:reference`. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { referencePages } from './reference/pages.ts';

for (const [path, text] of Object.entries(referencePages())) {
  writeFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), text);
  process.stdout.write(`${path}\n`);
}
