/** The agent of a capture machine without a platform: files that change at the worst moment. */
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Journal } from '../../../cli/folder/journal.ts';
import { moveFile } from '../../../cli/folder/move.ts';
import { pauseAfterScanMs } from '../../../cli/folder/scan.ts';
import { watchFolder } from '../../../cli/folder/watch.ts';
import { PlatformClient } from '../../../cli/platform-client.ts';
import { Progress } from '../../../cli/progress.ts';
import { uploadFile } from '../../../cli/transfers.ts';
import { BackOff } from '../../../client/back-off.ts';
import { ApiError } from '../../../client/errors.ts';
import { resumableBytes } from '../../../client/resumable.ts';
import { archiveElsewhere, hasOtherDisk } from '../capture-agent.ts';

function emptyFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'sdp-watched-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test('a file that is written anew before it is moved away stays, and is sent', async () => {
  const folder = emptyFolder();
  const path = join(folder, 'latest.csv');
  writeFileSync(path, 'first');
  writeFileSync(`${path}.meta.json`, '{"lap":1}');
  const sent: string[] = [];
  const options = {
    folder,
    settleMs: 1,
    moveTo: join(folder, 'sent'),
    mark: false,
    once: true,
    send: async () => ({
      identifier: `sent-${sent.push(readFileSync(path, 'utf8'))}`,
      outputId: sent.length,
    }),
    say: (line: string) => {
      if (line.endsWith('output 1')) writeFileSync(path, 'the second');
    },
  };
  expect(await watchFolder(options, await Journal.open(folder))).toBe(0);
  expect(sent).toEqual(['first', 'the second']);
  expect(readdirSync(options.moveTo)).toEqual(['latest.csv', 'latest.csv.meta.json']);
  expect(readFileSync(join(options.moveTo, 'latest.csv'), 'utf8')).toBe('the second');
});

test.skipIf(!hasOtherDisk)(
  'a file that is written anew while it is copied to another disk stays',
  async () => {
    const [from, archive] = [join(emptyFolder(), 'latest.csv'), archiveElsewhere()];
    writeFileSync(from, 'first');
    const check = async () => {
      if (!existsSync(join(archive, 'latest.csv.partial'))) return;
      writeFileSync(from, 'the second');
      throw new Error('The file changed.');
    };
    await expect(moveFile(from, join(archive, 'latest.csv'), check)).rejects.toThrow('changed');
    expect([readFileSync(from, 'utf8'), readdirSync(archive)]).toEqual(['the second', []]);
  },
);

test('the journal forgets files that left the folder once they are many, and no other', async () => {
  const folder = emptyFolder();
  const [there, journal] = [join(folder, 'there.csv'), join(folder, '.sdp-sent.jsonl')];
  writeFileSync(there, 'a');
  const row = (file: string, modifiedAtMs: number) =>
    `\n${JSON.stringify({ file, sizeBytes: 1, modifiedAtMs, identifier: 'is', outputId: 1 })}\n`;
  const gone = Array.from({ length: 10_010 }, (_, number) => row(`${'x'.repeat(500)}-${number}.csv`, 1));
  // Longer than what is read at once.
  writeFileSync(journal, row('there.csv', statSync(there).mtimeMs) + gone.join(''));
  writeFileSync(join(folder, 'new.csv'), 'a');
  const sent: string[] = [];
  const send = async ({ file }: { readonly file: string }) => ({
    identifier: file,
    outputId: sent.push(file),
  });
  const options = { folder, settleMs: 1, mark: false, once: true, send, say: () => undefined };
  expect(await watchFolder(options, await Journal.open(folder))).toBe(0);
  expect(sent).toEqual(['new.csv']);
  const lines = readFileSync(journal, 'utf8').split('\n').filter(Boolean);
  expect(lines.map((line) => JSON.parse(line).file.slice(0, 9))).toEqual(['there.csv', 'new.csv']);
});

/** Sends the folder's files once. @returns what was sent, in order, and the number of the others */
async function sendAll(folder: string, fails: (file: string) => number | undefined) {
  const sent: string[] = [];
  const said: string[] = [];
  const send = async ({ file }: { readonly file: string }) => {
    const status = fails(file);
    if (status !== undefined) throw new ApiError({ status, message: `answered ${status}` });
    return { identifier: file, outputId: sent.push(file) };
  };
  const options = {
    folder,
    settleMs: 1,
    mark: false,
    once: true,
    send,
    say: (line: string) => said.push(line),
  };
  return { left: await watchFolder(options, await Journal.open(folder)), sent, said };
}

