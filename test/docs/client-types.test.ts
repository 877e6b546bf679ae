import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { clientTypes } from './client-types.ts';

test('the types of the clients are those of the interface: `npm run generate:client` would not change them', () => {
  const file = new URL('../../client/types.ts', import.meta.url);
  expect(readFileSync(file, 'utf8') === clientTypes()).toBe(true);
});
