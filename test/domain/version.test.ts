import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareVersions, parseVersion } from '../../domain/version.ts';

describe('versions', () => {
  const ordered = [
    '0.9',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '1.0.1',
    '1.2',
    '1.10',
    '2',
  ];

  test('are ordered by Semantic Versioning', () => {
    for (const [left, a] of ordered.entries())
      for (const [right, b] of ordered.entries())
        expect(Math.sign(compareVersions(parseVersion(a)!, parseVersion(b)!))).toBe(Math.sign(left - right));
  });

  test.each([
    ['1', '1.0.0'],
    ['v1.2.0', '1.2'],
    ['1.0.0+a', '1.0.0+b'],
  ])('%s equals %s', (a, b) => {
    expect(compareVersions(parseVersion(a)!, parseVersion(b)!)).toBe(0);
  });

  test.each(['', 'x', '1.', '1.2.3.4.5', '-1', '1.0-', '1 ', '9'.repeat(70)])(
    '%j is not a version',
    (text) => {
      expect(parseVersion(text)).toBeNull();
    },
  );

  test('order is antisymmetric for any two', () => {
    const version = fc
      .stringMatching(/^\d{1,3}(\.\d{1,3}){0,3}(-[0-9a-c]{1,2}(\.[0-9a-c]{1,2}){0,2})?$/)
      .map((text) => parseVersion(text)!);
    fc.assert(
      fc.property(version, version, (a, b) => {
        expect(Math.sign(compareVersions(a, b)) + Math.sign(compareVersions(b, a))).toBe(0);
      }),
    );
  });
});
