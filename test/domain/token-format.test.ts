import { crc32 as zlibCrc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  crc32,
  formatToken,
  holdsToken,
  leakedTokenPattern,
  type TokenFamily,
  tokenFamily,
  tokenHint,
  tokenPrefixes,
} from '../../domain/access/token-format.ts';

const families = Object.keys(tokenPrefixes) as TokenFamily[];
const anyToken = fc
  .record({ family: fc.constantFrom(...families), random: fc.uint8Array({ minLength: 32, maxLength: 32 }) })
  .map(({ family, random }) => ({ family, value: formatToken(family, random) }));

describe('a token value', () => {
  test('has its prefix, 43 and 6 characters, and is recognised as its own kind', () => {
    fc.assert(
      fc.property(anyToken, ({ family, value }) => {
        expect(value).toMatch(/^h(at|rf|ot|rt)_[0-9A-Za-z]{49}$|^his_[0-9A-Za-z]{49}$/);
        expect(value.startsWith(tokenPrefixes[family])).toBe(true);
        expect(tokenFamily(value)).toBe(family);
        expect(tokenHint(value)).toBe(value.slice(-4));
      }),
    );
  });

  test('with one changed character is not a token', () => {
    fc.assert(
      fc.property(
        anyToken,
        fc.nat({ max: 52 }),
        fc.constantFrom(...'0Az9_-é'),
        ({ value }, at, character) => {
          fc.pre(value[at] !== character);
          expect(tokenFamily(value.slice(0, at) + character + value.slice(at + 1))).toBeNull();
        },
      ),
    );
  });

  test('keeps all 256 bits apart', () => {
    const zero = formatToken('access', new Uint8Array(32));
    const one = formatToken('access', new Uint8Array(32).fill(0).with(31, 1));
    const top = formatToken('access', new Uint8Array(32).fill(255));
    expect(zero.slice(4, 47)).toBe('0'.repeat(43));
    expect(new Set([zero, one, top]).size).toBe(3);
    expect(() => formatToken('access', new Uint8Array(31))).toThrow();
  });

  test('is refused when it is anything else', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => tokenFamily(text) === null));
    const { value } = { value: formatToken('offline', new Uint8Array(32)) };
    for (const wrong of [`${value}\n`, ` ${value}`, value.toUpperCase(), value.slice(1), `${value}0`]) {
      expect(tokenFamily(wrong)).toBeNull();
    }
  });

  test('is found in leaked text by the published pattern', () => {
    fc.assert(
      fc.property(anyToken, ({ value }) => {
        const found = `curl -H "Authorization: Bearer ${value}", x`.match(
          new RegExp(leakedTokenPattern, 'g'),
        );
        expect(found).toEqual([value]);
      }),
    );
  });

  test('has the standard CRC-32', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => crc32(text) === zlibCrc32(text)));
  });
});

test('a token is recognised inside any other text, and no other text is', () => {
  fc.assert(
    fc.property(anyToken, fc.string(), fc.string(), ({ value }, before, after) => {
      expect(holdsToken(before + value + after)).toBe(true);
    }),
  );
  for (const text of ['', 'runner-1', 'hot_', 'hat_short', 'a'.repeat(60), 'what_'.repeat(12)])
    expect(holdsToken(text)).toBe(false);
});
