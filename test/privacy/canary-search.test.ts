import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatToken } from '../../domain/access/token-format.ts';
import { addressCanary, CanaryBook, passwordCanary, searchFor, spellings } from './canaries.ts';
import { textOf } from './places.ts';

const book = new CanaryBook();
const token = book.token(formatToken('offline', Buffer.alloc(32, 5)), 'a device');
const canaries = [addressCanary('somebody'), passwordCanary('theirs'), token];

/** Forms in which a value is stored. */
const writings: [string, (value: string) => string][] = [
  ['as it is', (value) => value],
  ['in JSON', (value) => JSON.stringify({ deep: [value] })],
  ['percent-encoded', (value) => encodeURIComponent(value)],
  ['in lower case', (value) => value.toLowerCase()],
  ['in a row of a table', (value) => `(1,"${value.replaceAll('"', '""')}",t)`],
  ['as bytes of a table', (value) => `(\\x${Buffer.from(value).toString('hex')})`],
  ['as base64', (value) => Buffer.from(value).toString('base64')],
  ['as base64 after something', (value) => Buffer.from(`x ${value}`).toString('base64')],
  ['as base64url in a longer text', (value) => Buffer.from(`{"a":"${value}"}`).toString('base64url')],
  ['as basic authentication', (value) => `Basic ${Buffer.from(`user:${value}`).toString('base64')}`],
  ['packed', (value) => textOf(gzipSync(value))],
];

test.each(writings)(
  'a canary that is written %s is found, in every spelling, wherever it stands',
  (_, write) => {
    for (const canary of canaries) {
      const values =
        canary.kind === 'address' ? spellings.map((spell) => spell(canary.value)) : [canary.value];
      for (const value of values) {
        for (const before of ['', 'a', 'ab', 'abc']) {
          const text = `${before}${write(before + value)}`;
          const traces = searchFor(canaries, [{ where: 'here', text }]);
          expect([value, traces.map((trace) => trace.canary)]).toEqual([
            value,
            expect.arrayContaining([`${canary.kind}: ${canary.name}`]),
          ]);
        }
      }
    }
  },
);

test('text without a canary is not taken for one', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 300 }), (text) => {
      expect(searchFor(canaries, [{ where: 'here', text }])).toEqual([]);
    }),
  );
  expect(searchFor(canaries, [{ where: 'here', text: `hint ${token.value.slice(-4)}` }])).toEqual([]);
});
