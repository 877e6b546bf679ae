import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isEmail,
  isFreeJson,
  isName,
  isStorableText,
  jsonDepthLevels,
  utf8Bytes,
} from '../../domain/text.ts';
import { formatTimestamp, isDateOnly, parseRecordingTime, parseTimestamp } from '../../domain/timestamp.ts';

describe('a name', () => {
  test('holds 1 to 255 characters after trimming, however many bytes they take, and no control characters', () => {
    for (const good of ['a', ' a ', 'é'.repeat(255), '😀'.repeat(255), 'a b'])
      expect(isName(good)).toBe(true);
    for (const bad of [
      '',
      '   ',
      'a'.repeat(256),
      '😀'.repeat(256),
      'a\nb',
      'a\u0000',
      'a\u007f',
      'a\u2028b',
      '\ud800',
    ]) {
      expect(isName(bad)).toBe(false);
    }
  });
});

describe('text', () => {
  test('is storable unless it holds NUL or lone surrogates', () => {
    for (const bad of ['\u0000', 'a\ud800', '\udc00b']) expect(isStorableText(bad)).toBe(false);
    for (const good of ['', '😀', '\u0001', '\uffff']) expect(isStorableText(good)).toBe(true);
  });

  test('has as many UTF-8 bytes as its encoding', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => utf8Bytes(text) === Buffer.byteLength(text)),
    );
  });

  test('is an address only when it looks like one', () => {
    for (const good of ['a@b', 'first.last+tag@example.org', 'ü@exämple.org', "o'x@e-x.co"])
      expect(isEmail(good)).toBe(true);
    for (const bad of [
      '',
      'a',
      '@b',
      'a@',
      'a@@b',
      'a b@c',
      'a@b c',
      'a@b\r\nBcc: x',
      'a@.b',
      'a@b.',
      'a@b..c',
      `${'a'.repeat(65)}@b`,
      'a@b,c@d',
      '<a@b>',
    ]) {
      expect([bad, isEmail(bad)]).toEqual([bad, false]);
    }
  });
});

describe('free JSON', () => {
  test('is an object within its size and depth, without using the stack for depth', () => {
    const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`);
    expect(jsonDepthLevels(nested(20))).toBe(20);
    expect(isFreeJson(nested(20))).toBe(true);
    expect(isFreeJson(nested(21))).toBe(false);
    expect(isFreeJson(nested(5000))).toBe(false);
    for (const bad of [null, [], 1, 'a', undefined]) expect(isFreeJson(bad)).toBe(false);
    expect(isFreeJson({ a: 'x'.repeat(65_536 - 8) })).toBe(true);
    expect(isFreeJson({ a: 'x'.repeat(65_536 - 7) })).toBe(false);
    expect(isFreeJson({ a: Array(32_764).fill(0) })).toBe(true);
    for (const count of [32_765, 1_000_000]) expect(isFreeJson({ a: Array(count).fill(0) })).toBe(false);
  });
});

describe('a timestamp', () => {
  test('survives being written and read', () => {
    const dates = fc.date({
      min: new Date('1970-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(dates, (date) => parseTimestamp(formatTimestamp(date))?.getTime() === date.getTime()),
    );
  });

  test('is read with any offset', () => {
    const at = (text: string) => parseTimestamp(text)?.toISOString();
    expect(at('2026-03-01T10:00:00.123456789+05:30')).toBe('2026-03-01T04:30:00.123Z');
    expect(at('2026-03-01T10:00-0800')).toBe('2026-03-01T18:00:00.000Z');
    // As PostgreSQL prints it.
    expect(at('2026-03-01 10:00:00.5+01')).toBe('2026-03-01T09:00:00.500Z');
    expect(at('2026-03-01t10:00:00z')).toBe('2026-03-01T10:00:00.000Z');
    expect(at('2026-03-01T10:00:00')).toBe('2026-03-01T10:00:00.000Z');
    expect(isDateOnly('2026-03-01')).toBe(true);
    expect(isDateOnly('2026-03-01T00:00')).toBe(false);
  });

  test('in a recording may be of any year of four digits', () => {
    for (const good of ['0001-01-01T00:00:00.000Z', '0096-02-29T12:00:00.000Z', '1969-12-31T23:59:58.000Z'])
      expect(parseRecordingTime(good)?.toISOString()).toBe(good);
    for (const bad of ['0000-12-31T00:00:00Z', '0001-01-01T00:00:00+01:00', '0095-02-29', '1969-02-30'])
      expect([bad, parseRecordingTime(bad)]).toEqual([bad, null]);
  });

  test('that does not exist is refused, never rolled over', () => {
    for (const bad of [
      ...[
        '2026-02-30',
        '2025-02-29',
        '2026-13-01',
        '2026-00-10',
        '2026-01-00',
        '2026-04-31',
        '1',
        '20260301',
      ],
      ...[
        '2026-03-01T24:00:00Z',
        '2026-03-01T10:60:00Z',
        '2026-03-01T10:00:60Z',
        '2026-03-01T10:00:00+24:00',
      ],
      ...[
        '1969-12-31',
        '10000-01-01',
        '+012026-01-01',
        '-2026-01-01',
        '0000-01-01',
        '1970-01-01T00:00:00+01:00',
      ],
      ...[
        '9999-12-31T23:59:59-01:00',
        '2026-3-1',
        '2026-03-01T',
        '2026-03-01 ',
        ' 2026-03-01',
        'Mon, 02 Mar 2026 10:00:00 GMT',
        '',
      ],
    ]) {
      expect([bad, parseTimestamp(bad)]).toEqual([bad, null]);
    }
  });
});
