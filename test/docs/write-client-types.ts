/** Regenerates what clients know of the interface (its types, the routes that create, texts of refusals): `npm run generate:client`. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { clientTypes, creatingRoutesFile, messagesFile } from './client-types.ts';

for (const [name, text] of [
  ['types.ts', clientTypes()],
  ['creating-routes.ts', creatingRoutesFile()],
  ['messages.ts', messagesFile()],
] as const) {
  const file = fileURLToPath(new URL(`../../client/${name}`, import.meta.url));
  writeFileSync(file, text);
  process.stdout.write(`${file}\n`);
}