function folderOf(...names: readonly string[]): string {
  const folder = emptyFolder();
  for (const [index, name] of names.entries()) {
    writeFileSync(join(folder, name), name);
    utimesSync(join(folder, name), index, index);
  }
  return folder;
}

test('files for which the server fails hold up no other, however slow the machine is', async () => {
  const wait = vi.spyOn(BackOff.prototype, 'wait').mockResolvedValue();
  onTestFinished(() => wait.mockRestore());
  let readings = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => ++readings * 0.14);
  onTestFinished(() => clock.mockRestore());
  const folder = folderOf('bad-1.csv', 'bad-2.csv', 'good-1.csv', 'bad-3.csv', 'good-2.csv');
  const { left, sent } = await sendAll(folder, (file) => (file.startsWith('bad') ? 500 : undefined));
  expect([left, sent]).toEqual([3, ['good-1.csv', 'good-2.csv']]);
});

test('while the server fails for all, no file is put off, and the oldest is sent first', async () => {
  const wait = vi.spyOn(BackOff.prototype, 'wait').mockResolvedValue();
  onTestFinished(() => wait.mockRestore());
  let calls = 0;
  const { left, sent } = await sendAll(folderOf('1.csv', '2.csv', '3.csv'), () =>
    ++calls < 9 ? 503 : undefined,
  );
  expect([left, sent]).toEqual([0, ['1.csv', '2.csv', '3.csv']]);
});

test('a file that changes while it is sent is not said to wait for ten minutes', async () => {
  const folder = folderOf('latest.csv');
  const said: string[] = [];
  let isFirst = true;
  const send = async ({ path }: { readonly path: string }) => {
    if (!isFirst) throw new ApiError({ status: 400, message: 'Refused.' });
    isFirst = false;
    appendFileSync(path, 'more');
    throw new Error('The file changed while it was being sent.');
  };
  const say = (line: string) => {
    said.push(line);
    // A watch ends only with its process.
    if (said.length === 2) throw new Error('The test is over.');
  };
  const options = { folder, settleMs: 1, mark: false, once: false, send, say };
  await expect(watchFolder(options, await Journal.open(folder))).rejects.toThrow('over');
  expect(said).toEqual([
    'latest.csv: The file changed while it was being sent. It is sent when it has stopped changing.',
    'latest.csv: Refused. It is tried again in 10 minutes.',
  ]);
});

test('a file that cannot be looked at holds up no other, and is reported', async () => {
  const { stat } = promises;
  onTestFinished(() => {
    promises.stat = stat;
    syncBuiltinESMExports();
  });
  const folder = folderOf('broken.csv', 'good.csv');
  promises.stat = (async (path: string) => {
    if (path.endsWith('broken.csv')) throw new Error('EIO: i/o error');
    return await stat(path);
  }) as typeof stat;
  syncBuiltinESMExports();
  const { left, sent, said } = await sendAll(folder, () => undefined);
  expect([left, sent, said]).toEqual([1, ['good.csv'], ['broken.csv: EIO: i/o error', 'good.csv: output 1']]);
});

test('scans use at most a tenth of the time, and are half a minute apart at most', () => {
  expect([10, 500, 60_000].map(pauseAfterScanMs)).toEqual([1_000, 4_500, 30_000]);
});

test('a long file that changes after its digest is read is not sent under it', async () => {
  const file = join(emptyFolder(), 'long.bin');
  writeFileSync(file, Buffer.alloc(resumableBytes + 1));
  // Between the digest and the first piece it asks whether the node has the file.
  class Asked extends PlatformClient {
    override call = async () => {
      appendFileSync(file, 'more');
      return [] as never;
    };
  }
  const request = { nodeInstanceId: 1, file, contentType: 'text/plain', retries: 0 };
  await expect(uploadFile(new Asked('http://127.0.0.1:1'), request, new Progress())).rejects.toThrow(
    'The file changed',
  );
});
