import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { clientTypes, creatingRoutesFile, messagesFile } from './client-types.ts';

test.for([
  ['types.ts', clientTypes],
  ['creating-routes.ts', creatingRoutesFile],
  ['messages.ts', messagesFile],
] as const)(
  'client/%s is what the interface says: `npm run generate:client` would not change it',
  ([name, text]) => {
    const file = new URL(`../../client/${name}`, import.meta.url);
    expect(readFileSync(file, 'utf8') === text()).toBe(true);
  },
);
