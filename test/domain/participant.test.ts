import { describe, expect, test } from 'vitest';
import { isAnonymous, isSamePerson, normaliseAddress } from '../../domain/sessions/participant.ts';

describe('normaliseAddress', () => {
  test.each([
    ['  Ada@Example.ORG ', 'ada@example.org'],
    ['ada@example.org', 'ada@example.org'],
    ['Jose\u0301@example.org', 'jos\u00e9@example.org'],
    ['JOS\u00c9@EXAMPLE.ORG', 'jos\u00e9@example.org'],
  ])('brings %j to one form', (address, normal) => {
    expect(normaliseAddress(address)).toBe(normal);
    expect(normaliseAddress(normal)).toBe(normal);
  });
});

describe('isSamePerson', () => {
  const person = { identifier: '018f0000-0000-7000-8000-000000000001', key: 'anon:aa' };

  test.each([
    ['both parts equal', { ...person }, true],
    ['only the identifier equal', { identifier: person.identifier, key: 'anon:bb' }, true],
    ['only the key equal (a device that resolves nobody)', { identifier: 'anon:aa', key: 'anon:aa' }, true],
    ['nothing equal', { identifier: 'anon:bb', key: 'anon:bb' }, false],
  ])('%s', (_, other, same) => {
    expect(isSamePerson(person, other)).toBe(same);
    expect(isSamePerson(other, person)).toBe(same);
  });

  test('empty parts match nothing', () => {
    expect(isSamePerson({ identifier: '', key: '' }, { identifier: '', key: '' })).toBe(false);
  });
});

test('anonymous identifiers are recognised by their prefix', () => {
  expect(isAnonymous('anon:0123')).toBe(true);
  expect(isAnonymous('018f0000-0000-7000-8000-000000000001')).toBe(false);
});
