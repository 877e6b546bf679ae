import { expect, test } from 'vitest';
import {
  isAllowlistEntry,
  isEndpointAllowed,
  isLinkLocal,
  readEndpoint,
} from '../../domain/network/endpoint.ts';

test.each([
  'https://s3.example.org',
  'http://127.0.0.1:9000/',
  'https://s3.example.org/path',
  'http://[::1]:9000',
])('%s is an endpoint', (text) => expect(readEndpoint(text)).not.toBeNull());
test.each([
  '',
  's3.example.org',
  'ftp://x',
  'file:///etc/passwd',
  'http://u:p@x',
  'http://:p@x',
  'http://x?y',
  'http://x#y',
  `http://${'x'.repeat(1000)}`,
])('%.30s is none', (text) => expect(readEndpoint(text)).toBeNull());

test('an allowlist covers its entries and no similar name', () => {
  const cases: [string, string, boolean][] = [
    ['s3.example.org', 'https://s3.example.org', true],
    ['s3.example.org', 'http://S3.EXAMPLE.ORG:9000', true],
    ['s3.example.org', 'https://s3.example.org.evil.net', false],
    ['s3.example.org', 'https://xs3.example.org', false],
    ['*.example.org', 'https://a.b.example.org', true],
    ['*.example.org', 'https://example.org', false],
    ['*.example.org', 'https://evilexample.org', false],
    ['*.example.org', 'https://a.example.org.evil.net', false],
    ['*.Example.org', 'https://a.example.org', true],
    ['s3.example.org:9000', 'http://s3.example.org:9000', true],
    ['s3.example.org:443', 'https://s3.example.org', true],
    ['s3.example.org:9000', 'http://s3.example.org:9001', false],
    ['https://s3.example.org', 'https://s3.example.org', true],
    ['https://s3.example.org', 'http://s3.example.org', false],
    ['[::1]:9000', 'http://[::1]:9000', true],
  ];
  for (const [entry, endpoint, isAllowed] of cases) {
    expect(isAllowlistEntry(entry)).toBe(true);
    expect([entry, endpoint, isEndpointAllowed(readEndpoint(endpoint)!, [entry])]).toEqual([
      entry,
      endpoint,
      isAllowed,
    ]);
  }
  expect(isEndpointAllowed(readEndpoint('http://x')!, [])).toBe(false);
  for (const entry of ['', 'a b', 'https://x/y', 'http://', '*', '*.*', 'x:y'])
    expect([entry, isAllowlistEntry(entry)]).toEqual([entry, false]);
});

test('addresses of the network link are noticed in every spelling, and no others', () => {
  const ofLink = [
    'http://169.254.169.254',
    'http://0xa9.0xfe.0xa9.0xfe/',
    'http://2852039166',
    'http://0251.0376.0251.0376',
    'http://[fe80::1]',
    'http://[::ffff:169.254.169.254]',
    'http://[64:ff9b::169.254.169.254]',
    'http://[fd00:ec2::254]',
  ];
  for (const text of ofLink) expect([text, isLinkLocal(readEndpoint(text)!.hostname)]).toEqual([text, true]);
  const others = [
    'http://127.0.0.1',
    'http://10.169.254.1',
    'http://169.253.1.1',
    'http://[fd00::1]',
    'http://fe80.org',
  ];
  for (const text of others) expect([text, isLinkLocal(readEndpoint(text)!.hostname)]).toEqual([text, false]);
});
