/** Regenerates what clients know of the interface, its types and the routes that create: `npm run generate:client`. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { clientTypes, creatingRoutesFile } from './client-types.ts';

for (const [name, text] of [
  ['types.ts', clientTypes()],
  ['creating-routes.ts', creatingRoutesFile()],
] as const) {
  const file = fileURLToPath(new URL(`../../client/${name}`, import.meta.url));
  writeFileSync(file, text);
  process.stdout.write(`${file}\n`);
}
