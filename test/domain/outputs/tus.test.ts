import { expect, test } from 'vitest';
import { readPieceChecksum, readUploadLength, readUploadMetadata } from '../../../domain/outputs/tus.ts';
import { refusal } from './refusal.ts';

test('an upload has as many bytes as are allowed, and no more', () => {
  const length = (text: string) => readUploadLength({ 'upload-length': text }, 100);
  expect(['0', '100', ' 7 '].map(length)).toEqual([0, 100, 7]);
  expect(refusal(() => length('101'))).toBe('bodyTooLarge');
  for (const text of ['', '-1', '1.5', '0x1', '1e2', '9'.repeat(16), '1'.repeat(17)])
    expect([text, refusal(() => length(text))]).toEqual([text, 'invalidRequest']);
  for (const header of ['upload-concat', 'upload-defer-length'])
    expect(refusal(() => readUploadLength({ 'upload-length': '1', [header]: '1' }, 100))).toBe(
      'invalidRequest',
    );
});

test('metadata are the headers of a plain upload; other keys are passed over, and none comes twice', () => {
  const read = (text: string) => readUploadMetadata({ 'upload-metadata': text });
  expect(
    read(`identifier ${btoa('lap 1')}, contentType ${btoa('text/csv')},filename,constructor YQ==`),
  ).toEqual({
    'x-platform-output-identifier': 'lap 1',
    'content-type': 'text/csv',
  });
  for (const text of ['', '  ']) expect(read(text)).toEqual({});
  for (const text of [
    'a YQ==,',
    'a,,b',
    'a YQ== x',
    'ä YQ==',
    'identifier Y',
    'a,a',
    `a ${'A'.repeat(8_192)}`,
  ])
    expect([text.slice(0, 20), refusal(() => read(text))]).toEqual([text.slice(0, 20), 'invalidRequest']);
});

test('a checksum names a known algorithm and has its length', () => {
  const read = (text: string) => readPieceChecksum({ 'upload-checksum': text });
  expect(read(`md5 ${btoa('\x00\x0f'.repeat(8))}`)).toEqual({ algorithm: 'md5', digest: '000f'.repeat(8) });
  expect(readPieceChecksum({})).toBeNull();
  for (const text of [`sha1 ${btoa('a'.repeat(16))}`, 'sha1', 'constructor YQ==', 'crc32 YQ==', ''])
    expect([text, refusal(() => read(text))]).toEqual([text, 'invalidRequest']);
});
