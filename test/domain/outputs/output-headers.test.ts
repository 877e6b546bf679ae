import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { formatToken } from '../../../domain/access/token-format.ts';
import {
  readContentEncoding,
  readOutputHeaders,
  readSentDigests,
  storedEncoding,
} from '../../../domain/outputs/output-headers.ts';
import { refusal } from './refusal.ts';

test('an identifier holds no token, by which others would see it', () => {
  const read = (value: string) =>
    readOutputHeaders({ 'x-platform-output-identifier': value }).outputIdentifier;
  expect(read('lap-1_a.csv')).toBe('lap-1_a.csv');
  expect(refusal(() => read(`lap-${formatToken('offline', Buffer.alloc(32, 7))}`))).toBe(
    'invalidOutputIdentifier',
  );
});

describe('metadata of an output', () => {
  const read = (text: string) =>
    readOutputHeaders({ 'x-platform-output-metadata': Buffer.from(text).toString('latin1') }).metadata;
  const sized = (bytes: number) => `{"a":"${'b'.repeat(bytes - 8)}"}`;

  test('has 4,096 bytes of UTF-8 at most', () => {
    expect(read('{"ort":"Köln"}')).toEqual({ ort: 'Köln' });
    expect(read(sized(4_096))).toEqual({ a: 'b'.repeat(4_088) });
    expect(refusal(() => read(sized(4_097)))).toBe('invalidOutputMetadata');
    expect(refusal(() => read(`{"a":"${'ö'.repeat(2_045)}"}`))).toBe('invalidOutputMetadata');
    expect(refusal(() => readOutputHeaders({ 'x-platform-output-metadata': '{"a":"\xff"}' }))).toBe(
      'invalidOutputMetadata',
    );
  });

  test('reserves keys that begin with a dollar, and no others', () => {
    expect(read('{"us$":1,"a":{"$b":2}}')).toEqual({ us$: 1, a: { $b: 2 } });
    expect(refusal(() => read('{"a":1,"$b":2}'))).toBe('invalidOutputMetadata');
  });
});

test('gzip is stored under both of its names, in any case; what is no encoding is none', () => {
  for (const value of ['gzip', 'x-gzip', ' GZip ']) expect(readContentEncoding(value)).toBe('gzip');
  for (const value of [undefined, '', 'identity', 'Identity']) expect(readContentEncoding(value)).toBeNull();
  for (const value of ['br', 'gzip, gzip'])
    expect(refusal(() => readContentEncoding(value))).toBe('unsupportedMediaType');
});

describe('checksums of an output', () => {
  const [one, two] = ['one', 'two'].map((text) => createHash('sha256').update(text).digest()) as [
    Buffer,
    Buffer,
  ];
  const member = (bytes: Buffer) => `sha-256=:${bytes.toString('base64')}:`;
  const sha256Of = (value: string) => readSentDigests({ 'content-digest': value }).sha256;

  test('are read in each of their headers, of which several must agree', () => {
    const all = {
      'x-amz-checksum-sha256': one.toString('base64'),
      'content-digest': member(one),
      'repr-digest': member(one),
    };
    expect(readSentDigests(all)).toEqual({ md5: null, sha256: one.toString('hex') });
    for (const name of Object.keys(all)) {
      const other = name.endsWith('digest') ? member(two) : two.toString('base64');
      expect(refusal(() => readSentDigests({ ...all, [name]: other }))).toBe('checksumMismatch');
    }
  });

  test('of a dictionary: the last sha-256 counts, other algorithms are passed over', () => {
    expect(sha256Of(`sha-512=:AAAA:, ${member(two)} , ${member(one)};q=1,unixsum=30637`)).toBe(
      one.toString('hex'),
    );
    expect(sha256Of('sha-512=:AAAA:')).toBeNull();
    for (const wrong of ['sha-256=AAAA', 'sha-256', 'sha-256=:AAAA:', `x${member(one)}, sha-256=::`])
      expect(refusal(() => sha256Of(wrong))).toBe('checksumMismatch');
  });
});

test('an empty output has no encoding: it could not be decoded', () => {
  expect([storedEncoding(0, 'gzip'), storedEncoding(1, 'gzip'), storedEncoding(1, null)]).toEqual([
    null,
    'gzip',
    null,
  ]);
});
