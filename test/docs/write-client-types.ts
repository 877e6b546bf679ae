/** Regenerates the types of the interface for clients: `npm run generate:client`. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { clientTypes } from './client-types.ts';

const file = fileURLToPath(new URL('../../client/types.ts', import.meta.url));
writeFileSync(file, clientTypes());
process.stdout.write(`${file}\n`);
