import { expect, test } from 'vitest';
import { hashPassword, isAcceptablePassword, matchesHash } from '../../auth/passwords.ts';

test('a password has 12 to 256 characters, however many bytes they have', () => {
  for (const character of ['a', 'é', '🚗'])
    expect([11, 12, 256, 257].map((count) => isAcceptablePassword(character.repeat(count)))).toEqual([
      ...[false, true, true, false],
    ]);
});

test('a password is the same however a keyboard composes its accents', async () => {
  const stored = await hashPassword('un mot de passe\u0301', 'someone');
  expect(await matchesHash('un mot de pass\u00e9', stored)).toBe(true);
  expect(await matchesHash('un mot de passe', stored)).toBe(false);
});
