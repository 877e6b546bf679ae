import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSameJson } from '../../domain/same-json.ts';
import { parseStrictJson } from '../../domain/strict-json.ts';
import { cpuMs } from '../support/cpu-time.ts';

const hasOwnDuplicates = /same key twice/;

describe('strict JSON', () => {
  test('reads everything that JSON.parse reads, if it is storable, shallow and without duplicate keys', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 10 }), fc.nat({ max: 4 }), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const result = parseStrictJson(text);
        // An escape of its own, and not the end of an escaped backslash.
        const isStorable = !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i.test(text);
        expect(result).toEqual(
          isStorable ? { ok: true, value: JSON.parse(text) } : { ok: false, reason: expect.any(String) },
        );
      }),
      { examples: [[{ '\\uD8': 0 }, 0]] },
    );
  });

  test('never throws, and never accepts what JSON.parse refuses', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 50 }), (text) => {
        const result = parseStrictJson(text);
        if (result.ok) expect(() => JSON.parse(text)).not.toThrow();
      }),
    );
  });

  test('finds a duplicate key in any object, however it is written', () => {
    for (const text of [
      '{"a":1,"a":1}',
      '{"x":[{"b":1},{"a":{"c":1,"d":2,"c":3}}]}',
      '{"\\u0061":1,"a":2}',
      '{"__proto__":1,"__proto__":2}',
      '{ "a" : "x,\\"a\\":" , "a" : 1 }',
      '{"a":[{}],"b":1,"b":2}',
    ]) {
      expect(parseStrictJson(text)).toEqual({ ok: false, reason: expect.stringMatching(hasOwnDuplicates) });
    }
  });

  test('does not count the same key in different objects, or a value, as a duplicate', () => {
    for (const text of [
      '[{"a":1},{"a":1}]',
      '{"a":{"a":"a"},"b":["a","a"]}',
      '{"a":"}","b":"{\\"a\\":1,"}',
      '["a","a"]',
    ]) {
      expect(parseStrictJson(text).ok).toBe(true);
    }
  });

  test('counts levels exactly', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(parseStrictJson(nested(64)).ok).toBe(true);
    expect(parseStrictJson(nested(65)).ok).toBe(false);
    expect(parseStrictJson(`[${'[],{},'.repeat(100)}0]`).ok).toBe(true);
    expect(parseStrictJson(`"${'['.repeat(100)}"`).ok).toBe(true);
  });

  test('runs in time proportional to any text', () => {
    const hostile = [
      '['.repeat(500_000) + ']'.repeat(500_000),
      `[${'1e1,'.repeat(250_000)}1]`,
      `[${'1'.repeat(1_000_000)}]`,
      `"${'\\u0041'.repeat(170_000)}"`,
      `{${Array.from({ length: 100_000 }, (_unused, index) => `"${index}":1`).join(',')}}`,
    ];
    for (const text of hostile) {
      const startedAt = cpuMs();
      parseStrictJson(text);
      expect(cpuMs() - startedAt).toBeLessThan(5000);
    }
  });
});

test('two values are the same JSON whatever the order of fields, and only then', () => {
  const same = [
    [{ a: [1, { b: null, c: 'x' }] }, { a: [1, { c: 'x', b: null }] }],
    [[], []],
    [0, -0],
  ];
  for (const [left, right] of same)
    expect([left, right, isSameJson(left, right)]).toEqual([left, right, true]);
  const others = [
    [
      [1, 2],
      [1, 2, 3],
    ],
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ a: undefined }, { b: undefined }],
    [{}, []],
    [{ 0: 1 }, [1]],
    [{}, null],
    [1, '1'],
  ];
  for (const [left, right] of others)
    expect([left, right, isSameJson(left, right), isSameJson(right, left)]).toEqual([
      left,
      right,
      false,
      false,
    ]);
});
