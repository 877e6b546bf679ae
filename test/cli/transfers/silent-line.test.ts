/** A line that takes bytes and never answers: a command goes on to its next try, and does not wait without end. */
import { mkdtempSync, readdirSync, readlinkSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { PlatformClient } from '../../../cli/platform-client.ts';
import { NetworkError } from '../../../client/errors.ts';
import { eventually } from '../../support/eventually.ts';

const folder = mkdtempSync(join(tmpdir(), 'sdp-silent-'));
// Addresses of unfinished uploads are kept there.
vi.stubEnv('XDG_CONFIG_HOME', folder);
type Answer = (incoming: IncomingMessage, answer: ServerResponse) => void;
/** What the server does with a request; it answers none. */
let answerTo: Answer = (incoming) => void incoming.resume();
const server = createServer((incoming, answer) => answerTo(incoming, answer));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

const file = join(folder, 'lap.csv');
writeFileSync(file, 'a\n1\n');
const platform = new PlatformClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
platform.silenceMs = 300;

test.each([
  ['an upload in one request', () => platform.upload(7, file, {}, () => undefined)],
  ['an upload in pieces', () => platform.uploadResumable(7, file, {}, () => undefined)],
  ['a download of stored bytes', () => platform.openStored('/api/v2/node-instance/outputs/5/data')],
])('%s is given up when no byte passes for long, as a break of the connection', async (_, transfer) => {
  await expect(transfer()).rejects.toBeInstanceOf(NetworkError);
});

test('a platform that is not there breaks no upload: it does not answer', async () => {
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(gone.address() as AddressInfo).port}`;
  await new Promise((resolve) => gone.close(resolve));
  const sent = new PlatformClient(address).upload(7, file, {}, () => undefined);
  await expect(sent).rejects.toThrow(new NetworkError(`${address} does not answer.`));
});

/** More than the buffers of a connection. */
const longBytes = 32 * 1024 * 1024;
const long = join(folder, 'long.csv');
writeFileSync(long, '');
truncateSync(long, longBytes);
const sendLong = () => platform.uploadResumable(7, long, {}, () => undefined);

/** Begins uploads, and does this with their bytes. */
function takes(bytes: Answer): void {
  const before = answerTo;
  onTestFinished(() => {
    answerTo = before;
  });
  answerTo = (incoming, answer) => {
    if (incoming.method === 'PATCH') return bytes(incoming, answer);
    const headers = { location: '/uploads/1', 'upload-offset': '0', 'upload-length': longBytes };
    answer.writeHead(incoming.method === 'POST' ? 201 : 200, headers).end();
  };
}

test('a store that puts a long upload together may be silent for longer than the line', async () => {
  takes((incoming, answer) => {
    const headers = { 'upload-offset': longBytes, 'x-platform-output-id': '5' };
    const stored = () => answer.writeHead(204, headers).end();
    incoming.resume().on('end', () => setTimeout(stored, 2 * platform.silenceMs));
  });
  expect(await sendLong()).toMatchObject({ outputId: 5 });
});

test('the tries of a long upload that break leave no open file', async () => {
  takes((incoming) => void incoming.once('data', () => incoming.destroy()));
  for (const _ of [1, 2, 3]) await expect(sendLong()).rejects.toBeInstanceOf(NetworkError);
  const target = (fd: string) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  };
  const openFiles = () => readdirSync('/proc/self/fd').map(target);
  await eventually('the file is closed', () => !openFiles().includes(long));
});
