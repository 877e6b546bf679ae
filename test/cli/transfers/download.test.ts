/** Downloads into files, without a platform: what stands under a name is whole. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { download as downloadWith, OtherBytes } from '../../../cli/download.ts';
import { Progress } from '../../../cli/progress.ts';
import { NetworkError } from '../../../client/errors.ts';

function emptyFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'sdp-download-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

const download = (response: Response, out: string, name: string) =>
  downloadWith(response, out, name, new Progress(true));
const tagOf = (text: string) => ({ etag: `"${createHash('sha256').update(text).digest('hex')}"` });
const whole = (text: string, headers: Record<string, string> = {}) =>
  new Response(text, { headers: { 'content-length': String(text.length), ...tagOf(text), ...headers } });

/** The first bytes, and then a break. */
function broken(): Response {
  let pulls = 0;
  const body = new ReadableStream({
    pull(stream) {
      pulls += 1;
      if (pulls === 1) stream.enqueue(Buffer.from('new by'));
      else stream.error(new TypeError('terminated'));
    },
  });
  return new Response(body, { headers: { 'content-length': '9', ...tagOf('new bytes') } });
}

test.each([
  [
    'the connection breaks',
    broken,
    NetworkError,
    'The connection broke during the download. Repeat the command.',
  ],
  ['other bytes come', () => whole('new bytes', tagOf('others')), OtherBytes, 'do not match the checksum'],
])(
  'a file that is there stays as it is, and nothing is left beside it, when %s',
  async (_, made, kind, said) => {
    const folder = emptyFolder();
    const file = join(folder, 'lap.csv');
    writeFileSync(file, 'before');
    const ended = download(made(), file, 'output-7');
    await expect(ended).rejects.toThrow(said);
    await expect(ended).rejects.toBeInstanceOf(kind);
    expect([readdirSync(folder), readFileSync(file, 'utf8')]).toEqual([['lap.csv'], 'before']);
    expect(await download(whole('new bytes'), file, 'output-7')).toEqual({ file, sizeBytes: 9 });
    expect([readdirSync(folder), readFileSync(file, 'utf8')]).toEqual([['lap.csv'], 'new bytes']);
  },
);

test('what is no file, such as a pipe or a device, gets the bytes and stays what it is', async () => {
  const pipe = join(emptyFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const read = readFile(pipe, 'utf8');
  expect(await download(whole('new bytes'), pipe, 'output-7')).toEqual({ file: pipe, sizeBytes: 9 });
  expect([await read, statSync(pipe).isFIFO()]).toEqual(['new bytes', true]);
});

test('a file beside it that another command or a person left stays as it is', async () => {
  const folder = emptyFolder();
  writeFileSync(join(folder, 'lap.csv.part'), 'of another command');
  await download(whole('new bytes'), join(folder, 'lap.csv'), 'output-7');
  expect(readdirSync(folder)).toEqual(['lap.csv', 'lap.csv.part']);
  expect(readFileSync(join(folder, 'lap.csv.part'), 'utf8')).toBe('of another command');
});

test('bytes that were decoded on their way are not compared with the checksum of the stored ones', async () => {
  const file = join(emptyFolder(), 'lap.csv');
  const headers = tagOf('as stored');
  await download(new Response('decoded', { headers }), file, 'output-7');
  expect(readFileSync(file, 'utf8')).toBe('decoded');
});

test.each([
  [undefined, 'output-7'],
  ['attachment; filename="lap 1.csv"', 'lap 1.csv'],
  ['attachment; filename="lap.csv"; filename*=UTF-8\'\'r%C3%BCck%201.csv', 'rück 1.csv'],
  ['attachment; filename="../../etc/passwd"', 'passwd'],
  ["attachment; filename*=UTF-8''..%2F..%2F.bashrc", 'bashrc'],
  ['attachment; filename="..."', 'output-7'],
])('by the header %s a file is called %s, and leads into no other folder', async (disposition, name) => {
  const folder = emptyFolder();
  mkdirSync(join(folder, 'own'));
  const headers = disposition === undefined ? {} : { 'content-disposition': disposition };
  await download(whole('x', headers), join(folder, 'own'), 'output-7');
  expect([readdirSync(folder), readdirSync(join(folder, 'own'))]).toEqual([['own'], [name]]);
});

test('a file that cannot be written is named with the reason, and no connection is blamed', async () => {
  const folder = emptyFolder();
  await expect(download(whole('x'), join(folder, 'none', 'a'), 'output-7')).rejects.toThrow(
    `Folder not found: ${join(folder, 'none')}.`,
  );
  mkdirSync(join(folder, `a.${process.pid}.part`));
  await expect(download(whole('x'), join(folder, 'a'), 'output-7')).rejects.toThrow(/EISDIR/);
});
