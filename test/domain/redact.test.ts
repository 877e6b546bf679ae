import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatToken, type TokenFamily, tokenPrefixes } from '../../domain/access/token-format.ts';
import { redacted } from '../../domain/redact.ts';
import { cpuMs } from '../support/cpu-time.ts';

const families = Object.keys(tokenPrefixes) as TokenFamily[];

test('a token of any kind is removed from any text, with or without a boundary', () => {
  const around = fc.string({ maxLength: 40 });
  fc.assert(
    fc.property(
      fc.constantFrom(...families),
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      around,
      around,
      (family, random, before, after) => {
        const value = formatToken(family, random);
        expect(redacted(before + value + after)).not.toContain(value.slice(4, 40));
      },
    ),
  );
});

test.each([
  'ann@example.org',
  'Ann.Example+sim@Sub.Example.ORG',
  'zo\u00eb@example.org',
  'zoe\u0308@example.org',
  "o'neill@example.org",
  'ann@localhost',
  'ann@[192.0.2.1]',
  'ann%40example.org',
  '用户@例子.广告',
])('the address %s is removed', (address) => {
  for (const text of [
    address,
    `"${address}"`,
    `<${address}>, Key (email)=(${address}).`,
    `\\"${address}\\"`,
  ]) {
    const left = redacted(text);
    expect(left).toContain('[address]');
    expect(left).not.toMatch(/ann|example|zo|neill|例|192/i);
  }
});

test('other text does not change', () => {
  const lines = [
    '{"level":"info","service":"api","requestId":"3f-a_b.c","route":"getProject","ms":3}',
    'at file:///srv/node_modules/@aws-sdk/client-s3/dist/index.js:3:24',
    'hat_ and hrt_short and what_0000',
    'a @ b, 50% of 40',
  ];
  for (const line of lines) expect(redacted(line)).toBe(line);
});

test('costs a moment however long the text', () => {
  const startedAt = cpuMs();
  redacted(`${'a'.repeat(200_000)} @`);
  redacted(`${'a@'.repeat(50_000)}`);
  expect(cpuMs() - startedAt).toBeLessThan(2_000);
});
